"""MKL, CSR of square blocks, inspected, on all threads."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.spmv._mkl import Inspected
from baselines.spmv._rival import INDEX_BYTES
from repro import Skip

BACKEND = "host"
ROW_MAJOR = 101


class Packed(Inspected):
    """Blocks whose values stand row by row.

    Parameters
    ----------
    size : int
        Rows and columns of a block.
    """

    layout = "bsr"

    def describe(self, csr, size: int = 3):
        rows, columns = self.shape
        if rows % size or columns % size:
            raise Skip(f"{rows} × {columns} is not made of {size} × {size} blocks")
        matrix = scipy.sparse.csr_array(csr).tobsr((size, size))
        self.stored = matrix.data.size
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES / size**2
        self.arrays = {
            "row_offsets": matrix.indptr.astype(np.int32), "columns": matrix.indices.astype(np.int32),
            "values": matrix.data.astype(self.dtype).reshape(-1),
        }  # fmt: skip
        return ROW_MAJOR, rows // size, columns // size, size, *self.pointers()
