"""``repro plan`` and ``repro merge``: a run spread over machines, and what they found put together."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

import repro
from repro.cli.common import (
    Backends,
    Everything,
    Json,
    Kind,
    Machine,
    Meshes,
    Names,
    Only,
    Papers,
    Results,
    Scale,
    Seed,
    a_file,
    answer,
    console,
    jobs,
    minutes,
    plural,
    say,
    table,
)  # fmt: skip


def plan(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, only: Only = None,
    backend: Backends = None,
    everything: Everything = False,
    force: Annotated[bool, typer.Option("--force", help="Cells that are done, too.")] = False,
    count: Annotated[int, typer.Option("--shards", min=1, max=10000, help="Into how many.")] = 2,
    output: Annotated[
        Path, typer.Option("--output", metavar="FILE", callback=a_file, help="Where the plan goes.")
    ] = Path("plan.json"),
    snakemake: Annotated[
        Path | None,
        typer.Option("--snakemake", metavar="FILE", callback=a_file, help="Write a Snakemake workflow of it, too."),
    ] = None,
    slurm: Annotated[
        Path | None,
        typer.Option("--slurm", metavar="FILE", callback=a_file, help="Write a Slurm array job of it, too."),
    ] = None,
    results: Results = None, machine: Machine = None, mesh: Meshes = None, seed: Seed = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Divide the cells that have to be measured into shards of about the same time, each for a machine of one kind.

    `repro run --shard PLAN NUMBER` runs one of them; `repro merge` puts what they found together.
    """
    from repro.cache import shards
    from repro.cache.store import write_atomically
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, seed or 0, mesh or ())
    wanted = jobs(names, paper, kind, everything, only, backend, settings)
    made = shards.split(wanted, settings, count, force)
    if not made:
        say("every cell is done: there is nothing to divide")
        return
    command = shlex.join([sys.executable, str(_launcher())])
    texts = {
        target: shards.workflow(template, output, target, made, command, settings.results)
        for template, target in ((shards.SNAKEFILE, snakemake), (shards.SLURM, slurm))
        if target is not None
    }
    write_atomically(output, json.dumps(shards.document(made, settings), indent=1) + "\n")
    for target, text in texts.items():
        write_atomically(target, text)
    if as_json:
        answer(made)
        return
    shown = table("", "shard", "cells", "time", "artefacts", right=("shard", "cells", "time"))
    for number, shard in enumerate(made, 1):
        shown.add_row(str(number), str(len(shard["cells"])), minutes(shard["seconds"]), ", ".join(shard["artefacts"]))
    console().print(shown)
    first = f"repro run --shard {shlex.quote(str(output))} 1"
    say(f"{output}: {plural(len(made), 'shard')} at scale {settings.scale}; the first: {first}")


def _launcher() -> Path:
    """Return what Python runs as `repro` from any folder, whether or not it is installed."""
    here = Path(repro.__file__).resolve().parents[1]
    return here if (here / "__main__.py").is_file() else here / "src/repro_gpu_fem"


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
