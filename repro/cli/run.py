"""``repro run``: measure artefacts and write their tables and figures."""

import datetime
import time
from collections import Counter
from typing import Annotated

import typer

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
    answer,
    command_line,
    console,
    duration,
    jobs,
    minutes_table,
    plural,
    say,
    table,
    termination_as_interrupt,
)  # fmt: skip
from repro.settings import CELL_SECONDS

MANY = 20  # cells; a run of more tells where its minutes went, as does one whose time is short


def run(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, only: Only = None,
    backend: Backends = None,
    everything: Everything = False,
    force: Annotated[bool, typer.Option("--force", help="Measure again what is done.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cells to measure and their time.")] = False,
    results: Results = None, machine: Machine = None, mesh: Meshes = None, seed: Seed = None,
    in_process: Annotated[
        bool, typer.Option("--in-process", help="Measure in this process: for debuggers and profilers.")
    ] = False,
    cell_minutes: Annotated[
        float, typer.Option("--cell-minutes", min=0.01, help="The longest that one cell may take.")
    ] = CELL_SECONDS / 60,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, max=99, help="In how many processes a cell is measured.")
    ] = 1,
    all_cells: Annotated[
        bool, typer.Option("--all-cells", help="On a machine with a GPU, cells that no claim needs and slow ones, too.")
    ] = False,
    claimed: Annotated[
        bool, typer.Option("--claimed", help="Only cells that a claim reads, without those that --all-cells adds.")
    ] = False,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0.1, help="Stop before so many are over; the same command goes on from there."),
    ] = None,
    continuing: Annotated[
        bool, typer.Option("--continue", help="Go on with the results of another host of the same hardware, too.")
    ] = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure artefacts and write their tables, figures and samples.

    Stored files of others that show the same cells are written again, too. A cell is measured again only if something
    in its key changed: parameters, code, kernels, data, machine, driver, libraries or the protocol of timing. A run
    that was killed goes on where it stopped. Exit status: 0 when every cell is done or skipped with a reason, 1 when
    one failed, 2 for a wrong command or one that leaves nothing to measure, 3 when time was over, 130 when
    interrupted.
    """
    began = time.monotonic()
    from repro.cache import hosts
    from repro.run import runner
    from repro.run.worker import NEVER
    from repro.settings import make_settings

    settings = make_settings(
        scale, results, machine, seed or 0, mesh or (), command_line(), 60 * cell_minutes, rounds, continuing
    )
    hosts.require_own(settings.store.folder, continuing)
    if settings.aside:
        say(f"results go to {settings.store.folder}: {settings.aside}")
    wanted = jobs(names, paper, kind, everything, only, backend, settings, all_cells, claimed)
    _require_readable(settings)
    if dry_run:
        _show_plan(wanted, settings, force, as_json)
        return

    from repro.cli.progress import Follower, without_result

    _say_left_out(wanted)
    planned, until = time.monotonic(), NEVER if minutes is None else began + 60 * minutes
    with termination_as_interrupt(), Follower(console(error=True), None if as_json else console()) as follower:
        summary = runner.go_through(
            wanted, settings, force=force, isolate=not in_process, watcher=follower, until=until
        )
    if summary.minutes.cells:
        summary.minutes.add("plan", planned - began)
        log = summary.minutes.append(settings.store, *_origin(), settings.scale)
        if minutes is not None or summary.measured > MANY:
            console(error=True).print(minutes_table(f"minutes of this run; {log} has every run's", summary.minutes))
    if as_json:
        told = {name: value for name, value in vars(summary).items() if name != "minutes"}
        answer({**told, "exit_code": summary.exit_code, "machine": settings.machine, "scale": settings.scale})
    text = without_result([task for job in wanted for task in job.wanted])
    if text and not summary.interrupted:
        say(text)
    why = "interrupted" if summary.interrupted else "time is over" if summary.late else ""
    ending = f"; {why}: the same command goes on from here" if why else ""
    say(
        f"{plural(summary.measured, 'cell')} measured, {summary.reused} as before, {summary.skipped} skipped, "
        f"{summary.failed} failed{ending}"
    )
    raise typer.Exit(summary.exit_code)


def _require_readable(settings) -> None:
    """Raise `UnknownName` where the user's own file cannot be read: before minutes are spent on all other cells."""
    from repro import environment
    from repro.discovery import UnknownName
    from repro.model import ReproError

    for name, file in settings.overrides.items():
        try:
            environment.dataset(name, settings.scale, file)
        except ReproError as error:
            raise UnknownName(f"{file} cannot take the place of dataset {name}: {error}") from error


def _show_plan(wanted: list, settings, force: bool, as_json: bool) -> None:
    from rich.markup import escape

    from repro.run import minutes as spent
    from repro.run.jobs import replaced

    plans, each_cell, seen, to_skip = [], [], set(), Counter()
    lacking = _lacking({task.cell.backend for job in wanted for task in job.wanted})
    for job in wanted:
        if text := replaced(job, settings):
            say(text)
        here = [task for task in job.pending(force) if task.cell.backend not in lacking]
        reasons = Counter(task.reason or "forced" for task in here)
        absent = [task for task in job.pending(force) if task.cell.backend in lacking and task.path not in seen]
        new = [task for task in here if task.path not in seen]  # others are measured for an artefact before
        seen |= {task.path for task in (*new, *absent)}
        to_skip.update(task.cell.backend for task in absent)
        expected = job.expected_seconds(settings)
        seconds = [expected[task.path] * (settings.rounds - (0 if force else task.found)) for task in new]
        each_cell += [(job.artefact.paper, task.cell.backend, s) for task, s in zip(new, seconds, strict=True)]
        plans.append({
            "artefact": job.artefact.id, "cells": len(job.wanted), "to_run": len(new), "to_skip": len(absent),
            "seconds": sum(seconds), "reasons": reasons,
            "problem": job.problem,
        })  # fmt: skip
    if as_json:
        answer(plans)
    else:
        shown = table("", "artefact", "cells", "to run", "time", "because", right=("cells", "to run", "time"))
        for entry in plans:
            reasons = "; ".join(f"{count} {reason}" for reason, count in entry["reasons"].most_common(3))
            why = entry["problem"] or reasons
            columns = (str(entry["cells"]), str(entry["to_run"]), duration(entry["seconds"]))
            shown.add_row(entry["artefact"], *columns, escape(why))
        console().print(shown)
        if each_cell:
            known = spent.read(settings.store.folder, settings.scale)
            console().print(minutes_table("minutes", spent.expected(each_cell, known)))
        _say_left_out(wanted)
        for backend, count in to_skip.items():
            say(f"{plural(count, 'cell')} to skip, as {backend} is not here: {lacking[backend]} (see `repro doctor`)")
        total = sum(entry["seconds"] for entry in plans)
        count = sum(entry["to_run"] for entry in plans)
        say(f"{plural(count, 'cell')} to measure, about {duration(total)}, at scale {settings.scale}")
    raise typer.Exit(int(any(job.problem for job in wanted)))


def _lacking(backends: set[str]) -> dict[str, str]:
    """Return which of some back ends are not here, and why."""
    from repro import environment
    from repro.model import Skip

    found = {}
    for backend in backends - {"host"}:
        try:
            environment.device(backend)
        except Skip as skip:
            found[backend] = skip.reason
    return found


def _origin() -> tuple[str, str]:
    """When this run ended and of which commit its code is, for the log."""
    from repro import environment
    from repro.run import manifest

    made = manifest.revision(environment.root())
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return now, (made["commit"] or "") + "+" * bool(made["dirty"])


def _say_left_out(wanted: list) -> None:
    """Say which cells of the artefacts are measured by request alone."""
    chosen = {task.path for job in wanted for task in job.wanted}
    left = {task.path: task for job in wanted for task in job.tasks if task.left_out and task.path not in chosen}
    if left:
        of = Counter(task.cell.backend for task in left.values())
        where = ", ".join(f"{count} on {backend}" for backend, count in of.most_common())
        say(f"left out, as no claim needs them or they take long: {where}; --all-cells measures them, too")
