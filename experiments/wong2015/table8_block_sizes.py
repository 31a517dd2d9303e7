"""Best block size of K1 at 1, 50 and 1200 repeats."""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.parameters import BLOCK, COUNTS, compared, drawn, searched

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 0.5, "large": 2}


def cells(scale):
    """Return every matrix with K1."""
    return searched(scale, ("k1",))


def tables(results):
    """Return Table 8."""
    return compared(results, "Table 8: best block size of K1, by repeats", [BLOCK], COUNTS)


def plot(results):
    """Draw the parameter over the matrices."""
    return drawn(results, [BLOCK], COUNTS)
