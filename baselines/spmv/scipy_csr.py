"""SciPy's CSR product: one thread."""

from __future__ import annotations

import scipy.sparse

from baselines.spmv._rival import Rival

BACKEND = "host"


class Packed(Rival):
    """SciPy's own matrix."""

    def prepare(self, csr):
        self.matrix = scipy.sparse.csr_array(csr).astype(self.dtype, copy=False)
        self.arrays = {"row_offsets": self.matrix.indptr, "columns": self.matrix.indices, "values": self.matrix.data}

    def multiply(self, x, y, alpha=1.0, beta=0.0):
        product = self.matrix @ x
        if alpha != 1:
            product *= self.dtype.type(alpha)
        if beta != 0:
            y *= self.dtype.type(beta)
            y += product
        else:
            y[:] = product
