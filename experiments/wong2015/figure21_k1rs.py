"""K1r against K1rs: the columns of each row sorted by the new numbers, so that x is read in order."""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.variants import drawn, sorting, variant_cells

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k1r", "k1rs")


def cells(scale):
    """Return the matrices of section 7 with both kernels."""
    return variant_cells(scale, METHODS)


def tables(results):
    """Return the times and the gain."""
    return [sorting(results, "Figure 21: K1r and K1rs", METHODS)]


def plot(results):
    """Draw the times."""
    return drawn(results, METHODS)
