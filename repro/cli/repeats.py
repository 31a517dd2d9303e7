"""Problems of many cells: each is told when it happens first, and in the end once with its count."""

import re
from collections import Counter

from repro.cache.kept import last
from repro.cache.lacking import shortened
from repro.cache.plan import Task
from repro.cli.common import plural
from repro.model import DONE, FAILED
from repro.optional import as_typed


class Repeats:
    """Counts the cells that were skipped or failed, by reason."""

    def __init__(self):
        self._found: dict[tuple[str, str], Counter[str]] = {}
        self._places: set[str] = set()

    def add(self, status: str, reason: str, artefact: str) -> bool:
        """Count a cell; return whether it is the first with that reason."""
        cells = self._found.setdefault((status, reason), Counter())
        cells[artefact] += 1
        return cells.total() == 1

    def is_new(self, traceback: str) -> bool:
        """Return whether a traceback is the first that ends where it does: reasons may differ and it may not."""
        place = "".join(re.findall(r"^ +File .*$", traceback, re.MULTILINE)[-1:])
        is_new = place not in self._places
        self._places.add(place)
        return bool(traceback) and is_new

    def lines(self) -> list[tuple[str, str]]:
        """Return the status and the line of each reason that several cells had."""
        return [
            (status, _line(status, reason, cells))
            for (status, reason), cells in self._found.items()
            if cells.total() > 1
        ]


def _line(status: str, reason: str, cells: Counter[str]) -> str:
    verb = "failed" if status == FAILED else "were skipped"
    where = shortened([f"{artefact} ({count})" for artefact, count in cells.items()])
    return f"{cells.total()} cells {verb} for the same reason, {as_typed(reason)}: {where}"


def without_result(tasks: list[Task]) -> str:
    """Say that no cell, or no kernel, that a run was to measure has a result; empty where some have."""
    if not tasks or any(task.record is None for task in tasks):
        return ""
    kernels = [task for task in tasks if task.cell.backend != "host"]
    if not any(last(task.record)["status"] == DONE for task in tasks):
        what, of = "nothing was measured", tasks
    elif kernels and not any(last(task.record)["status"] == DONE for task in kernels):
        what, of = "no kernel was measured, but baselines alone", kernels
    else:
        return ""
    ends = Counter((last(task.record)["status"], last(task.record)["reason"]) for task in of)
    (status, reason), count = ends.most_common(1)[0]
    backends = ", ".join(dict.fromkeys(task.cell.backend for task in of))
    verb = "failed" if status == FAILED else "were skipped"
    return f"{what}: {count} of {plural(len(of), 'cell')} on {backends} {verb}: {as_typed(reason)}"
