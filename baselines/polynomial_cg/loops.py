"""Compiled by Numba: CSR, each product fused with the vector update that follows it, on one thread or on all."""

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
    """How a solve ended: 'converged' or 'iteration limit', after how many iterations, with which ‖r‖/‖b‖."""

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
    """Compute out = of_product A x + of_x x + of_r r + of_before before; `out` may be `before`."""
    for i in prange(offsets.size - 1):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += values[j] * x[columns[j]]
        total *= of_product
        if of_x != 0.0:
            total += of_x * x[i]
        if of_r != 0.0:
            total += of_r * r[i]
        if of_before != 0.0:
            total += of_before * before[i]
        out[i] = total


@njit(parallel=True, fastmath=FAST, cache=True)
def _dot(x, y):
    total = 0.0
    for i in prange(x.size):
        total += x[i] * y[i]
    return total


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
    """Return s(A) r, which lies in `first` or `second`, by Clenshaw's recurrence."""
    order = series.size - 1
    slope, shift = 2.0 / (b - a), -(a + b) / (b - a)
    first[:] = 0.0
    second[:] = series[order] * r
    for k in range(order - 1, -1, -1):
        factor = 2.0 if k > 0 else 1.0
        _combine(offsets, columns, values, second, factor * slope, factor * shift, series[k], r, -1.0, first, first)
        first, second = second, first
    return second


@njit(cache=True)
def _solve(offsets, columns, values, series, a, b, rhs, vectors, tolerance, max_iterations):
    x, r, p, q, first, second = vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]
    x[:] = 0.0
    p[:] = 0.0
    r[:] = rhs
    norm = np.sqrt(_dot(rhs, rhs))
    if norm == 0.0:
        return 0, 0.0
    residual, rz_before = 1.0, 1.0
    for iteration in range(max_iterations):
        z = _apply(offsets, columns, values, series, a, b, r, first, second) if series.size else r
        rz = _dot(r, z)
        _direct(z, rz / rz_before if iteration else 0.0, p)
        _combine(offsets, columns, values, p, 1.0, 0.0, 0.0, r, 0.0, r, q)
        residual = np.sqrt(_advance(rz / _dot(p, q), p, q, x, r)) / norm
        rz_before = rz
        if residual <= tolerance:
            return iteration + 1, residual
    return max_iterations, residual
