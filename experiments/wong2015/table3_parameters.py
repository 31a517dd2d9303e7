"""Best parameters of merge-path CSR, where the paper has ModernGPU, of K1 and of K2, one repeat."""

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
