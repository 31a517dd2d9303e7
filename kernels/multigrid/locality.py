"""The amount of x that a product moves, counted in the pattern alone: the effect of a numbering on caches.

On an H200 the counters of Nsight Compute bear it out: what multiprocessors read of x from the second-level cache
follows the sectors that warps touch each for itself, where neighbouring warps share none (STO), and is less where they
do (XYZ, HIE). From memory every numbering reads the same, since that cache holds all of x. Notes:
docs/notes/multigrid.md.
"""

from __future__ import annotations

import numpy as np


def bytes_of_x(matrix, rows: int, line: int = 32, xp=np) -> int:
    """Return the bytes of x that are moved when a cache keeps what `rows` rows in a row touch, and then forgets it.

    With 32 rows and lines of 32 bytes these are the sectors that a warp asks for; with thousands of rows what comes
    from memory through a cache of their size. At best x moves once: 8 bytes a row.

    Parameters
    ----------
    matrix : CSR matrix
    rows, line : int
        Rows of a group; bytes of what a cache moves at a time.
    xp : module
        Of the matrix's arrays.
    """
    count = matrix.shape[0]
    groups = -(-count // rows)
    lines = -(-8 * matrix.shape[1] // line)
    bounds = matrix.indptr[xp.minimum(xp.arange(groups + 1) * rows, count)]
    group = xp.searchsorted(bounds[1:], xp.arange(matrix.nnz, dtype=bounds.dtype), side="right")
    touched = group.astype(np.int64) * lines + matrix.indices.astype(np.int64) * 8 // line
    touched.sort()  # NumPy's `unique` puts integers into a table, a hundred times slower
    return (min(1, touched.size) + int(xp.count_nonzero(touched[1:] != touched[:-1]))) * line


def bandwidth(matrix, xp=np) -> int:
    """Return the largest distance of an entry from the diagonal."""
    entry = xp.arange(matrix.nnz, dtype=matrix.indptr.dtype)
    row = xp.searchsorted(matrix.indptr[1:], entry, side="right")
    return int(xp.abs(row - matrix.indices).max()) if matrix.nnz else 0
