"""How much of x a product moves, counted in the pattern alone: what a numbering does to caches.

On an H200 the counters of Nsight Compute bear it out. For Q1 on CIRCLE's level 9 in ELLPACK-R the multiprocessors read
101, 72, 90, 194 and 67 MB from the second-level cache in 2LV, CM, XYZ, STO and HIE, of which the matrix is 59; what is
left for x, 43, 13, 31, 136 and 8 MB, compares with 45, 15, 75, 138 and 15 MB of sectors that warps touch each for
itself: neighbouring warps share in XYZ and HIE, and not at all in STO, which reads x 32 times. From memory come 63 MB
in every numbering, since that cache holds all of x: there it is its traffic, and not the memory's, that doubles.
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
    touched = group.astype(np.int64) * lines + matrix.indices * 8 // line
    return int(xp.unique(touched).size) * line


def bandwidth(matrix, xp=np) -> int:
    """Return the largest distance of an entry from the diagonal."""
    entry = xp.arange(matrix.nnz, dtype=matrix.indptr.dtype)
    row = xp.searchsorted(matrix.indptr[1:], entry, side="right")
    return int(xp.abs(row - matrix.indices).max()) if matrix.nnz else 0
