"""Effective bandwidth of products with all matrices, 1200 repeats.

The cells are Figure 12's, at the paper's largest number of repeats.

No equation: the effective bandwidth is 20 bytes for each non-zero over the time of a product.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

from experiments.wong2015.figure12_bandwidth import cells, drawn, measure, shown

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.5, "small": 3, "paper": 4, "large": 10}
COUNT = 1200


def tables(results):
    """Return the bandwidths of the figure, who is fastest at each number of repeats, and every time."""
    return shown(results, "Figure 17", COUNT)


def plot(results):
    """Draw the bandwidths, as the paper does."""
    return drawn(results, COUNT)
