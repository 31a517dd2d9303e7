"""``repro report``: one page of everything that is stored."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from repro.cli.common import Results, a_file, say


def report(
    results: Results = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", callback=a_file, help="Where it is written.")
    ] = Path("report.html"),
) -> None:
    """Write one HTML page, which opens from disk, of every artefact, claim and kernel that has stored results."""
    from repro import environment
    from repro.cache.store import write_atomically
    from repro.site.report import build

    _require_writable(output)
    page = build(results or environment.results_folder(), tell=say)
    write_atomically(output, page)
    say(f"{output}: {len(page.encode()) / 1e6:.1f} MB")


def _require_writable(file: Path) -> None:
    """Raise `ReproError` where a file cannot be written: the page takes minutes."""
    from repro.model import ReproError

    try:
        folder = next(each for each in file.absolute().parents if each.exists())
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ReproError(f"cannot write {file}: {error.strerror or error}") from error
