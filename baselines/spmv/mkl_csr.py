"""MKL, CSR, inspected, on all threads."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.spmv._mkl import Inspected

BACKEND = "host"


class Packed(Inspected):
    """CSR with 32-bit indices. MKL may keep a copy of its own in another layout, which `bytes` does not tell."""

    layout = "csr"

    def describe(self, csr):
        matrix = scipy.sparse.csr_array(csr)
        self.arrays = {
            "row_offsets": matrix.indptr.astype(np.int32), "columns": matrix.indices.astype(np.int32),
            "values": matrix.data.astype(self.dtype),
        }  # fmt: skip
        return *self.shape, *self.pointers()
