"""A loop over the rows of a CSR matrix, compiled by Numba, on all threads."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numba import njit, prange

from baselines.spmv._rival import Rival

LIBRARIES = ("numba",)
BACKEND = "host"


class Packed(Rival):
    """CSR with unsigned 32-bit indices: signed ones, which Numba wraps in case they are negative, take longer."""

    def prepare(self, csr):
        matrix = scipy.sparse.csr_array(csr)
        self.arrays = {
            "row_offsets": matrix.indptr.astype(np.uint32),
            "columns": matrix.indices.astype(np.uint32),
            "values": matrix.data.astype(self.dtype, copy=False),
        }

    def multiply(self, x, y, alpha=1.0, beta=0.0):
        real = self.dtype.type
        _multiply(*self.arrays.values(), x, y, real(alpha), real(beta))


# Additions in order: of rows as short as these, gathers into vectors took longer.
@njit(parallel=True, cache=True)
def _multiply(row_offsets, columns, values, x, y, alpha, beta):
    for row in prange(y.size):
        total = values.dtype.type(0)
        for k in range(row_offsets[row], row_offsets[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = alpha * total if beta == 0 else alpha * total + beta * y[row]
