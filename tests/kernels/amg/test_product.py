"""Sparse products of the set-up against SciPy: rows that are empty, short, and longer than each table."""

import numpy as np
import pytest
import scipy.sparse

from kernels.amg.product import multiplied
from tests.kernels.amg.test_primitives import assert_same_arrays, fetched, placed


def whole_numbers(rows, columns, lengths, seed=0):
    """A matrix whose sums are exact in any order; no sum of its products is zero."""
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(np.minimum(lengths, columns))])
    picked = [np.sort(random.permutation(columns)[:length]) for length in np.diff(offsets)]
    entries = random.integers(1, 9, offsets[-1]).astype(float)
    return scipy.sparse.csr_array((entries, np.concatenate(picked), offsets), shape=(rows, columns))


@pytest.mark.parametrize("longest", [3, 40, 200, 900, 1900])
def test_products(device, longest):
    random = np.random.default_rng(longest)
    x = whole_numbers(150, 130, np.append(random.integers(0, 6, 149), 130))
    y = whole_numbers(130, 2000, np.append(random.integers(0, 4, 129), longest), 1)
    assert_same_arrays(fetched(device, multiplied(device, placed(device, x), placed(device, y))), (x @ y).tocsr())
