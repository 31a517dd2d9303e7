"""AmgX's unsmoothed aggregation by eights in conjugate gradients, relaxation by Jacobi."""

from __future__ import annotations

from baselines.solvers._amgx import AmgX

TITLE = "AmgX, aggregation by eights, one sweep of Jacobi before and after, CG"
PRECONDITIONER = {
    "algorithm": "AGGREGATION", "selector": "SIZE_8", "cycle": "V", "max_levels": 50, "presweeps": 1, "postsweeps": 1,
    "smoother": {"scope": "jacobi", "solver": "BLOCK_JACOBI", "relaxation_factor": 0.8, "monitor_residual": 0},
}  # fmt: skip


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return AmgX(PRECONDITIONER, matrix, rhs, tolerance, max_iterations)
