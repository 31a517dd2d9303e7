"""Conjugate gradients without a preconditioner in loops compiled by Numba, on all threads."""

from __future__ import annotations

import numba
import numpy as np
from numba import njit, prange

from baselines.solvers.rival import Rival

LIBRARIES = ("numba",)
TITLE = "CG without a preconditioner, loops compiled by Numba on all threads, CSR"


class ConjugateGradients(Rival):
    """Three passes over memory an iteration: A p with p·Ap, the step with ‖r‖, the next direction."""

    has_set_up = False

    def __init__(self, *system):
        super().__init__(*system)
        self.threads = numba.get_num_threads()
        # Numba wraps signed indices, in case they are negative, which takes longer.
        self._pattern = (self.matrix.indptr.astype(np.uint32), self.matrix.indices.astype(np.uint32))

    def solve(self):
        system = (*self._pattern, self.matrix.data, self.rhs)
        self.x, self.iterations, ending = _solve(*system, self.tolerance, self.max_iterations)
        self._ended(ending == 0, "p·Ap is not positive" if ending == 2 else "the limit")


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    return ConjugateGradients(matrix, rhs, tolerance, max_iterations)


# They stand in `baselines.polynomial_cg.loops`, too: a cached `_solve` would not see changes in another file.
@njit(cache=True, parallel=True)
def _multiply(row_offsets, column_indices, values, p, q):
    total = 0.0
    for i in prange(p.size):
        dot = 0.0
        for k in range(row_offsets[i], row_offsets[i + 1]):
            dot += values[k] * p[column_indices[k]]
        q[i] = dot
        total += dot * p[i]
    return total


@njit(cache=True, parallel=True)
def _advance(alpha, p, q, x, r):
    total = 0.0
    for i in prange(x.size):
        x[i] += alpha * p[i]
        new = r[i] - alpha * q[i]
        r[i] = new
        total += new * new
    return total


@njit(cache=True, parallel=True)
def _turn(beta, r, p):
    for i in prange(p.size):
        p[i] = r[i] + beta * p[i]


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
        curvature = _multiply(row_offsets, column_indices, values, p, q)
        if not curvature > 0.0:
            return x, k, 2
        before = squared
        squared = _advance(squared / curvature, p, q, x, r)
        _turn(squared / before, r, p)
    return x, max_iterations, 1
