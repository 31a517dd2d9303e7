"""hypre's BoomerAMG with the interpolation that it takes by itself today, in place of the paper's time."""

from __future__ import annotations

from baselines.solvers import hypre_pcgamg, petsc

TITLE = (
    "hypre as in `hypre-pcgamg`, with extended+i interpolation of at most four entries a row, younger than the paper"
)
OPTIONS = hypre_pcgamg.OPTIONS | {
    "pc_hypre_boomeramg_interp_type": "ext+i",
    "pc_hypre_boomeramg_P_max": "4",
}


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return petsc.Petsc(OPTIONS, matrix, rhs, tolerance, max_iterations)
