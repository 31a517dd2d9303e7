"""The clock of a solver that reports its own time: in another process, or with a part that was measured before."""

from __future__ import annotations

from repro.run.timing import HostClock


class ReportedClock(HostClock):
    """The time that a solver reports of its work, in `seconds`: what lies between is not the solver's."""

    def __init__(self, solver, name: str = ""):
        super().__init__()
        self._solver, self.name = solver, name or self.name

    def record(self):
        return round(1e9 * self._solver.seconds)
