"""cuSPARSE's generic product through nvmath-python: descriptors and buffer made once, the algorithm preprocessed."""

from __future__ import annotations

import weakref

import numpy as np

from baselines.nvmath import library as nvmath
from baselines.spmv._rival import Rival

LIBRARIES = (
    "cuSPARSE",
    "nvmath-python",
)
REMEDY = "an NVIDIA GPU, and pip install nvmath-python==1.0.0"


class GenericMatrix(Rival):
    """A matrix of cuSPARSE's generic interface."""

    algorithm = "DEFAULT"  # of nvmath.bindings.cusparse.SpMVAlg

    def prepare(self, csr, **options):
        self.xp, self.library = xp, library = nvmath("cusparse", REMEDY)
        from nvmath import CudaDataType as types

        single = self.dtype == np.float32
        self.type = types.CUDA_R_32F if single else types.CUDA_R_64F
        row_offsets, columns = (xp.asarray(array, dtype="int32") for array in (csr.indptr, csr.indices))
        values = xp.asarray(csr.data, dtype=self.dtype)
        self.handle = library.create()
        finalize = weakref.finalize(self, library.destroy, self.handle)
        self.matrix = self.describe(row_offsets, columns, values, **options)
        rows, size = self.shape
        scratch = xp.zeros(rows, self.dtype), xp.zeros(size, self.dtype)
        self.y, self.x = (library.create_dn_vec(a.size, a.data.ptr, self.type) for a in scratch)
        finalize.detach()
        weakref.finalize(self, _destroy, library, self.handle, self.matrix, (self.x, self.y))
        self._factors = {}
        self.scheme = getattr(library.SpMVAlg, self.algorithm)
        self.buffer = xp.empty(max(1, library.sp_mv_buffer_size(*self._arguments(1.0, 0.0))), "uint8")
        library.set_stream(self.handle, xp.cuda.get_current_stream().ptr)
        try:
            library.sp_mv_preprocess(*self._arguments(1.0, 0.0), self.buffer.data.ptr)
            self.preprocessed = True
        except Exception:  # there is nothing to preprocess for this format, or the library is older than that call
            self.preprocessed = False
        xp.cuda.get_current_stream().synchronize()

    def describe(self, row_offsets, columns, values):
        """Fill `arrays` from CSR and return cuSPARSE's descriptor of the matrix."""
        raise NotImplementedError

    @property
    def index(self):
        """CuSPARSE's names of 32-bit indices for offsets and columns, of base 0."""
        library = self.library
        return int(library.IndexType.INDEX_32I), int(library.IndexType.INDEX_32I), int(library.IndexBase.ZERO)

    def _arguments(self, alpha, beta):
        # The library reads factors on the host, when called or captured.
        for factor in (alpha, beta):
            if factor not in self._factors:
                self._factors[factor] = np.array([factor], self.dtype)
        alpha, beta = (self._factors[factor].ctypes.data for factor in (alpha, beta))
        operation = int(self.library.Operation.NON_TRANSPOSE)
        return (self.handle, operation, alpha, self.matrix, self.x, beta, self.y, int(self.type), int(self.scheme))

    def multiply(self, x, y, alpha=1.0, beta=0.0):
        library = self.library
        library.set_stream(self.handle, self.xp.cuda.get_current_stream().ptr)
        library.dn_vec_set_values(self.x, x.data.ptr)
        library.dn_vec_set_values(self.y, y.data.ptr)
        library.sp_mv(*self._arguments(alpha, beta), self.buffer.data.ptr)


def _destroy(library, handle, matrix, vectors):
    library.destroy_sp_mat(matrix)
    for vector in vectors:
        library.destroy_dn_vec(vector)
    library.destroy(handle)
