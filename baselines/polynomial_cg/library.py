"""SciPy's own conjugate gradients and product, with the preconditioner as a linear operator."""

from __future__ import annotations

import numpy as np
import scipy.sparse.linalg

from baselines.polynomial_cg.loops import Outcome
from baselines.polynomial_cg.scaling import scaled


class Solver:
    """The call shape of `baselines.polynomial_cg.loops.Solver`; SciPy multiplies on one thread."""

    def __init__(self, matrix, polynomial=None):
        self.matrix, self._factors = scaled(matrix)
        self.polynomial = polynomial
        self._b = self._x = np.zeros(self.matrix.shape[0])

    def load(self, b) -> None:
        """Scale a right-hand side, (n,) float64, for `run`."""
        self._b = self._factors * b

    def run(self, tolerance: float = 1e-6, max_iterations: int = 20000) -> Outcome:
        """Solve the loaded system until ‖r‖ <= tolerance ‖b‖, both of the scaled system."""
        steps = []
        operator = None
        if self.polynomial is not None:
            operator = scipy.sparse.linalg.LinearOperator(self.matrix.shape, self._apply, dtype=np.float64)
        self._x, failed = scipy.sparse.linalg.cg(
            self.matrix, self._b, rtol=tolerance, maxiter=max_iterations, M=operator, callback=lambda x: steps.append(0)
        )
        norm = np.linalg.norm(self._b)
        residual = np.linalg.norm(self._b - self.matrix @ self._x) / norm if norm else 0.0
        return Outcome("iteration limit" if failed else "converged", len(steps), float(residual))

    def solution(self) -> np.ndarray:
        """Return x of the unscaled system."""
        return self._factors * self._x

    def _apply(self, r):
        (a, b), series = self.polynomial.interval, self.polynomial.coefficients

        def mapped(x):
            return (2 * (self.matrix @ x) - (a + b) * x) / (b - a)

        before, now = np.zeros_like(r), series[-1] * r
        for coefficient in series[-2:0:-1]:
            before, now = now, coefficient * r + 2 * mapped(now) - before
        return series[0] * r + mapped(now) - before
