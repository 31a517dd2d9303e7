"""The clock of a solver that works in another process and reports its own time."""

from __future__ import annotations

from repro.run.timing import HostClock


class ReportedClock(HostClock):
    """The time that a solver reports of its work, in `seconds`: what lies between is not the solver's."""

    def __init__(self, solver):
        super().__init__()
        self._solver = solver

    def record(self):
        return round(1e9 * self._solver.seconds)
