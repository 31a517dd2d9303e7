"""Sums of triplets against SciPy's."""

import numpy as np
import scipy.sparse

from kernels.sem.triplets import summed


def test_sums_of_random_triplets(device):
    random = np.random.default_rng(0)
    rows, columns = random.integers(50, size=(2, 4000)).astype(np.int32)
    rows[rows == 7] = 8  # a row without entries
    values = random.normal(size=4000)
    found = summed(device, *(device.xp.asarray(array) for array in (values, rows, columns)), 50)
    assert found.has_canonical_format
    found = found.get() if hasattr(found, "get") else found
    expected = scipy.sparse.coo_matrix((values, (rows, columns)), shape=(50, 50)).tocsr()
    assert (found.indptr == expected.indptr).all() and (found.indices == expected.indices).all()
    np.testing.assert_allclose(found.data, expected.data, atol=1e-13)
