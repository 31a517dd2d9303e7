"""Sums, groups, rearrangements and transposes against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import marked, primitives
from kernels.amg.arrays import Csr, host_ints


@pytest.mark.parametrize("n", [1, 255, 4095, 4096, 4097, 70000])
def test_exclusive_sum(device, n):
    counts = np.random.default_rng(n).integers(0, 9, n).astype(np.int32)
    found = device.zeros(2, np.int32)
    offsets, cursors = primitives.exclusive_sum(device, device.array(counts), with_cursors=True, totals=found, place=1)
    expected = np.concatenate([[0], np.cumsum(counts)])
    assert np.array_equal(device.to_host(offsets), expected)
    assert np.array_equal(device.to_host(cursors), expected[:-1])
    assert host_ints(device, found) == [0, expected[-1]]


def test_a_total_beyond_32_bits_is_refused(device):
    found = device.zeros(1, np.int32)
    for last, length in ((0, 3), (-1, 3), (0, 5000)):  # in one chunk and in several
        counts = np.zeros(length, dtype=np.int32)
        counts[:2] = 2**30, 2**30 + last
        primitives.exclusive_sum(device, device.array(counts), totals=found)
        if last:
            assert host_ints(device, found) == [2**31 - 1]
        else:
            with pytest.raises(ValueError, match="more entries than 32-bit offsets can address"):
                host_ints(device, found)


def test_members_of_groups_are_ascending(device):
    labels = np.random.default_rng(0).integers(-1, 40, 5000).astype(np.int32)
    labels[labels == 7] = 8  # an empty group
    groups = primitives.group_members(device, device.array(labels), 40)
    offsets, members = device.to_host(groups.offsets), device.to_host(groups.columns)
    for label in range(40):
        assert np.array_equal(members[offsets[label] : offsets[label + 1]], np.nonzero(labels == label)[0])


def random_matrix(rows, columns, seed):
    matrix = scipy.sparse.random(rows, columns, 0.02, format="lil", random_state=seed)
    matrix[3, :] = 1.0  # longer than what a row stages
    matrix[5, :] = 0.0
    return matrix.tocsr()


def placed(device, matrix):
    arrays = ((matrix.indptr, np.int32), (matrix.indices, np.int32), (matrix.data, np.float64))
    return Csr(matrix.shape, *(device.array(a.astype(dtype)) for a, dtype in arrays))


def fetched(device, ours):
    arrays = tuple(np.array(device.to_host(a)) for a in (ours.values, ours.columns, ours.offsets))
    return scipy.sparse.csr_matrix(arrays, ours.shape)


def assert_same_arrays(ours, expected):
    expected.sort_indices()
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(ours, name), getattr(expected, name)), name


def test_rows_and_columns_in_a_new_order(device):
    matrix = random_matrix(300, 300, 1)
    order = np.random.default_rng(2).permutation(300).astype(np.int32)
    on_device = device.array(order)
    rank = primitives.inverse_permutation(device, on_device)
    assert np.array_equal(device.to_host(rank), np.argsort(order))
    ours = primitives.rearranged(device, placed(device, matrix), on_device, rank)
    assert_same_arrays(fetched(device, ours), matrix[order][:, order].tocsr())


@pytest.mark.parametrize("columns", [64, 65, 1024, 1025, 3000])
def test_long_rows_in_a_new_order(device, columns):
    matrix = random_matrix(9, columns, columns)
    rank = np.random.default_rng(columns).permutation(columns).astype(np.int32)
    ours = primitives.rearranged(device, placed(device, matrix), rank=device.array(rank))
    assert_same_arrays(fetched(device, ours), matrix[:, np.argsort(rank)].tocsr())


def test_duplicates_are_counted(device):
    offsets, columns = np.array([0, 3, 5], np.int32), np.array([1, 0, 1, 1, 0], np.int32)
    matrix = Csr((2, 2), device.array(offsets), device.array(columns), device.array(np.ones(5)))
    duplicates = device.zeros(1, np.int32)
    primitives.rearranged(device, matrix, duplicates=duplicates)
    assert device.to_host(duplicates)[0] == 2


@pytest.mark.parametrize("transposed", [primitives.transposed, marked.transposed])
def test_transpose(device, transposed):
    matrix = random_matrix(250, 170, 3)
    ours = transposed(device, placed(device, matrix))
    assert_same_arrays(fetched(device, ours), matrix.T.tocsr())
