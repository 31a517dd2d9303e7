"""``repro appendix``: the artefact appendix of SC and ACM."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.common import Papers, Results, a_file, require_stored, say


def appendix(
    paper: Papers = None, results: Results = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", callback=a_file, help="Write it there; by default it is printed."
        ),
    ] = None,
) -> None:  # fmt: skip
    """Print the artefact appendix in Markdown: artefacts, claims, minutes, hardware, software and data."""
    from repro import environment, published
    from repro.cache.store import write_atomically
    from repro.discovery import require
    from repro.site.appendix import build, collect

    for name in paper or ():
        require(name, published.papers(), "paper")
    require_stored(results)
    text = build(collect(results or environment.results_folder(), paper or ()))
    if output is None:
        print(text, end="")
    else:
        write_atomically(output, text)
        say(f"{output} written")
