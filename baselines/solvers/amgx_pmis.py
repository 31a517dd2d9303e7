"""AmgX's classical multigrid in conjugate gradients: PMIS, interpolation D2, relaxation by L1-Jacobi."""

from __future__ import annotations

from baselines.solvers._amgx import AmgX

TITLE = "AmgX, classical: PMIS, interpolation D2, one sweep of L1-Jacobi before and after, CG"
PRECONDITIONER = {
    "algorithm": "CLASSICAL", "selector": "PMIS", "interpolator": "D2", "cycle": "V", "max_levels": 50,
    "presweeps": 1, "postsweeps": 1,
    "smoother": {"scope": "jacobi", "solver": "JACOBI_L1", "relaxation_factor": 1.0, "monitor_residual": 0},
}  # fmt: skip


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return AmgX(PRECONDITIONER, matrix, rhs, tolerance, max_iterations)
