"""cuSPARSE, CSR, the algorithm preprocessed."""

from __future__ import annotations

from baselines.spmv._cusparse import GenericMatrix

BACKEND = "cuda"


class Packed(GenericMatrix):
    """CSR with 32-bit indices.

    Parameters
    ----------
    algorithm : {'CSR_ALG1', 'CSR_ALG2'}
        The first is the library's default, the second gives the same bits each time.
    """

    def describe(self, row_offsets, columns, values, algorithm: str = "CSR_ALG1"):
        self.algorithm = algorithm
        self.arrays = {"row_offsets": row_offsets, "columns": columns, "values": values}
        pointers = (array.data.ptr for array in self.arrays.values())
        return self.library.create_csr(*self.shape, self.nonzeros, *pointers, *self.index, int(self.type))
