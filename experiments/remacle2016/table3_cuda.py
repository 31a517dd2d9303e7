"""The operator through CUDA: operations and bytes a second of stored and recomputed factors."""

from __future__ import annotations

from experiments.remacle2016 import products
from experiments.remacle2016.products import measure
from experiments.remacle2016.table2_opencl import drawn

MINUTES = {"smoke": 0.3, "small": 1, "paper": 3, "large": 8}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]


def cells(scale):
    """Return every order by every kernel."""
    return products.cells(scale, ("cuda",))


def tables(results):
    """Return the paper's table, and all kernels."""
    return products.tables(results, "Table 3: the operator through CUDA", "cuda")


def plot(results):
    """Draw operations a second by order, ours and the paper's."""
    return drawn(results, "cuda")
