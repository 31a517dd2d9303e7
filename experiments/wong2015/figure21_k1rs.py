"""K1r against K1rs: the columns of each row sorted by the new numbers, so that x is read in order.

The new numbers put the columns of a row out of order. K1rs sorts each row's entries by them (section 5.3).

Equations 11 and 12: x'(·) = x(P(·)) and c'(·) = c(P⁻¹(·)), where P sorts the rows by length and c are columns.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

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
