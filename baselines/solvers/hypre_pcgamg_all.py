"""hypre's BoomerAMG set as the paper's, and a process for every core: only their number differs from `hypre-pcgamg`."""

from __future__ import annotations

from baselines.solvers import hypre_pcgamg, petsc
from baselines.solvers.rival import openmp_threads

TITLE = "hypre as in `hypre-pcgamg`, and as many processes as OpenMP has threads, between which it relaxes as Jacobi"


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return petsc.Petsc(hypre_pcgamg.OPTIONS, matrix, rhs, tolerance, max_iterations, processes=openmp_threads())
