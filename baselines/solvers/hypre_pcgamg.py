"""hypre's BoomerAMG as preconditioner of PETSc's conjugate gradients, set as the paper's Hypre-PCGAMG.

Coarsening and relaxation are as the paper names them. Interpolation and threshold, on which it is silent, are PETSc's:
classical and 0.25. That threshold needs fewer iterations on the Regular mesh than the paper prints, and 0.5 more (see
docs/notes/harness.md).
"""

from __future__ import annotations

from baselines.solvers import petsc

TITLE = (
    "hypre through PETSc, one process of one thread: BoomerAMG, PMIS, hybrid symmetric Gauss–Seidel, classical "
    "interpolation, CG"
)
OPTIONS = {
    "pc_type": "hypre",
    "pc_hypre_type": "boomeramg",
    "pc_hypre_boomeramg_coarsen_type": "PMIS",
    "pc_hypre_boomeramg_relax_type_all": "symmetric-SOR/Jacobi",  # hypre's name in PETSc for its hybrid Gauss-Seidel
}


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return petsc.Petsc(OPTIONS, matrix, rhs, tolerance, max_iterations)
