"""Where the seconds of a run go, by stage: each second counts once, for the innermost stage that it is in.

Kernels are built by whoever launches them first, in whichever stage that is: the environment counts those seconds, and
they are taken out of the stage.
"""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator

from repro import environment

#: In the order of a run. Set-up is what a cell does and no other stage has; start is the start of its process.
STAGES = ("plan", "data", "start", "compile", "set-up", "check", "sampling", "ceilings", "record", "files")


class Stages:
    """The seconds of a cell, by stage."""

    def __init__(self):
        self.seconds: Counter[str] = Counter()
        self._open: list[str] = []
        self._since = 0.0
        self._built = 0.0

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Count what the block takes for a stage, and no longer for the stage around it."""
        self._settle()
        self._open.append(name)
        try:
            yield
        finally:
            self._settle()
            self._open.pop()

    def _settle(self) -> None:
        now, built = time.monotonic(), environment.building_seconds()
        if self._open:
            self.seconds["compile"] += built - self._built
            self.seconds[self._open[-1]] += now - self._since - (built - self._built)
        self._since, self._built = now, built

    def rounded(self) -> dict[str, float]:
        """Return the seconds by stage, without stages that took none, as records have them."""
        return {name: round(self.seconds[name], 4) for name in STAGES if self.seconds[name] >= 5e-5}
