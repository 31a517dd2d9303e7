"""Sparse products against SciPy's, of rows that fit into the first table and of rows that do not."""

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import marked, primitives, product
from kernels.amg.arrays import Csr


def placed(device, matrix):
    arrays = ((matrix.indptr, np.int32), (matrix.indices, np.int32), (matrix.data, np.float64))
    return Csr(matrix.shape, *(device.array(array, dtype) for array, dtype in arrays))


def test_rows_of_all_lengths(device, monkeypatch):
    """Most rows have fewer entries than the first table slots, some overflow it, and a few the second as well."""
    sizes = ((64, 8, 16), (64, 32, 64), (64, 64, 1024))
    monkeypatch.setattr(product, "_configurations", lambda device, first: iter(sizes[first:]))
    monkeypatch.setattr(marked, "ROWS", 8)  # several parts
    few, more, most = (scipy.sparse.random(400, 500, share, "csr", random_state=1) for share in (0.002, 0.03, 0.4))
    x = scipy.sparse.vstack((few, more[:50], most[:5], few[:3])).tocsr()
    y = scipy.sparse.random(500, 700, 0.01, "csr", random_state=2)
    x.sort_indices(), y.sort_indices()
    expected = (x @ y).tocsr()
    expected.sort_indices()
    lengths = np.diff(expected.indptr)
    assert lengths.min() == 0 and ((lengths > 16) & (lengths <= 64)).any() and (lengths > 64).any()
    x, y = placed(device, x), placed(device, y)
    for found in (marked.multiplied(device, x, y), *(product.in_tables(device, x, y, first) for first in (0, 1))):
        offsets, columns, values = (
            np.array(device.to_host(array)) for array in (found.offsets, found.columns, found.values)
        )
        assert np.array_equal(offsets, expected.indptr) and np.array_equal(columns, expected.indices)
        assert np.allclose(values, expected.data, rtol=1e-13, atol=0)


@pytest.mark.parametrize("length", [1023, 1024, 1025, 1500])
def test_long_rows_and_rows_that_were_left_as_they_were_found(device, length):
    """X of one long row and one empty one; Y and Z bring its columns out of order and together again."""
    random = np.random.default_rng(length)
    x = scipy.sparse.csr_matrix(np.vstack((random.random(length) + 1, np.zeros(length))))
    y, z = (scipy.sparse.eye(length, format="csr")[random.permutation(length)] for _ in range(2))
    between = product.multiplied(device, placed(device, y), placed(device, z), loose=True)
    found = marked.multiplied(device, placed(device, x), between)
    assert np.array_equal(device.to_host(found.offsets), [0, length, length])
    assert np.array_equal(device.to_host(found.columns), np.arange(length))
    assert np.array_equal(device.to_host(found.values), (x @ y @ z).toarray()[0])


def test_a_row_beyond_all_tables_is_refused(device, monkeypatch):
    monkeypatch.setattr(product, "_configurations", lambda device, first: iter([(64, 8, 16)]))
    row = placed(device, scipy.sparse.csr_matrix(np.ones((1, 17))))
    with pytest.raises(ValueError, match="a row of a product has more entries than a table of 16 slots takes"):
        product.in_tables(device, row, placed(device, scipy.sparse.eye(17, format="csr")))


def test_rows_as_they_were_found_are_settled_and_transposed(device):
    """A processor leaves them so; columns get new numbers in the same go."""
    x, y = (scipy.sparse.random(700, 700, 0.01, "csr", random_state=seed) for seed in (3, 4))
    rank = np.random.default_rng(5).permutation(700).astype(np.int32)
    found = product.multiplied(device, placed(device, x), placed(device, y), loose=True)
    turned = (primitives if device.is_gpu else marked).transposed(device, found)
    for ours, expected in (
        (turned, (x @ y).T),
        (product.settled(device, found), x @ y),
        (product.settled(device, found, device.array(rank)), (x @ y)[:, np.argsort(rank)]),
    ):
        expected = expected.tocsr()
        expected.sort_indices()
        assert np.array_equal(device.to_host(ours.offsets), expected.indptr)
        assert np.array_equal(device.to_host(ours.columns), expected.indices)
        assert np.allclose(device.to_host(ours.values), expected.data, rtol=1e-13, atol=0)
