"""K1r against K1r with y given in the old order: the cost of the final remapping.

Both read unknowns in the order of the rows. One writes y in that order, the other where each row was before.

Equations 11 and 12: x'(·) = x(P(·)) and c'(·) = c(P⁻¹(·)), where P sorts the rows by length and c are columns.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

from experiments.wong2015 import stated
from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.variants import drawn, spread, times, variant_cells

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 0.7, "paper": 1, "large": 3}
METHODS = ("k1r", "k1r-remapped")
SECOND = ("k2r", "k2r-remapped")


def cells(scale):
    """Return the matrices of section 7 with and without the remapping, of K1r and of K2r."""
    return variant_cells(scale, METHODS + SECOND)


def tables(results):
    """Return the times and what the remapping costs, of K1r as in the figure and of K2r as in the text."""
    notes = []
    for uncached, text, mark in (("", "through the cache", "-textured"), ("-uncached", "past it", "")):
        printed = " to ".join(stated(f"remapping{mark}-{end}") for end in ("low", "high"))
        notes.append(f"Cost of the remapping, x {text}: {spread(results, 'k1r-remapped', 'k1r', uncached, sign=-1)}; "
                     f"published {printed} % of K1r.")  # fmt: skip
    return [times(results, "Figure 20: K1r, and K1r with y in the old order", METHODS, notes),
            times(results, "The same of K2r", SECOND)]  # fmt: skip


def plot(results):
    """Draw the times of K1r."""
    return drawn(results, METHODS)
