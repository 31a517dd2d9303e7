"""Bytes that ELLPACK-R stores of a matrix (geveler2011, section 3.1), by its row lengths alone: nothing is packed."""

from __future__ import annotations

import numpy as np

VALUE, COLUMN, LENGTH = 8, 4, 4  # bytes


def ellpack_bytes(matrix) -> int:
    """Return the bytes of a CSR matrix in ELLPACK-R: every row as wide as the longest, and the lengths."""
    rows = matrix.shape[0]
    longest = int(np.diff(matrix.indptr).max(initial=0))
    return rows * (longest * (VALUE + COLUMN) + LENGTH)
