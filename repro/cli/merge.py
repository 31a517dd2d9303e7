"""``repro merge``: what several machines found, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repro.cli.common import Json, Machine, answer, plural, say


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="DIR", help="Results folders.")],
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="DIR", help="Results folder; by default 'results' of the checkout, or here."),
    ] = None,
    machine: Machine = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also cells of another processor or GPU than an artefact has others of.")
    ] = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Put the cells of several results folders into one, and write the files of the artefacts they belong to.

    Of a cell that several have, what is measured goes before what is not, and the newer before the older. They keep the
    name of their machine; where the folders have several, it is this one's. Machines of one name may have other numbers
    of cores, but no other processor or GPU: then nothing is merged, unless --force is given.
    """
    from repro.cache import merge as merging
    from repro.settings import default_machine, make_settings

    settings = make_settings(None, into, machine or merging.only_machine(sources) or default_machine())
    found = merging.merge(sources, settings, say, force)
    if as_json:
        answer({
            "taken": found.taken, "kept": found.kept, "problems": found.problems,
            "artefacts": [rendered.artefact.id for rendered in found.rendered],
        })  # fmt: skip
    say(
        f"{plural(found.taken, 'cell')} taken, {found.kept} as good or better in place; "
        f"{plural(len(found.rendered), 'artefact')} written"
    )
    raise typer.Exit(int(bool(found.problems)))
