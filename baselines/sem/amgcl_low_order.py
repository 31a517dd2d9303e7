"""AMGCL's conjugate gradients with its hierarchy on low-order elements, all threads, where `pyamgcl` is installed."""

from __future__ import annotations

import importlib

from baselines import PACKAGES
from baselines.solvers.amgcl import PRECONDITIONER
from baselines.solvers.rival import Rival, openmp_threads
from repro import Skip

LIBRARIES = ("pyamgcl",)


class LowOrder(Rival):
    """The spectral operator's matrix, with AMGCL's hierarchy of the low-order one as preconditioner.

    Parameters
    ----------
    matrix, low : scipy.sparse CSR, (n, n) float64
    rhs : (n,) float64
    tolerance : float
        Of ‖b - A x‖/‖b‖.
    max_iterations : int

    Raises
    ------
    Skip
        Where `pyamgcl` is not installed.
    """

    def __init__(self, matrix, low, rhs, tolerance, max_iterations):
        super().__init__(matrix, rhs, tolerance, max_iterations)
        try:
            self._library = importlib.import_module("pyamgcl")
        except ImportError as missing:
            raise Skip(f"AMGCL is not installed: {missing}", PACKAGES["AMGCL"][1]) from None
        self._low, self._hierarchy, self.threads = low, None, openmp_threads()

    def set_up(self):
        self._hierarchy = self._library.amg(self._low, PRECONDITIONER)

    def solve(self):
        settings = {"type": "cg", "tol": self.tolerance, "maxiter": self.max_iterations}
        solver = self._library.solver(self._hierarchy, settings)
        self.x = solver(self.matrix, self.rhs)
        self.iterations = int(solver.iters)
        self._ended(solver.error <= self.tolerance, f"AMGCL's residual is {solver.error:.3g}")
