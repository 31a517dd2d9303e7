"""Best parameters of merge-path CSR, where the paper has ModernGPU, of K1 and of K2, one repeat.

Each matrix has parameters with which a kernel is fastest: values a thread, threads a block, and from what length on a
row of K2 is divided. They are searched for, kernel by kernel.

Equation 9: y_p(i) = Σ_j A_p(i),j x_j, where p sorts the rows by length; a thread has a row, a warp 32 of like length.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`, with the parameters that `spmv.tuned` finds
best.
"""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.parameters import BLOCK, THRESHOLD, VALUES, compared, drawn, searched

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.2, "small": 1, "paper": 1.5, "large": 5}


def cells(scale):
    """Return every matrix with the three kernels, and with K2 sorted in windows."""
    return searched(scale, ("csr_merge", "k1", "k2", "k2-window"))


def tables(results):
    """Return Table 3, and what was found for K2 where rows are sorted in windows."""
    return compared(results, "Table 3: best parameters", [VALUES, BLOCK, *THRESHOLD], (1,))


def plot(results):
    """Draw each parameter over the matrices."""
    return drawn(results, [VALUES, BLOCK, *THRESHOLD], (1,))
