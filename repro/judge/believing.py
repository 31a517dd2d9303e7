"""A belief that a change does not matter, tried on a sample of the cells that it voids before it is written."""

import dataclasses
import datetime
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache import beliefs, hosts, keys
from repro.cache.plan import Task, identity
from repro.cache.store import write_atomically
from repro.machine import slug
from repro.model import DONE, ReproError
from repro.run import manifest
from repro.run.device_ceilings import DeviceCeilings
from repro.run.rounds import named
from repro.run.worker import NEVER, Late, Worker
from repro.settings import Settings

ALIKE, SHARE = 0.05, 0.02


def believe(
    reason: str, tasks: Sequence[Task], settings: Settings, count: int, tell: Callable[[str], None] = lambda text: None
) -> tuple[Path, list[dict[str, Any]]]:
    """Measure a sample again of the cells that changes void which may be believed not to matter; write the belief.

    Raises `ReproError` when there is no such cell, or one of the sample does not agree.

    `count`: cells of the sample, at least; a fiftieth of the void ones where that is more.
    `tell`: see `measured_again`.
    """
    void = [
        task for task in tasks
        if task.record and task.record["status"] == DONE and keys.is_only(task.record, task.key)
    ]  # fmt: skip
    if not void:
        raise ReproError(
            "no stored cell is void by a change of code, kernels or libraries alone: there is nothing to believe"
        )
    chosen = random.sample(void, min(len(void), max(count, round(SHARE * len(void)))))
    pairs = measured_again(chosen, settings, tell)
    compared = [each for task, again in pairs for each in _numbers(task, again)]
    differ = [each for each in compared if not each.pop("alike")]
    if differ:
        words = (f"{each['cell']}: {each['metric']} {each['stored']:.6g} -> {each['again']:.6g}" for each in differ)
        raise ReproError(f"it matters, and nothing is written: {'; '.join(words)}")
    changes = sorted({change for task in void for change in keys.differing(task.record, task.key)})
    now = datetime.datetime.now(datetime.UTC)
    path = settings.store.folder / "beliefs" / f"{now:%Y-%m-%d}-{slug(reason)[:60] or 'belief'}.toml"
    if path.exists():
        raise ReproError(f"{path} is there already; give another reason")
    made = manifest.revision(environment.root())
    commit = f"{made['commit'] or ''}{'+' if made['dirty'] else ''}"
    facts = {"reason": reason, "date": now.isoformat(timespec="seconds"), "commit": commit, "cells": len(void)}
    write_atomically(path, beliefs.as_toml(facts, changes, compared))
    return path, compared


def name_of(task: Task) -> str:
    """Return what a cell is called in words."""
    cell = task.cell
    return " ".join(filter(None, (task.artefact.id, cell.case, cell.method, cell.backend)))


def measured_again(
    tasks: Sequence[Task], settings: Settings, tell: Callable[[str], None], until: float = NEVER
) -> Iterator[tuple[Task, Task]]:
    """Yield each cell with itself as it is measured anew, apart from all that is stored; none after `until`.

    `tell`: is given a line a cell, and what a run says on the way.
    """
    with tempfile.TemporaryDirectory() as folder:
        aside = dataclasses.replace(settings, results=Path(folder))
        _take_ceilings(settings, aside)
        worker = Worker(aside)
        worker.limit = until
        try:
            for number, task in enumerate(tasks, 1):
                tell(f"measuring {name_of(task)} ({number}/{len(tasks)})")
                path = aside.store.path(task.artefact.id, identity(task.cell, aside))
                again = Task(task.artefact, task.cell, path, {**task.key, "beliefs": {}})
                worker.dispatch(again, force=True, tell=tell)
                yield task, again
        except Late:
            return
        finally:
            worker.close()


def _take_ceilings(settings: Settings, aside: Settings) -> None:
    """Copy what is known of the devices: their ceilings take longer than most cells, and no number here needs them."""
    aside.store.folder.mkdir(parents=True)
    for path in (DeviceCeilings(settings.store).path, settings.store.folder / hosts.NAME):
        if path.is_file():
            shutil.copy(path, aside.store.folder)


def _numbers(task: Task, again: Task) -> list[dict[str, Any]]:
    cell = task.cell
    name = name_of(task)
    if again.record["status"] != DONE:
        raise ReproError(f"it matters, and nothing is written: {name} {again.record['status']}: "
                         f"{again.record['reason']}")  # fmt: skip
    values = {named(row, cell.parameters): row["value"] for row in again.record["rows"]}
    stored = {named(row, cell.parameters): row for row in task.record["rows"] if row["value"] is not None}
    return [
        {
            "cell": name, "metric": what, "stored": row["value"], "again": values.get(what, float("nan")),
            "alike": _is_alike(row, values.get(what)),
        }
        for what, row in stored.items()
    ]  # fmt: skip


def _is_alike(row: dict[str, Any], value: float | None) -> bool:
    """Whether a number lies in the interval of the stored one, or near it."""
    if value is None:
        return False
    low, high = (row[name] if row[name] is not None else row["value"] for name in ("ci_low", "ci_high"))
    return low <= value <= high or abs(value - row["value"]) <= ALIKE * abs(row["value"])
