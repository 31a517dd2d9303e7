"""Sparse approximate inverses with the pattern of the matrix: each row as near as it can to the inverse's.

Its steps are two products. On an H200 small levels bind a solve with it as they bind one with Jacobi's; see
`kernels.multigrid.solver`. Its set-up compares columns, and is bound by the pipe to L1. Notes: docs/notes/multigrid.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

SOURCE, BLOCK = Path(__file__).with_name("spai.c"), 256
BUILDS = [(SOURCE, BLOCK, {})]
CHUNK, GPU_CHUNK = 1 << 22, 1 << 25  # numbers of the small systems that are solved at once


def approximate_inverse(device, matrix):
    """Return the M with A's pattern whose rows minimise ‖e_i - m_i A‖ (Bröker and Grote 2002, the paper's [32]).

    With J the columns of row i, the normal equations are (A Aᵀ)[J, J] m = A[J, i]. Rows of one length are solved
    together.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : CSR matrix of `device.sparse`, square, sorted columns

    Returns
    -------
    CSR matrix
    """
    xp, count = device.xp, matrix.shape[0]
    kernel = device.build(SOURCE, block=BLOCK).equations
    arrays = [device.array(part, dtype) for part, dtype in
              ((matrix.indptr, np.int32), (matrix.indices, np.int32), (matrix.data, np.float64))]  # fmt: skip
    lengths = xp.diff(matrix.indptr)
    values = xp.empty(len(matrix.indices))
    for length in [int(length) for length in xp.unique(lengths)]:
        rows = xp.nonzero(lengths == length)[0].astype(np.int32)
        step = max(1, (CHUNK if xp is np else GPU_CHUNK) // length**2)
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            normal = device.empty(len(some) * length**2, np.float64)
            right = device.empty(len(some) * length, np.float64)
            numbers = len(some) * length * (length + 1)
            kernel(-(-numbers // BLOCK), numbers, length, device.array(some), *arrays, normal, right)
            if device.backend != "cuda":
                normal, right = device.to_host(normal), device.to_host(right)
            places = matrix.indptr[some][:, None] + xp.arange(length)
            found = xp.linalg.solve(normal.reshape(-1, length, length), right.reshape(-1, length, 1))
            values[places] = found[:, :, 0]
    return type(matrix)((values, matrix.indices.copy(), matrix.indptr.copy()), shape=(count, count))
