"""The operator through OpenCL: operations and bytes a second of stored and recomputed factors.

On a machine without a GPU that is the processor, through PoCL; the same source through OpenMP is beside it.
"""

from __future__ import annotations

from experiments.remacle2016 import products
from experiments.remacle2016.products import measure
from repro.plots import PAGE, bars, caption, figure

MINUTES = {"smoke": 0.5, "small": 2, "paper": 6, "large": 15}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]


def cells(scale):
    """Return every order by every kernel, through OpenCL and through OpenMP."""
    return products.cells(scale, ("opencl", "openmp"))


def tables(results):
    """Return the paper's table, and all kernels."""
    return products.tables(results, "Table 2: the operator through OpenCL", "opencl")


def plot(results):
    """Draw operations a second by order, ours and the paper's."""
    return drawn(results, "opencl")


def drawn(results, backend):
    """Draw operations and bytes a second of r and r' by order."""
    made, axes = figure(PAGE, 2.6, panels=2)
    cases = {case: f"n = {case[1:]}" for case in results.cases}
    methods = {"stored": "r, factors stored", "trilinear": "r', recomputed"}
    for axis, metric, unit, quantity in (
        (axes[0], "flop_rate", "GFLOP/s", "Operations by the paper's count"),
        (axes[1], "bandwidth", "GB/s", "Bytes by the paper's count"),
    ):
        bars(axis, results, metric, methods, unit=unit, quantity=quantity, cases=cases, backend=backend)
    caption(made, results)
    return made
