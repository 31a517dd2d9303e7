"""Values for matrices of which only the structure is known: the same bits on every machine."""

import numpy as np

BITS = 20


def filled(offsets, columns, symmetric=True):
    """Return a square CSR matrix of this structure whose entries off the diagonal are between -1 and 0.

    They are multiples of 2^-20, a hash of row and column, so that the sums on the diagonal, where the structure has
    one, are exact in any order: it is one plus the other entries' sizes, which makes the matrix diagonally dominant,
    and positive definite where it is symmetric.

    Parameters
    ----------
    offsets, columns : ndarray of int
        The structure, columns sorted within each row.
    symmetric : bool
        Whether the values at (i, j) and (j, i) are the same.
    """
    import scipy.sparse

    n = len(offsets) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    first, second = (np.minimum(rows, columns), np.maximum(rows, columns)) if symmetric else (rows, columns)
    sizes = mixed(first.astype(np.uint64) << np.uint64(32) | second.astype(np.uint64)) >> np.uint64(64 - BITS)
    values = -(sizes.astype(np.float64) + 1) / 2.0**BITS
    diagonal = rows == columns
    values[diagonal] = 0
    sums = np.bincount(rows, weights=values, minlength=n)
    values[diagonal] = 1 - sums[rows[diagonal]]
    return scipy.sparse.csr_matrix((values, columns, np.asarray(offsets, dtype=np.int32)), shape=(n, n))


def mixed(numbers):
    """Return 64-bit hashes of 64-bit numbers: the finaliser of the generator SplitMix64."""
    numbers = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
