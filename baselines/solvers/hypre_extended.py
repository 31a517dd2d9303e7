"""hypre's BoomerAMG as today: the interpolation that it takes by itself, and a process for every core."""

from __future__ import annotations

from baselines.solvers import hypre_pcgamg, petsc
from baselines.solvers.rival import openmp_threads

TITLE = (
    "hypre as in `hypre-pcgamg`, with extended+i interpolation of at most four entries a row, younger than the paper, "
    "and as many processes as OpenMP has threads"
)
OPTIONS = hypre_pcgamg.OPTIONS | {
    "pc_hypre_boomeramg_interp_type": "ext+i",
    "pc_hypre_boomeramg_P_max": "4",
}


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return petsc.Petsc(OPTIONS, matrix, rhs, tolerance, max_iterations, processes=openmp_threads())
