"""Base of every rival: the product of a matrix, what it stores, and the least that it moves."""

from __future__ import annotations

import numpy as np

from repro import Work

INDEX_BYTES = 4


class Rival:
    """A matrix in the hands of another library; attributes as of ``kernels.spmv.Matrix``.

    Parameters
    ----------
    csr : CSR matrix of SciPy or CuPy
        Of sorted columns without duplicates.
    dtype : {'float64', 'float32'}
    **options
        The rival's own.
    """

    def __init__(self, csr, dtype="float64", **options):
        self.shape, self.nonzeros, self.dtype = tuple(csr.shape), int(csr.nnz), np.dtype(dtype)
        self.stored, self.entry_bytes = self.nonzeros, self.dtype.itemsize + INDEX_BYTES
        self.arrays = {}
        self.prepare(csr, **options)

    def prepare(self, csr) -> None:
        """Fill `arrays`, and set `stored` and `entry_bytes` where they are not CSR's."""
        raise NotImplementedError

    def multiply(self, x, y, alpha: float = 1.0, beta: float = 0.0) -> None:
        """Compute y = alpha A x + beta y, or enqueue it; y is not read when beta is 0."""
        raise NotImplementedError

    @property
    def bytes(self) -> int:
        """Bytes of the arrays that the rival works on."""
        return sum(int(array.nbytes) for array in self.arrays.values())

    @property
    def padding(self) -> float:
        """Values stored over entries of the matrix."""
        return self.stored / self.nonzeros if self.nonzeros else 1.0

    def least_work(self, beta: float = 0.0) -> Work:
        """Return the least that the product moves, in the rival's format and in any; see `Work.of_product`."""
        return Work.of_product(self, beta)
