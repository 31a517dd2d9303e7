"""Options that commands share, and how they speak: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from repro.model import BACKENDS, SCALES, ReproError

if TYPE_CHECKING:
    from rich.console import Console

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="ARTEFACT", help="fu2014-table3; table3 for every paper's; fu2014 for all of a paper."),
]
Papers = Annotated[list[str] | None, typer.Option("--paper", metavar="PAPER", help="Of this paper only; repeatable.")]
Kind = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="'table' or 'figure' only.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON on standard output.")]
Scale = Annotated[
    str | None,
    typer.Option("--scale", metavar="SCALE", help=f"{', '.join(SCALES)}; by default 'paper' with a GPU, else 'small'."),
]
StoredScale = Annotated[
    str | None, typer.Option("--scale", metavar="SCALE", help=f"{', '.join(SCALES)}; by default what is stored.")
]
Results = Annotated[
    Path | None,
    typer.Option("--results", metavar="DIR", help="Results folder; by default 'results' of the checkout, or here."),
]
Machine = Annotated[
    str | None,
    typer.Option("--machine", metavar="NAME", envvar="REPRO_MACHINE", help="Folder of this machine in it."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="KEY=VALUE",
        help="Only cells with this case, method, backend or parameter; repeatable, values of one key are alternatives. "
        "backend=openmp leaves out the baselines on the host, which --backend openmp keeps.",
    ),
]  # fmt: skip
Backends = Annotated[
    list[str] | None,
    typer.Option(
        "--backend", metavar="BACKEND",
        help=f"Run kernels on this back end only ({', '.join(BACKENDS)}); repeatable. Baselines on the host run in any "
        "case, and with 'host' they alone.",
    ),
]  # fmt: skip
Meshes = Annotated[
    list[str] | None,
    typer.Option(
        "--mesh", "--matrix", metavar="NAME=FILE",
        help="Your own file in place of a dataset, whose names `repro data list` shows; repeatable.",
    ),
]  # fmt: skip
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Of every random number; by default 0.")]
Everything = Annotated[bool, typer.Option("--all", help="Every artefact of every paper.")]


PIPE_WIDTH = 160
"""Of a pipe or a file, which have none; Rich would take 80."""


def console(error: bool = False) -> Console:
    """Return a Rich console on standard output, or on standard error."""
    from rich.console import Console

    made = Console(stderr=error, highlight=False, soft_wrap=error)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = PIPE_WIDTH
    return made


def say(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


def answer(value: Any) -> None:
    """Print a value as JSON on standard output."""
    from repro.show.render import strict

    print(json.dumps(strict(value), indent=1, default=str))


def a_file(option: typer.CallbackParam, path: Path | None) -> Path | None:
    """Return what an option gives as the file to write, for its callback.

    Raises `UnknownName` when it is a folder.
    """
    from repro import discovery

    if path is not None and os.path.isdir(path):  # false where it cannot be known, as of a name that is too long
        raise discovery.UnknownName(f"{option.opts[0]} names a file, and {path} is a folder")
    return path


def jobs(names, paper, kind, everything, only, backend, settings, every: bool = False, claimed: bool = False) -> list:
    """Return what a command's options ask to measure, as `repro.run.jobs.make_jobs` does.

    Raises `UnknownName` when they name nothing, or something that there is not.
    """
    from repro import discovery
    from repro.cache import lacking, plan
    from repro.run import shares
    from repro.run.jobs import make_jobs

    if not (names or paper or kind or everything):
        raise discovery.UnknownName(
            "name an artefact, a paper or a kind, or give --all; `repro list` shows what there is"
        )
    for name in backend or ():
        discovery.require(name, BACKENDS, "backend")
    selection = plan.Selection(plan.parse_only(only or ()), tuple(backend or ()), every=every, claimed=claimed)
    made = make_jobs(discovery.select(names or (), paper or (), kind), settings, selection)
    if backend:
        cells = {job.artefact.id: [task.cell for task in job.tasks] for job in made if not job.problem}
        for line in lacking.check_backends(selection, cells):
            say(line)
    why = shares.leave_out(made, settings) if settings.continuing else ""
    if why:
        say(why)
    if not (backend or why):
        return made
    return [job for job in made if job.wanted or job.problem]


def require_some(folder: Path) -> None:
    """Check that a folder of results has some: a command that changes or proves them would do nothing, or empty pages.

    Raises `ReproError` when it has none.
    """
    from repro.cache.store import tables

    if not tables(folder, "*/*/*"):
        raise ReproError(f"nothing is stored in {folder}: `repro run` measures")


def require_stored(results: Path | None, machine: str | None = None) -> None:
    """Check that the folder of results and the machine that a reading command names are there.

    A folder or a machine that the command does not name may be missing: nothing may have been measured yet. So may the
    machine that ``REPRO_MACHINE`` names, which is this one.

    Raises `ReproError` when the folder is not there or none of results, or `repro.discovery.UnknownName` when it has
    nothing of the machine.
    """
    from repro import discovery, environment
    from repro.judge.claims import machines
    from repro.show.measurements import require_results

    if results is not None:
        require_results(results)
    if machine is not None and machine != os.environ.get("REPRO_MACHINE"):
        folder = results or environment.results_folder()
        measuring = {path.parent.name for path in folder.glob("*/.cells")}  # a run that has written no file yet
        discovery.require(machine, sorted({*machines(folder), *measuring}), "machine")


def command_line() -> str:
    """Return the command as typed, without the folder of the program."""
    return shlex.join(["repro", *sys.argv[1:]])


def duration(seconds: float) -> str:
    """Return a duration for people: ``0.4 s``, ``12 s``, ``3 min``, ``2 h 05 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 90 else f"{whole // 60} h {whole % 60:02d} min"


def plural(count: int, noun: str) -> str:
    """Return ``1 cell`` or ``3 cells``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def table(title: str, *columns: str, right: tuple[str, ...] = (), whole: tuple[str, ...] = ()):
    """Return a Rich table with the house's look; the columns of `whole` are never folded."""
    from rich import box
    from rich.table import Table

    made = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        made.add_column(
            column, justify="right" if column in right else "left", overflow="fold", no_wrap=column in whole
        )
    return made


def minutes_table(title: str, of):
    """Return a table of minutes, a line a paper and back end, a column a stage; see `repro.run.minutes`."""
    from repro.run.stages import STAGES

    stages = [stage for stage in (*STAGES, "") if of.total(stage=stage)]
    names = [stage or "not told" for stage in stages]
    made = table(title, "paper", "back end", "cells", *names, "all", right=("cells", *names, "all"))

    def line(paper: str | None, backend: str | None, cells: int, *shown: str) -> None:
        spent = [of.total(paper, backend, stage) for stage in stages]
        numbers = (f"{seconds / 60:.1f}" if seconds >= 3 else "" for seconds in spent)
        made.add_row(*shown, str(cells or ""), *numbers, f"{sum(spent) / 60:.1f}")

    for paper, backend in of.places():
        line(paper, backend, of.cells[paper, backend], paper or "every", backend)
    line(None, None, sum(of.cells.values()), "all", "")
    return made


@contextlib.contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: with what is done shown, and no process left."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
