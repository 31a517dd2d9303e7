"""Base of all rivals: set-up and solve apart, and how a solve ended."""

from __future__ import annotations

import os

import numpy as np
import scipy.sparse

from repro import ReproError


class SolverFailed(ReproError):
    """A rival did not solve the system: it diverged, reached its limit of iterations, hung or died."""


class Rival:
    """A solver of A x = b from x = 0, on the host or, by a library of its own, on a GPU.

    Parameters
    ----------
    matrix : scipy.sparse matrix of float64, shape (n, n)
    rhs : ndarray of float64, shape (n,)
    tolerance : float
        Of ‖b - A x‖/‖b‖.
    max_iterations : int
    near : scipy.sparse matrix of float64, shape (n, n), optional
        Matrix that a preconditioner is made of, where it is not the system's own.

    Attributes
    ----------
    threads : int
        Number that the solver may use.
    seconds : float or None
        Sum of the times that the solver itself has reported for its set-ups and solves, where these run in another
        process and a call of `set_up` or `solve` takes longer; None where the caller's clock is right.
    on_gpu : bool
        Whether it computes on a GPU; both calls wait until it has done so.
    has_set_up : bool
        Whether `set_up` does anything worth timing.
    version : str
        Of the library that solves.
    iterations : int
        Of the last solve.
    x : ndarray of float64, shape (n,)
        Its solution.
    """

    threads = 1
    seconds: float | None = None
    on_gpu = False
    has_set_up = True
    version = ""

    def __init__(self, matrix, rhs: np.ndarray, tolerance: float, max_iterations: int, near=None):
        self.matrix = scipy.sparse.csr_matrix(matrix)
        self.near = self.matrix if near is None else scipy.sparse.csr_matrix(near)
        self.rhs = np.ascontiguousarray(rhs, dtype=np.float64)
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.iterations, self.x = 0, np.zeros_like(self.rhs)

    def set_up(self) -> None:
        """Build what depends on the matrix alone, anew; nothing for a solver that needs nothing."""

    def solve(self) -> None:
        """Solve, and set `x` and `iterations`.

        Raises
        ------
        SolverFailed
            If it did not reach the tolerance.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Free what the rival holds outside of this process."""

    def residual(self) -> float:
        """Return ‖b - A x‖/‖b‖ of the last solution, by SciPy."""
        return float(np.linalg.norm(self.rhs - self.matrix @ self.x) / np.linalg.norm(self.rhs))

    def _ended(self, converged: bool, how: str) -> None:
        if not converged:
            raise SolverFailed(f"no solution after {self.iterations} iterations: {how}")


def openmp_threads() -> int:
    """Return how many threads an OpenMP program of this process takes by itself."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if asked.isdigit() and int(asked):
        return int(asked)
    # Not on macOS and Windows.
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
