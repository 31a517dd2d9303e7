"""Matrices that the tests of the formats go through."""

import numpy as np
import scipy.sparse


def with_lengths(lengths, columns, seed=0):
    """A matrix whose rows have these lengths, columns drawn at random, in random order."""
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    indices = [random.permutation(columns)[:length] for length in lengths]
    indices = np.concatenate(indices) if len(lengths) else np.zeros(0, int)
    return scipy.sparse.csr_array((random.normal(size=offsets[-1]), indices, offsets), shape=(len(lengths), columns))


def elasticity(n, size, seed=0):
    """The pattern of `size` unknowns a node on a grid of n^size nodes, each coupled with the nodes of its elements."""
    line = scipy.sparse.diags_array([np.ones(n - abs(k)) for k in (-1, 0, 1)], offsets=(-1, 0, 1))
    grid = line
    for _ in range(size - 1):
        grid = scipy.sparse.kron(grid, line)
    matrix = scipy.sparse.kron(grid, np.ones((size, size))).tocsr()
    matrix.data = np.random.default_rng(seed).normal(size=matrix.nnz)
    return scipy.sparse.csr_array(matrix)


def with_duplicates():
    random = np.random.default_rng(5)
    rows = np.sort(random.integers(0, 40, 500))
    offsets = np.searchsorted(rows, np.arange(41))
    return scipy.sparse.csr_array((random.normal(size=500), random.integers(0, 30, 500), offsets), shape=(40, 30))


def one_dense_row():
    lengths = np.full(300, 3)
    lengths[117] = 5000
    return with_lengths(lengths, 5000)


MATRICES = {
    "no rows": lambda: scipy.sparse.csr_array((0, 7)),
    "no columns": lambda: scipy.sparse.csr_array((7, 0)),
    "nothing": lambda: scipy.sparse.csr_array((0, 0)),
    "no entries": lambda: scipy.sparse.csr_array((67, 45)),
    "one entry": lambda: with_lengths([1], 1),
    "empty rows": lambda: with_lengths(np.random.default_rng(1).integers(0, 3, 500), 90),
    "mostly empty": lambda: with_lengths((np.arange(3000) % 997 == 5).astype(int) * 40, 50),
    "first and last empty": lambda: with_lengths([0] * 70 + [4] * 40 + [0] * 90, 40),
    "one dense row": one_dense_row,
    "only a dense row": lambda: with_lengths([9000], 9000),
    "two long rows that meet": lambda: with_lengths([3, 5000, 4000, 0, 2], 6000),
    "wide": lambda: with_lengths(np.random.default_rng(2).integers(0, 60, 40), 3000),
    "tall": lambda: with_lengths(np.random.default_rng(3).integers(0, 5, 3000), 17),
    "duplicates": with_duplicates,
    "quad": lambda: elasticity(13, 2),
    "hex": lambda: elasticity(6, 3),
    "ragged": lambda: with_lengths(np.random.default_rng(4).geometric(0.1, 700), 800),
}
