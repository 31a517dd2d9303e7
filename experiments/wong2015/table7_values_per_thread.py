"""Best number of values per thread of merge-path CSR, where the paper has ModernGPU, at 1, 50 and 1200 repeats.

Merge-path CSR gives each thread as many values and row ends as any other, across rows; how many is searched for.

Equation 9: y_i = Σ_j A_i,j x_j.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`, so many times in a row.
"""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import measure
from experiments.wong2015.parameters import COUNTS, VALUES, compared, drawn, searched

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 0.5, "large": 2}


def cells(scale):
    """Return every matrix with merge-path CSR."""
    return searched(scale, ("csr_merge",))


def tables(results):
    """Return Table 7."""
    return compared(results, "Table 7: best values per thread, by repeats", [VALUES], COUNTS)


def plot(results):
    """Draw the parameter over the matrices."""
    return drawn(results, [VALUES], COUNTS)
