"""Compiled by Numba: CSR, on one thread or on all.

Each product is one parallel loop with the vector update and the sum that follow it. An iteration of Jacobi's has two
further loops, and a polynomial has one more product for each order.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba import njit, prange

from baselines.polynomial_cg.scaling import scaled

LIBRARIES = ("numba",)
NO_POLYNOMIAL = np.zeros(0)
# Sums may be reordered, so that loops become vector instructions; NaN and infinity stay what they are.
FAST = {"reassoc", "contract", "arcp", "nsz"}


class Outcome(NamedTuple):
    """Outcome of a solve: 'converged' or 'iteration limit', after how many iterations, with which ‖r‖/‖b‖."""

    status: str
    iterations: int
    residual: float


class Solver:
    """Conjugate gradients on the scaled system D^-1/2 A D^-1/2.

    Parameters
    ----------
    matrix : scipy.sparse CSR
        Symmetric positive definite.
    polynomial : object, optional
        With `coefficients` of a Chebyshev series on `interval` = (a, b); None is Jacobi, the scaling alone.
    threads : int, optional
        By default all that Numba has.
    """

    def __init__(self, matrix, polynomial=None, threads: int | None = None):
        self.polynomial = polynomial
        self.matrix, self._factors = scaled(matrix)
        # Numba wraps signed indices, in case they are negative, which takes longer.
        self._pattern = self.matrix.indptr.astype(np.uint32), self.matrix.indices.astype(np.uint32)
        self._series = NO_POLYNOMIAL if polynomial is None else np.array(polynomial.coefficients, dtype=np.float64)
        self._interval = (0.0, 1.0) if polynomial is None else tuple(map(float, polynomial.interval))
        self.threads = threads or self.most_threads()
        self._vectors = np.zeros((6, self.matrix.shape[0]))
        self._b = np.zeros(self.matrix.shape[0])

    @staticmethod
    def most_threads() -> int:
        """Return how many threads Numba has."""
        return numba.config.NUMBA_NUM_THREADS

    def load(self, b) -> None:
        """Scale a right-hand side, (n,) float64, for `run`."""
        self._b = self._factors * b

    def run(self, tolerance: float = 1e-6, max_iterations: int = 20000) -> Outcome:
        """Solve the loaded system until ‖r‖ <= tolerance ‖b‖, both of the scaled system."""
        matrix, before = self.matrix, numba.get_num_threads()
        numba.set_num_threads(min(self.threads, numba.config.NUMBA_NUM_THREADS))
        try:
            iterations, residual = _solve(
                *self._pattern, matrix.data, self._series, *self._interval, self._b, self._vectors,
                tolerance, max_iterations,
            )  # fmt: skip
        finally:
            numba.set_num_threads(before)
        return Outcome("converged" if residual <= tolerance else "iteration limit", iterations, residual)

    def solution(self) -> np.ndarray:
        """Return x of the unscaled system."""
        return self._factors * self._vectors[0]


@njit(parallel=True, cache=True)  # additions in order: of rows as short as these, gathers took longer
def _combine(offsets, columns, values, x, of_product, of_x, of_r, r, of_before, before, out):
    """Compute out = of_product A x + of_x x + of_r r + of_before before; return out·r. `out` may be `before`."""
    product = 0.0
    for i in prange(offsets.size - 1):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += values[j] * x[columns[j]]
        total = of_product * total + of_x * x[i] + of_r * r[i]
        if of_before != 0.0:
            total += of_before * before[i]
        out[i] = total
        product += total * r[i]
    return product


@njit(parallel=True, cache=True)
def _multiply(offsets, columns, values, p, q):
    """Compute q = A p; return p·q."""
    product = 0.0
    for i in prange(offsets.size - 1):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += values[j] * p[columns[j]]
        q[i] = total
        product += total * p[i]
    return product


@njit(parallel=True, fastmath=FAST, cache=True)
def _advance(step, p, q, x, r):
    total = 0.0
    for i in prange(x.size):
        x[i] += step * p[i]
        r[i] -= step * q[i]
        total += r[i] * r[i]
    return total


@njit(parallel=True, fastmath=FAST, cache=True)
def _direct(z, turn, p):
    for i in prange(p.size):
        p[i] = z[i] + turn * p[i]


@njit(cache=True)
def _apply(offsets, columns, values, series, a, b, r, first, second):
    """Return z = s(A) r, which lies in `first` or `second`, and r·z, by Clenshaw's recurrence; the order is not 0.

    The two vectors that it begins with are 0 and a multiple of r: they are not written.
    """
    order = series.size - 1
    slope, shift, highest = 2.0 / (b - a), -(a + b) / (b - a), series[order]
    now, out, rz = r, first, 0.0
    for step in range(order):
        k = order - 1 - step
        factor = (2.0 if k > 0 else 1.0) * (highest if step == 0 else 1.0)
        of_r = series[k] - (highest if step == 1 else 0.0)
        of_before = -1.0 if step > 1 else 0.0
        rz = _combine(offsets, columns, values, now, factor * slope, factor * shift, of_r, r, of_before, out, out)
        now, out = out, (now if step else second)
    return now, rz


@njit(cache=True)
def _solve(offsets, columns, values, series, a, b, rhs, vectors, tolerance, max_iterations):
    x, r, p, q, first, second = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    x[:] = 0.0
    p[:] = 0.0
    r[:] = rhs
    rr = np.sum(rhs * rhs)
    norm = np.sqrt(rr)
    if norm == 0.0:
        return 0, 0.0
    residual, rz_before = 1.0, 1.0
    for iteration in range(max_iterations):
        # A polynomial of order 0 is a factor, on which the iterates do not depend.
        z, rz = _apply(offsets, columns, values, series, a, b, r, first, second) if series.size > 1 else (r, rr)
        _direct(z, rz / rz_before if iteration else 0.0, p)
        rr = _advance(rz / _multiply(offsets, columns, values, p, q), p, q, x, r)
        residual, rz_before = np.sqrt(rr) / norm, rz
        if residual <= tolerance:
            return iteration + 1, residual
    return max_iterations, residual
