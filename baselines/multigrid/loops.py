"""The paper's V-cycle in loops compiled by Numba, on as many threads as are asked for: its SSE and MCSSE of today.

A loop runs over rows, with the vector operations around a product in it; norms, too, are on all threads.
"""

from __future__ import annotations

import math
from contextlib import contextmanager

import numba
import numpy as np
from numba import njit, prange

from baselines.multigrid.cycle import Cycle

LIBRARIES = ("numba",)
SHORT = 2000  # rows for which waking other threads costs more than they save
MATH = {"reassoc", "contract"}  # additions in any order, so that they become vector instructions


def threads_there() -> int:
    """Return how many threads there are at most."""
    return int(numba.config.NUMBA_NUM_THREADS)


@contextmanager
def use_threads(count: int):
    """Let Numba's loops run on so many threads; what comes after, as the probes of ceilings, has as many as before."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)


class NumbaCycle(Cycle):
    """CSR by rows.

    Parameters
    ----------
    threads : int, optional
        By default all.
    """

    def __init__(self, grids, threads: int | None = None, **settings):
        self.threads = threads or threads_there()
        super().__init__(grids, **settings)

    def prepare(self):
        self.matrices = [_csr(grid.matrix) for grid in self.grids]
        self.prolongators = [None if g.prolongator is None else _csr(g.prolongator) for g in self.grids]
        self.restrictors = [None if g.prolongator is None else _csr(g.prolongator.T.tocsr()) for g in self.grids]

    def solve(self, *arguments, **settings):
        with use_threads(self.threads):
            return super().solve(*arguments, **settings)

    def go_on(self, cycles=1):
        with use_threads(self.threads):
            return super().go_on(cycles)

    def _wake(self, out):
        """Let the loop over `out` run on this thread alone where it is short, else on all that are asked for."""
        numba.set_num_threads(1 if out.size <= SHORT else self.threads)

    def scale(self, level, b, out):
        self._wake(out)
        _scale(b, self.inverse_diagonals[level], self.damping, out)

    def update(self, level, x, d, out):
        self._wake(out)
        _update(x, d, self.inverse_diagonals[level], self.damping, out)

    def relax(self, level, x, b, out):
        self._wake(out)
        _relax(*self.matrices[level], x, b, self.inverse_diagonals[level], self.damping, out)

    def find_defect(self, level, x, b, out):
        self._wake(out)
        _combined(*self.matrices[level], x, b, -1.0, out)

    def restrict(self, level, d, out):
        self._wake(out)
        _product(*self.restrictors[level], d, out)

    def prolong(self, level, c, x):
        self._wake(x)
        _combined(*self.prolongators[level], c, x, 1.0, x)

    def norm(self, d):
        self._wake(d)
        return math.sqrt(_squares(d))


def _csr(matrix):
    # Unsigned: Numba wraps signed indices, in case they are negative, which takes longer.
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data


@njit(parallel=True, fastmath=MATH, cache=True)
def _scale(b, inverse_diagonal, damping, out):
    for row in prange(out.size):
        out[row] = damping * inverse_diagonal[row] * b[row]


@njit(parallel=True, fastmath=MATH, cache=True)
def _update(x, d, inverse_diagonal, damping, out):
    for row in prange(out.size):
        out[row] = x[row] + damping * inverse_diagonal[row] * d[row]


@njit(parallel=True, fastmath=MATH, cache=True)
def _squares(d):
    total = 0.0
    for row in prange(d.size):
        total += d[row] * d[row]
    return total


@njit(parallel=True, fastmath=MATH, cache=True)
def _relax(offsets, columns, values, x, b, inverse_diagonal, damping, out):
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = x[row] + damping * inverse_diagonal[row] * (b[row] - total)


@njit(parallel=True, fastmath=MATH, cache=True)
def _combined(offsets, columns, values, x, b, factor, out):
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = b[row] + factor * total


@njit(parallel=True, fastmath=MATH, cache=True)
def _product(offsets, columns, values, x, out):
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = total
