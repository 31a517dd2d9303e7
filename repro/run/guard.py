"""Samples that something disturbed are kept apart and taken again, until that has gone on for too long."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from repro.run import state

PATIENCE = 2  # times the samples, or the time, that may be thrown away
LEAST = 16  # samples from which on they are counted
FAR = 2  # times its neighbours' median: a thread lost a slice of its core, which one count in a second does not show
FEW = 5  # neighbours, which tell nothing
EVERY = 0.25  # seconds between two looks at the pace of the cores
SELDOM = 0.1  # of the samples, at most: what comes about more often is the function's own


class Guard:
    """Keeps samples that something disturbed apart, until there are too many of them."""

    def __init__(self, watched: state.Unwatched):
        self._watched, self._slow = watched, watched.slowly()
        self._readings = [watched.read()]
        self.thrown: list[float] = []
        self._kept: list[float] = []
        self._far: list[float] | None = []
        self.disturbed, self.note, self._why = 0, "", ""
        self._jobs = [watched.look()]
        self._looked = time.perf_counter()

    def of(self, take: Callable[..., list[float]], *arguments: Any) -> list[float]:
        """Take samples and return them; none where they were disturbed, unless it has been given up."""
        if time.perf_counter() - self._looked > EVERY:
            self._look()
        before = self._watched.read()
        taken = take(*arguments)
        after = self._watched.read()
        self._readings += before, after
        why = self._watched.disturbance(before, after)
        if not why:
            return self._near(taken) if self._watched.loses_slices else taken
        self.disturbed += len(taken)
        if self.note:
            return taken
        self.thrown, self._why = self.thrown + taken, why
        return []

    def _near(self, taken: list[float]) -> list[float]:
        """Return samples without those far above their neighbours' median; once they are many, with all that were."""
        neighbours = [*self._kept[-LEAST:], *taken]
        if self._far is None or len(neighbours) < FEW:
            self._kept += taken
            return taken
        limit = FAR * median(neighbours)
        near = [value for value in taken if value <= limit]
        self._kept += near
        self._far += [value for value in taken if value > limit]
        self.disturbed += len(taken) - len(near)
        if len(self._far) > max(SELDOM * len(self._kept), 1):
            self.disturbed -= len(self._far)
            near, self._far = near + self._far, None
        return near

    def is_over(self, kept: int, spent: float, max_seconds: float) -> bool:
        """Return whether as many were thrown away, or as long was spent, as the patience is for."""
        return len(self.thrown) >= PATIENCE * max(kept, LEAST) or spent > (1 + PATIENCE) * max_seconds

    def give_up(self) -> list[float]:
        """Return what was thrown away: from now on samples are taken as they come."""
        thrown, self.thrown = self.thrown, []
        self.note = f"disturbed, and not to be had otherwise: {self._why}"
        return thrown

    def _look(self) -> None:
        self._jobs.append(self._watched.look())
        self._looked = time.perf_counter()

    def pace(self) -> tuple[float, float] | None:
        """Return the factors from the times to those at the cores' quickest pace and a slow one; None if not known."""
        self._look()
        jobs = [seconds for seconds in self._jobs if seconds]
        return self._watched.factors(sum(jobs) / len(jobs)) if jobs else None

    def summary(self) -> dict[str, Any]:
        """Return the state of the device during all of it."""
        return state.summary(self._readings, (self._slow, self._watched.slowly()))
