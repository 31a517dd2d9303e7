"""SciPy's conjugate gradients with PyAMG's smoothed aggregation on low-order elements before it: one thread.

What a user would do with the usual libraries alone.
"""

from __future__ import annotations

import pyamg
import scipy.sparse.linalg
from threadpoolctl import threadpool_limits

from baselines.solvers.rival import Rival

LIBRARIES = ("pyamg",)


class LowOrder(Rival):
    """The spectral operator's matrix, with PyAMG on the low-order one as preconditioner.

    Parameters
    ----------
    matrix, low : scipy.sparse CSR, (n, n) float64
    rhs : (n,) float64
    tolerance : float
        Of ‖b - A x‖/‖b‖.
    max_iterations : int
    """

    version = pyamg.__version__

    def __init__(self, matrix, low, rhs, tolerance, max_iterations):
        super().__init__(matrix, rhs, tolerance, max_iterations)
        self._low, self._cycle = low, None

    def set_up(self):
        with threadpool_limits(1):
            made = pyamg.smoothed_aggregation_solver(self._low, max_coarse=500)
            self._cycle = made.aspreconditioner(cycle="V")
            self._cycle @ self.rhs  # PyAMG factorises the coarsest matrix when it first needs it

    def solve(self):
        count = [0]

        def counted(_):
            count[0] += 1

        with threadpool_limits(1):
            self.x, info = scipy.sparse.linalg.cg(
                self.matrix, self.rhs, rtol=self.tolerance, maxiter=self.max_iterations, M=self._cycle, callback=counted
            )
        self.iterations = count[0]
        self._ended(info == 0, f"SciPy's cg ended with {info}")
