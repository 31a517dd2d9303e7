"""Whether a cell's threads lost their cores while it was measured: then its times say little.

Threads that meet at a barrier wait for the one that lost its core, for a scheduler's slice, however short their work
is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repro.cache.plan import Task
from repro.model import DONE
from repro.run.measure import measure
from repro.settings import Settings
from repro.units import is_time

#: Times a second of computing that a program loses a core: more than one does alone, less than beside another that
#: computes, or where a cell has more threads that compute than there are cores. Notes: docs/notes/harness.md.
DISTURBED = 25.0
NOTE = "its threads lost their cores often, to other programs or to one another"
SLOWER = 3.0  # times as long as with the cache evicted: that is no property of what was measured
LEAST_SECONDS = 0.05  # of computing, before a rate says anything


@dataclass(frozen=True)
class Reading:
    """What the system has counted of this process, and of those it has started and waited for."""

    switches: int
    seconds: float


def read(backend: str) -> Reading | None:
    """Return the counts as they stand; None where nothing counts them, or where they say nothing of a back end's times.

    They say nothing of a GPU's, nor of OpenCL's, whose own threads take turns with the one that waits for them.
    """
    if backend not in ("host", "openmp"):
        return None
    try:
        import resource
    except ImportError:  # on Windows
        return None
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Reading(sum(each.ru_nivcsw for each in found), sum(each.ru_utime + each.ru_stime for each in found))


def rate(before: Reading | None, after: Reading | None) -> float | None:
    """Return how often a second of computing the processor was taken away between two readings; None if unknown."""
    if before is None or after is None or after.seconds - before.seconds < LEAST_SECONDS:
        return None
    return (after.switches - before.switches) / (after.seconds - before.seconds)


def slower_warm(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the metrics of a cell that took much longer warm than with the cache evicted: short ones are hit hard."""
    values = {row["metric"]: row["value"] for row in rows if is_time(row["unit"] or "") and row["value"]}
    return [metric for metric, value in values.items() if value > SLOWER * values.get(f"{metric}_cold", math.inf)]


def watched(task: Task, settings: Settings, **options: Any) -> bool:
    """Do what `repro.run.measure.measure` does, and note in the cell's record what other programs did to its times."""
    cell = task.cell
    before = read(cell.backend)
    is_measured = measure(task, settings, **options)
    lost = rate(before, read(cell.backend))
    if not is_measured or task.record["status"] != DONE:
        return is_measured
    notes = [NOTE] if (lost or 0) > DISTURBED else []
    notes += [f"{metric} took longer warm than cold, so it was held up" for metric in slower_warm(task.record["rows"])]
    if notes:
        task.record["notes"] += [f"{cell.method} on {cell.backend}: {note}" for note in notes]
        settings.store.write(task.path, task.record)
    return is_measured
