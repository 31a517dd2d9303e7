"""The scaled system on the host, by SciPy."""

from __future__ import annotations

import numpy as np
import scipy.sparse


def scaled(matrix) -> tuple[scipy.sparse.csr_array, np.ndarray]:
    """Return D^-1/2 A D^-1/2 as CSR with sorted columns, and the diagonal of D^-1/2."""
    factors = 1 / np.sqrt(matrix.diagonal())
    diagonal = scipy.sparse.diags_array(factors)
    result = scipy.sparse.csr_array(diagonal @ scipy.sparse.csr_array(matrix) @ diagonal)
    result.sort_indices()
    return result, factors
