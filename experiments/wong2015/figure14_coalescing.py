"""K1 with a warp's entries by columns, which its threads read together, against entries left by rows as in CSR.

The threads of a warp have a row each. Entries by columns lie side by side for them (section 5.1).

Equation 9: y_p(i) = Σ_j A_p(i),j x_j, where p sorts the rows by length; a thread has a row, a warp 32 of like length.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

from experiments.wong2015 import stated
from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.matrices import named
from experiments.wong2015.variants import CACHES, drawn, seconds, times, variant_cells

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k1", "k1-by-rows")


def cells(scale):
    """Return the matrices of section 7 in both layouts."""
    return variant_cells(scale, METHODS)


def tables(results):
    """Return the times, and how much coalescing is worth."""
    notes = []
    for uncached, mark in zip(CACHES, ("-textured", ""), strict=True):
        pairs = [(seconds(results, case, "k1-by-rows", uncached), seconds(results, case, "k1", uncached))
                 for case in named(results)]  # fmt: skip
        gains = [by_rows / by_columns for by_rows, by_columns in pairs if by_rows and by_columns]
        printed = " to ".join(stated(f"coalescing{mark}-{end}") for end in ("low", "high"))
        if gains:
            notes.append(f"Coalescing, {CACHES[uncached]}: {min(gains):.3g} to {max(gains):.3g} times as fast; "
                         f"published {printed}.")  # fmt: skip
    return [times(results, "Figure 14: entries by columns and by rows", METHODS, notes)]


def plot(results):
    """Draw the times."""
    return drawn(results, METHODS)
