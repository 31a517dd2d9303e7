"""``repro report``: one page of everything that is stored."""

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

    page = build(results or environment.results_folder())
    write_atomically(output, page)
    say(f"{output}: {len(page.encode()) / 1e6:.1f} MB")
