"""Whether intervals hold: medians that are stored, drawn by lot, and measured again on another day."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from repro.cache.plan import Task
from repro.judge.believing import measured_again, name_of
from repro.model import DONE, ReproError
from repro.run.rounds import named
from repro.run.worker import NEVER
from repro.settings import Settings


@dataclass(frozen=True)
class Repeated:
    """A stored median with its interval, and the one that was measured again, in `unit`; None where that failed."""

    cell: str
    metric: str
    unit: str
    value: float
    low: float
    high: float
    again: float | None

    @property
    def holds(self) -> bool:
        """Whether it lies in the stored interval."""
        return self.again is not None and self.low <= self.again <= self.high


def repeat(
    tasks: Sequence[Task], settings: Settings, count: int, until: float = NEVER,
    tell: Callable[[str], None] = lambda text: None,
) -> Iterator[Repeated]:  # fmt: skip
    """Draw medians by lot, each with the same chance, and measure their cells again.

    Raises `ReproError` when no median with an interval stands here.

    `until`: when the last cell has to have ended, as `time.monotonic()`. The order is the lot's, so that fewer are as
    fair. `tell`: see `repro.judge.believing.measured_again`.
    """
    medians = [
        (task, named(row, task.cell.parameters))
        for task in tasks
        if task.stands and task.record["status"] == DONE
        for row in task.record["rows"]
        if row["n"] and row["ci_low"] is not None
    ]
    if not medians:
        raise ReproError("no median with an interval stands here: there is nothing to measure again")
    drawn: dict[int, tuple[Task, list[str]]] = {}
    for task, name in random.sample(medians, min(count, len(medians))):
        drawn.setdefault(id(task), (task, []))[1].append(name)
    for task, again in measured_again([task for task, _ in drawn.values()], settings, tell, until):
        stored, new = ({named(row, task.cell.parameters): row for row in each.record["rows"]} for each in (task, again))
        for name in drawn[id(task)][1]:
            row, found = stored[name], new.get(name) or {}
            yield Repeated(
                name_of(task), name, row["unit"], row["value"], row["ci_low"], row["ci_high"], found.get("value")
            )
