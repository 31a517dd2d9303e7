"""The solver that AmgX ships as PCG_CLASSICAL_V_JACOBI.json, to the tolerance of the others.

Its weight of Jacobi's relaxation is AmgX's default, too large for most of the meshes: see `amgx_shipped_v`.
"""

from __future__ import annotations

from baselines.solvers import amgx_shipped_v
from baselines.solvers._amgx import AmgX

TITLE = "AmgX, its PCG_CLASSICAL_V_JACOBI: two aggressive levels, one sweep of Jacobi before and after, CG"
PRECONDITIONER = amgx_shipped_v.PRECONDITIONER | {"aggressive_levels": 2}


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return AmgX(PRECONDITIONER, matrix, rhs, tolerance, max_iterations)
