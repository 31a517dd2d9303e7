"""The solver that AmgX ships as PCG_AGGREGATION_JACOBI.json, to the tolerance of the others.

It is not held to the same aggregates each time, which would only slow it down. As in `amgx_shipped_v` a sweep can
enlarge the error, here where D⁻¹ A has an eigenvalue above 2/0.8.
"""

from __future__ import annotations

from baselines.solvers._amgx import AmgX

TITLE = "AmgX, its PCG_AGGREGATION_JACOBI: aggregation by pairs, three sweeps of Jacobi after, CG"
PRECONDITIONER = {
    "algorithm": "AGGREGATION", "selector": "SIZE_2", "cycle": "V", "max_levels": 50, "coarse_solver": "NOSOLVER",
    "presweeps": 0, "postsweeps": 3,
    "smoother": {"scope": "jacobi", "solver": "BLOCK_JACOBI", "relaxation_factor": 0.8, "monitor_residual": 0},
}  # fmt: skip


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return AmgX(PRECONDITIONER, matrix, rhs, tolerance, max_iterations)
