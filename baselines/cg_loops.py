"""The loops of conjugate gradients on a processor, compiled by Numba: CSR, on as many threads as Numba has been given.

Three passes over memory an iteration: the product with p·Ap, the step with r·r, the next direction.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

LIBRARIES = ("numba",)
# Sums may be reordered, so that loops become vector instructions; NaN and infinity stay what they are.
FAST = {"reassoc", "contract", "arcp", "nsz"}


def pattern(matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the row offsets and column indices of a CSR matrix, both uint32.

    Numba wraps signed indices, in case they are negative, which takes longer.
    """
    return matrix.indptr.astype(np.uint32), matrix.indices.astype(np.uint32)


@njit(parallel=True, cache=True)  # additions in order: of rows as short as these, gathers took longer
def multiply(row_offsets, column_indices, values, p, q):
    """Compute q = A p; return p·q."""
    product = 0.0
    for i in prange(p.size):
        total = 0.0
        for k in range(row_offsets[i], row_offsets[i + 1]):
            total += values[k] * p[column_indices[k]]
        q[i] = total
        product += total * p[i]
    return product


@njit(parallel=True, fastmath=FAST, cache=True)
def advance(step, p, q, x, r):
    """Add step p to x and -step q to r, where q = A p; return r·r."""
    total = 0.0
    for i in prange(x.size):
        x[i] += step * p[i]
        r[i] -= step * q[i]
        total += r[i] * r[i]
    return total


@njit(parallel=True, fastmath=FAST, cache=True)
def turn(z, share, p):
    """Compute p = z + share p, the next direction."""
    for i in prange(p.size):
        p[i] = z[i] + share * p[i]
