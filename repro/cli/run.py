"""``repro run``: measure artefacts and write their tables and figures."""

from __future__ import annotations

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
    jobs,
    minutes,
    plural,
    say,
    table,
    termination_as_interrupt,
)  # fmt: skip
from repro.settings import CELL_SECONDS


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
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure artefacts and write their tables, figures and samples.

    What is done is not measured again unless its parameters, sources, data or machine
    changed; a run that was killed goes on where it stopped. Exit status: 0 when every cell is done or skipped with a
    reason, 1 when one failed, 2 for a wrong command or one that leaves nothing to measure, 130 when interrupted.
    """
    from repro.cache import hosts
    from repro.run import runner
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, seed or 0, mesh or (), command_line(), 60 * cell_minutes, rounds)
    hosts.require_own(settings.store.folder)
    if settings.aside:
        say(f"results go to {settings.store.folder}: {settings.aside}")
    wanted = jobs(names, paper, kind, everything, only, backend, settings)
    if dry_run:
        _show_plan(wanted, settings, force, as_json)
        return

    from repro.cli.progress import Follower
    from repro.cli.repeats import without_result

    with termination_as_interrupt(), Follower(console(error=True), None if as_json else console()) as follower:
        summary = runner.go_through(wanted, settings, force=force, isolate=not in_process, watcher=follower)
    if as_json:
        answer({**vars(summary), "exit_code": summary.exit_code, "machine": settings.machine, "scale": settings.scale})
    text = without_result([task for job in wanted for task in job.wanted])
    if text and not summary.interrupted:
        say(text)
    ending = "; interrupted: the same command goes on from here" if summary.interrupted else ""
    say(
        f"{plural(summary.measured, 'cell')} measured, {summary.reused} as before, {summary.skipped} skipped, "
        f"{summary.failed} failed{ending}"
    )
    raise typer.Exit(summary.exit_code)


def _show_plan(wanted: list, settings, force: bool, as_json: bool) -> None:
    from collections import Counter

    from repro.run.runner import replaced

    plans = []
    for job in wanted:
        if text := replaced(job, settings):
            say(text)
        pending = job.pending(force)
        reasons = Counter(task.reason or "forced" for task in pending)
        plans.append({
            "artefact": job.artefact.id, "cells": len(job.wanted), "to_run": len(pending),
            "seconds": sum(job.expected_seconds(task, settings.scale) for task in pending), "reasons": reasons,
            "problem": job.problem,
        })  # fmt: skip
    if as_json:
        answer(plans)
    else:
        shown = table("", "artefact", "cells", "to run", "time", "because", right=("cells", "to run", "time"))
        for entry in plans:
            reasons = "; ".join(f"{count} {reason}" for reason, count in entry["reasons"].most_common(3))
            why = entry["problem"] or reasons
            columns = (str(entry["cells"]), str(entry["to_run"]), minutes(entry["seconds"]))
            shown.add_row(entry["artefact"], *columns, _escape(why))
        console().print(shown)
        total = sum(entry["seconds"] for entry in plans)
        count = sum(entry["to_run"] for entry in plans)
        say(f"{plural(count, 'cell')} to measure, about {minutes(total)}, at scale {settings.scale}")
    raise typer.Exit(int(any(job.problem for job in wanted)))


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)
