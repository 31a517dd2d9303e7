"""K2 against K2r: unknowns reordered by the sorted rows, so that y is written in order.

Figure 18 for K2, which divides long rows among threads (section 5.5).

Equations 11 and 12: x'(·) = x(P(·)) and c'(·) = c(P⁻¹(·)), where P sorts the rows by length and c are columns.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.variants import drawn, times, variant_cells

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k2", "k2r")


def cells(scale):
    """Return the matrices of section 7 with both kernels."""
    return variant_cells(scale, METHODS)


def tables(results):
    """Return the times and the gain."""
    return [times(results, "Figure 19: K2 and K2r", METHODS)]


def plot(results):
    """Draw the times."""
    return drawn(results, METHODS)
