"""Best threshold and block size of K2 at 1, 50 and 1200 repeats.

K2 halves a row that is longer than a threshold until its parts are not, and adds their sums within the warp.

Equation 9: y_p(i) = Σ_j A_p(i),j x_j, where p sorts the rows by length; a thread has a row, a warp 32 of like length.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`, so many times in a row.
"""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.parameters import COUNTS, THRESHOLD, compared, drawn, searched

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 0.5, "large": 2}


def cells(scale):
    """Return every matrix with K2, and with K2 sorted in windows."""
    return searched(scale, ("k2", "k2-window"))


def tables(results):
    """Return Table 9, and what was found where rows are sorted in windows."""
    return compared(results, "Table 9: best threshold and block size of K2, by repeats", THRESHOLD, COUNTS)


def plot(results):
    """Draw the parameters over the matrices."""
    return drawn(results, THRESHOLD, COUNTS)
