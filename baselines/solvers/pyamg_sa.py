"""PyAMG's smoothed aggregation with Jacobi relaxation, set as the method of Bell, Dalton, Olson (2012) and CUSP."""

from __future__ import annotations

import functools

import pyamg

from baselines.solvers.pyamg_cycle import Multigrid

LIBRARIES = ("pyamg",)
TITLE = (
    "PyAMG, smoothed aggregation: strength symmetric θ = 0, standard aggregates, prolongator smoothed by Jacobi with "
    "ω = (4/3)/ρ, one sweep of Jacobi before and after, CG"
)
JACOBI = ("jacobi", {"omega": 4.0 / 3.0, "iterations": 1})  # PyAMG divides by the spectral radius
build = functools.partial(
    pyamg.smoothed_aggregation_solver, strength=("symmetric", {"theta": 0.0}), aggregate="standard",
    smooth=("jacobi", {"omega": 4.0 / 3.0}), improve_candidates=None, presmoother=JACOBI, postsmoother=JACOBI,
    max_coarse=200,
)  # fmt: skip


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return Multigrid(build, matrix, rhs, tolerance, max_iterations)
