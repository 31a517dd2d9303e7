"""The paper's V-cycle in loops compiled by Numba, on as many threads as are asked for: its SSE and MCSSE of today.

A loop runs over rows, with the vector operations around a product in it.
"""

from __future__ import annotations

from contextlib import contextmanager

import numba
import numpy as np
from numba import njit, prange

from baselines.multigrid.cycle import Cycle

LIBRARIES = ("numba",)
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

    def relax(self, level, x, b):
        return _relax(*self.matrices[level], x, b, self.inverse_diagonals[level], self.damping)

    def defect(self, level, x, b):
        return _combined(*self.matrices[level], x, b, -1.0)

    def restrict(self, level, d):
        return _product(*self.restrictors[level], d)

    def prolong(self, level, c, x):
        return _combined(*self.prolongators[level], c, x, 1.0)


def _csr(matrix):
    # Unsigned: Numba wraps signed indices, in case they are negative, which takes longer.
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32), matrix.data


@njit(parallel=True, fastmath=MATH, cache=True)
def _relax(offsets, columns, values, x, b, inverse_diagonal, damping):
    out = np.empty_like(x)
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = x[row] + damping * inverse_diagonal[row] * (b[row] - total)
    return out


@njit(parallel=True, fastmath=MATH, cache=True)
def _combined(offsets, columns, values, x, b, factor):
    out = np.empty_like(b)
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = b[row] + factor * total
    return out


@njit(parallel=True, fastmath=MATH, cache=True)
def _product(offsets, columns, values, x):
    out = np.empty(offsets.size - 1)
    for row in prange(out.size):
        total = 0.0
        for k in range(offsets[row], offsets[row + 1]):
            total += values[k] * x[columns[k]]
        out[row] = total
    return out
