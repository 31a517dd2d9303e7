"""The operator through CUDA: operations and bytes a second of stored and recomputed factors.

The kernels r, r' and z of Table 2, and whole solves, from the same source. The C back end is beside it, whose cells are
Table 2's.

Equation 8: r = Dᵀ(m κ G D u) + m c u in each element, where D differentiates along each direction.
Timed, in `remacle2016/products.py`: `run.time("local", lambda: operator.apply_local(x, local))` for r and r', and
`run.time("fine", lambda: fine.solve_local(x, parts))` for z, which is equation 11.
"""

from __future__ import annotations

from experiments.remacle2016 import table2_opencl
from experiments.remacle2016.table2_opencl import measure

MINUTES = {"smoke": 0.5, "small": 2, "paper": 7, "large": 18}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]


def cells(scale):
    """Return every order by every kernel, the solver, and BP5, through CUDA and by the C back end."""
    return table2_opencl.every(scale, ("cuda", "openmp"))


def tables(results):
    """Return the paper's table, and all kernels."""
    return table2_opencl.shown(results, "Table 3", "the operator through CUDA", "cuda")


def plot(results):
    """Draw operations and bytes a second by order, and solves, ours and the paper's, and BP5."""
    return table2_opencl.drawn(results, "cuda")
