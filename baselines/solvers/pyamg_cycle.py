"""PyAMG's multigrid as preconditioner of its conjugate gradients; it has no threads.

Threads of NumPy's BLAS are kept out of it. On the small products within PyAMG they cost time, and a lot of it where
other programs run. With them, the number of threads that tables show would not be true.
"""

from __future__ import annotations

import warnings

import numpy as np
import pyamg
from threadpoolctl import threadpool_limits

from baselines.solvers.rival import Rival

LIBRARIES = ("pyamg",)


class Multigrid(Rival):
    """A hierarchy of PyAMG, one V-cycle an iteration.

    Parameters
    ----------
    build : callable
        From the matrix to PyAMG's `MultilevelSolver`.
    """

    def __init__(self, build, *system):
        super().__init__(*system)
        self._build = build
        self.hierarchy = None

    def set_up(self):
        with threadpool_limits(1):
            self._set_up()

    def _set_up(self):
        np.random.seed(0)  # noqa: NPY002 - PyAMG estimates spectral radii from vectors of this generator
        self.hierarchy = self._build(self.near)
        coarsest = self.hierarchy.levels[-1].A
        # PyAMG factorises it in the first solve, though that is set-up.
        self.hierarchy.coarse_solver(coarsest, np.zeros(coarsest.shape[0]))

    def solve(self):
        residuals: list[float] = []
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")  # of what ends in SolverFailed here
            # It compares ‖b - A x‖ with tol ‖b‖.
            self.x, info = pyamg.krylov.cg(
                self.matrix, self.rhs, tol=self.tolerance, maxiter=self.max_iterations, residuals=residuals,
                M=self.hierarchy.aspreconditioner(cycle="V"),
            )  # fmt: skip
        self.iterations = len(residuals) - 1
        self._ended(info == 0, f"PyAMG's cg ended with {info}")
