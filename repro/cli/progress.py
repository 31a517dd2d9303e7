"""Progress of a run: a bar with the time left on a terminal, a line a cell everywhere.

A reason for which cells are skipped or fail is told when it is met first, and with its count in the end.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from repro.cache.kept import last
from repro.cache.lacking import shortened
from repro.cache.plan import Task
from repro.cache.store import WAITING
from repro.cli.common import duration, plural
from repro.model import DONE, FAILED
from repro.optional import as_typed
from repro.show.render import MEASURED_BEFORE, Rendered
from repro.show.tables import with_lines


class Follower:
    """Watches a run; each method is told of one thing.

    `results`: where each artefact's tables are shown; None shows none.
    """

    def __init__(self, console: Console, results: Console | None = None):
        self.console, self.results = console, results
        columns = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24),
            TextColumn("{task.fields[cells]} {task.fields[left]}"),
        )  # fmt: skip
        # On what is not a terminal, the lines are enough.
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.expected = self.passed = self.spent = 0.0
        self.cells = self.finished = 0
        self.said: set[str] = set()
        self.ended: dict[tuple[str, str], Counter[str]] = {}  # cells of artefacts, by what skipped or failed them
        self.raised: set[str] = set()  # where tracebacks end: reasons may differ and that may not
        self.task: Any = None
        self.begun = 0.0

    def __enter__(self) -> Follower:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()
        for (status, reason), cells in self.ended.items():
            if cells.total() > 1:
                line = _line(status, reason, cells)
                self.console.print(escape(line), style="red" if status == FAILED else "yellow")

    def begin(self, cells: int, seconds: float) -> None:
        """Show the bar, as long as the seconds that the cells should take."""
        self.cells, self.expected = cells, seconds
        if cells:
            self.task = self.bar.add_task("", total=seconds, cells=f"0/{cells}", left=self._left())

    def _left(self) -> str:
        """Time left: what the remaining cells should take, by how the finished ones kept to theirs."""
        pace = self.spent / self.passed if self.passed else 1.0
        return f"{duration(max(0.0, self.expected - self.passed) * pace)} left"

    def cell(self, task: Task, why: str) -> None:
        """Name the cell, and say why one that has been run before is run again."""
        self.begun = time.monotonic()
        if why not in ("never run", "forced") and not why.startswith("skipped"):
            self.tell(f"{task.artefact.id}: again, because {why}")
        if self.task is not None:
            self.bar.update(self.task, description=escape(_name(task)))

    def done(self, task: Task, measured: bool, expected: float) -> None:
        """Print the cell's line and move the bar."""
        self.finished += 1
        self.passed += expected
        # No cell is expected to measure ceilings: the first of a device does so for all.
        ceilings = task.record.get("stages", {}).get("ceilings", 0.0) if measured else 0.0
        self.spent += time.monotonic() - self.begun - ceilings
        if self.task is not None:
            cells = f"{self.finished}/{self.cells}"
            self.bar.update(self.task, advance=expected, cells=cells, left=self._left())
        record = last(task.record)
        status, reason = record["status"], record["reason"]
        if status == DONE:
            by = duration(record["seconds"]) if measured else "by another run"
            self.console.print(f"{escape(_name(task))}: done, {by} ({self.finished}/{self.cells}, {self._left()})")
            return
        cells = self.ended.setdefault((status, reason), Counter())
        cells[task.artefact.id] += 1
        if cells.total() > 1:
            return
        if status != FAILED:
            self.console.print(escape(f"{_name(task)}: skipped: {as_typed(reason)}"), style="yellow")
            return
        self.console.print(f"[red]{escape(_name(task))}: failed: {escape(reason)}[/red]")
        traceback = record.get("traceback", "")
        place = "".join(re.findall(r"^ +File .*$", traceback, re.MULTILINE)[-1:])
        if traceback and place not in self.raised:
            self.console.print(escape(traceback.rstrip()), style="dim")
        self.raised.add(place)

    def rendered(self, rendered: Rendered) -> None:
        """Show the tables, and where the files are."""
        for problem in rendered.problems:
            self.console.print(f"[red]{rendered.artefact.id}: {escape(problem)}[/red]")
        if self.results is not None:
            for table in reversed(with_lines(rendered.tables)):  # the paper's own, the first, ends up where the eye is
                self.results.print(table.to_rich())
            if rendered.tables and rendered.before:
                self.results.print(f"{MEASURED_BEFORE}:", *map(escape, rendered.before), sep="\n", soft_wrap=True)
        for note in rendered.disturbed:
            self.console.print(f"{rendered.artefact.id}: {escape(note)}", style="yellow")
        for path in rendered.files:
            if path.suffix == ".md":
                self.console.print(f"{rendered.artefact.id}: {escape(str(path))}")

    def tell(self, text: str, style: str = "dim") -> None:
        """Print a line, once."""
        if text not in self.said:
            self.said.add(text)
            self.console.print(escape(text), style="yellow" if text == WAITING else style)


def _name(task: Task) -> str:
    cell = task.cell
    parameters = " ".join(f"{name}={value}" for name, value in cell.parameters.items())
    return " ".join(filter(None, (task.artefact.id, cell.case, cell.method, cell.backend, parameters)))


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
