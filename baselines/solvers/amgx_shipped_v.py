"""What AmgX ships as PCG_V.json, to the tolerance of the others: `amgx_shipped` without aggressive levels."""

from __future__ import annotations

from baselines.solvers._amgx import AmgX

TITLE = "AmgX, its PCG_V: PMIS, interpolation D2, V-cycle, one sweep of Jacobi before and after, CG"
PRECONDITIONER = {
    "interpolator": "D2", "cycle": "V", "max_levels": 50, "presweeps": 1, "postsweeps": 1,
    "smoother": {"scope": "jacobi", "solver": "BLOCK_JACOBI", "monitor_residual": 0},
}  # fmt: skip


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return AmgX(PRECONDITIONER, matrix, rhs, tolerance, max_iterations)
