"""Conjugate gradients without a preconditioner in loops compiled by Numba, on all threads."""

from __future__ import annotations

import numba
import numpy as np
from numba import njit

from baselines.cg_loops import advance, multiply, pattern, turn
from baselines.solvers.rival import Rival

LIBRARIES = ("numba",)
TITLE = "CG without a preconditioner, loops compiled by Numba on all threads, CSR"


class ConjugateGradients(Rival):
    """The loops of `baselines.cg_loops`."""

    has_set_up = False

    def __init__(self, *system):
        super().__init__(*system)
        self.threads = numba.get_num_threads()
        self._pattern = pattern(self.matrix)

    def solve(self):
        system = (*self._pattern, self.matrix.data, self.rhs)
        self.x, self.iterations, ending = _solve(*system, self.tolerance, self.max_iterations)
        self._ended(ending == 0, "p·Ap is not positive" if ending == 2 else "the limit")


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return ConjugateGradients(matrix, rhs, tolerance, max_iterations)


@njit(cache=True)
def _solve(row_offsets, column_indices, values, rhs, tolerance, max_iterations):
    """Return x, the iterations, and 0 when converged, 1 at the limit, 2 when the matrix is not positive definite."""
    x, r, p, q = np.zeros_like(rhs), rhs.copy(), rhs.copy(), np.empty_like(rhs)
    squared = np.dot(r, r)
    enough = tolerance * tolerance * squared
    for k in range(max_iterations + 1):
        if squared <= enough:
            return x, k, 0
        if k == max_iterations:
            break
        curvature = multiply(row_offsets, column_indices, values, p, q)
        if not curvature > 0.0:
            return x, k, 2
        before = squared
        squared = advance(squared / curvature, p, q, x, r)
        turn(r, squared / before, p)
    return x, max_iterations, 1
