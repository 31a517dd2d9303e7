"""Conjugate gradients with the spectral operator's matrix, and libraries' multigrid on low-order elements before them.

This is what a user would do with the usual libraries alone. PyAMG has one thread, AMGCL as many as OpenMP takes, and
hypre as many processes.
"""

from __future__ import annotations

import functools

from baselines.solvers import amgcl, hypre_extended, petsc
from baselines.solvers.rival import Rival, openmp_threads

LIBRARIES_OF = ("pyamg", "amgcl", "hypre")


def prepare(library: str, matrix, low, rhs, tolerance: float, max_iterations: int) -> Rival:
    """Return the rival of a library, one of `LIBRARIES_OF`.

    Parameters
    ----------
    library : str
    matrix, low : scipy.sparse CSR, (n, n) float64
        Of the spectral elements, and of the low-order ones.
    rhs : (n,) float64
    tolerance : float
        Of ‖b - A x‖/‖b‖.
    max_iterations : int

    Raises
    ------
    repro.Skip
        Where the library is not installed.
    """
    system = matrix, rhs, tolerance, max_iterations, low
    if library == "amgcl":
        return amgcl.prepare(*system)
    if library == "hypre":
        return petsc.Petsc(hypre_extended.OPTIONS, *system, processes=openmp_threads())
    from baselines.solvers.pyamg_cycle import Multigrid, pyamg  # which names its library for the cells that run it

    return Multigrid(functools.partial(pyamg.smoothed_aggregation_solver, max_coarse=500), *system)
