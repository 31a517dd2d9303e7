"""``repro status``: what is measured, what would be measured again and why."""

from collections import Counter

from repro.cache import kept
from repro.cli.common import (
    Json,
    Kind,
    Machine,
    Meshes,
    Names,
    Papers,
    Results,
    Scale,
    Seed,
    answer,
    console,
    require_stored,
    table,
)  # fmt: skip
from repro.model import DONE, FAILED, SKIPPED


def status(
    names: Names = None, paper: Papers = None, kind: Kind = None, scale: Scale = None, results: Results = None,
    machine: Machine = None, mesh: Meshes = None, seed: Seed = None, as_json: Json = False,
) -> None:  # fmt: skip
    """Show what is measured on this machine, and why a cell would be measured again."""
    from rich.markup import escape

    from repro import discovery
    from repro.cache import plan
    from repro.run.jobs import make_jobs
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, seed or 0, mesh or ())
    artefacts = discovery.select(names or (), paper or (), kind)
    require_stored(results, machine)
    jobs = make_jobs(artefacts, settings, plan.Selection())
    if as_json:
        answer([{"artefact": job.artefact.id, "problem": job.problem, "cells": _cells(job)} for job in jobs])
        return
    states = ("done", "to run", "skipped", "failed", "by request")
    shown = table(f"{settings.machine}, scale {settings.scale}", "artefact", *states, "because", right=states)
    for job in jobs:
        counts = Counter(state_of(task) for task in job.tasks)
        reasons = Counter(task.reason for task in job.tasks if task.reason and not task.left_out)
        why = job.problem or "; ".join(f"{count} {reason}" for reason, count in reasons.most_common(4))
        numbers = (str(counts[state]) if counts[state] else "" for state in states)
        shown.add_row(job.artefact.id, *numbers, escape(why))
    console().print(shown)


def _cells(job) -> list[dict]:
    return [{**task.cell.identity(), "state": state_of(task), "reason": task.reason} for task in job.tasks]


def state_of(task) -> str:
    """Return 'done', 'to run', 'skipped', 'failed', or 'by request' of what is not run unless it is asked for."""
    is_marked = task.record is not None and "since" in task.record
    if not (task.stands or is_marked):
        return "by request" if task.left_out else "to run"
    stored = kept.last(task.record)["status"]
    return {DONE: "done", SKIPPED: "skipped", FAILED: "failed"}[stored]
