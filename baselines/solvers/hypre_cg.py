"""Conjugate gradients without a preconditioner in PETSc, beside hypre's multigrid in the same library.

The paper's Hypre-CG is hypre's own; the algorithm is the same, so are the counts of iterations.
"""

from __future__ import annotations

from baselines.solvers import petsc

TITLE = "PETSc, one process of one thread: CG without a preconditioner"


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return petsc.Petsc({"pc_type": "none"}, matrix, rhs, tolerance, max_iterations)
