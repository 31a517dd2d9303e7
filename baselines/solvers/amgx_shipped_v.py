"""The solver that AmgX ships as PCG_V.json, to the tolerance of the others: `amgx_shipped` without aggressive levels.

The file gives Jacobi's relaxation no weight, so that it has AmgX's default of 0.9. Where D⁻¹ A has an eigenvalue above
2/0.9 a sweep enlarges the error, the cycle is not positive definite, and conjugate gradients need not end. Most of the
tetrahedral meshes are of that kind. It stays as it is shipped.
"""

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
