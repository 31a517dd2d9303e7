"""PyAMG's classical multigrid of Ruge and Stüben; strong couplings are the most negative ones."""

from __future__ import annotations

import functools

import pyamg

from baselines.solvers.pyamg_cycle import Multigrid

LIBRARIES = ("pyamg",)
TITLE = (
    "PyAMG, Ruge–Stüben: strong couplings by the most negative entry, θ = 0.25, else its own settings (one sweep of "
    "symmetric Gauss–Seidel before and after), CG"
)
# By absolute values, as PyAMG has it by itself, the positive entries of P1 matrices count as strong, and iterations are
# several times as many. Notes: docs/notes/harness.md.
build = functools.partial(pyamg.ruge_stuben_solver, strength=("classical", {"theta": 0.25, "norm": "min"}))


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return Multigrid(build, matrix, rhs, tolerance, max_iterations)
