"""Best block size of K1 at 1, 50 and 1200 repeats.

The product is repeated as a solver would, with x, y and the matrix in place.

Equation 9: y_p(i) = Σ_j A_p(i),j x_j, where p sorts the rows by length; a thread has a row, a warp 32 of like length.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`, so many times in a row.
"""

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
