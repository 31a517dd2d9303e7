"""Slice size of SBELL: GFLOP/s of the product with slices of 32 to 512 block rows, sorted as in Figure 6.

SBELL is SELL with a block for each pair of nodes, and one column index a block.

Equation, section 3: y = A x.
Timed, in `zhang2013/products.py`: `run.time("spmv", lambda: packed.multiply(given, result))`.
"""

from __future__ import annotations

from experiments.zhang2013.figure6_slices_sell import drawn, shown, sweep
from experiments.zhang2013.figure8_formats import measure

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.4, "small": 2, "paper": 6, "large": 16}


def cells(scale):
    """Return every matrix with every slice size on every back end."""
    return sweep("sbell")


def tables(results):
    """Return GFLOP/s by slice size."""
    return shown(results, "Figure 7: GFLOP/s of SBELL by slice size")


def plot(results):
    """Draw GFLOP/s over the slice size."""
    return drawn(results, "SBELL, double precision")
