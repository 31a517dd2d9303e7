"""Sparse approximate inverses with the pattern of the matrix: each row as near as it can to the inverse's."""

from __future__ import annotations

import numpy as np

CHUNK = 1 << 22  # numbers of the small systems that are solved at once


def approximate_inverse(matrix, xp=np):
    """Return the M with A's pattern whose rows minimise ‖e_i - m_i A‖ (Bröker and Grote 2002, the paper's [32]).

    With J the columns of row i, the normal equations are (A Aᵀ)[J, J] m = A[J, i]. Rows of one length are solved
    together.

    Parameters
    ----------
    matrix : CSR matrix, square, sorted columns
    xp : module

    Returns
    -------
    CSR matrix
    """
    count = matrix.shape[0]
    transposed = matrix.T.tocsr()
    transposed.sort_indices()
    gram = (matrix @ transposed).tocsr()
    gram.sort_indices()
    offsets, columns = matrix.indptr, matrix.indices
    lengths = xp.diff(offsets)
    values = xp.empty(len(columns))
    lookups = _Lookup(gram, xp), _Lookup(matrix, xp)
    for length in [int(length) for length in xp.unique(lengths)]:
        rows = xp.nonzero(lengths == length)[0]
        step = max(1, CHUNK // length**2)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            places = offsets[some][:, None] + xp.arange(length)
            pattern = columns[places].astype(np.int64)
            normal = lookups[0](pattern[:, :, None], pattern[:, None, :])
            right = lookups[1](pattern, some[:, None].astype(np.int64))
            values[places] = xp.linalg.solve(normal, right[:, :, None])[:, :, 0]
    return type(matrix)((values, columns.copy(), offsets.copy()), shape=(count, count))


class _Lookup:
    """Entries of a CSR matrix by row and column."""

    def __init__(self, matrix, xp):
        rows = xp.repeat(xp.arange(matrix.shape[0]), xp.diff(matrix.indptr)) if xp is np else _rows(matrix, xp)
        self.xp, self.width, self.values = xp, matrix.shape[1], matrix.data
        self.keys = rows.astype(np.int64) * self.width + matrix.indices

    def __call__(self, rows, columns):
        keys = rows * self.width + columns
        place = self.xp.minimum(self.xp.searchsorted(self.keys, keys.ravel()), len(self.keys) - 1).reshape(keys.shape)
        return self.xp.where(self.keys[place] == keys, self.values[place], 0.0)


def _rows(matrix, xp):
    """Return each entry's row: CuPy's repeat takes no device array of counts."""
    return xp.searchsorted(matrix.indptr[1:], xp.arange(matrix.nnz, dtype=matrix.indptr.dtype), side="right")
