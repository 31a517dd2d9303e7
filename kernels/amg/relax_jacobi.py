"""Weighted Jacobi relaxation, as in CUSP's smoothed aggregation: products with the whole matrix in a general format."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels import spmv
from kernels.amg.patch_matrix import REAL
from kernels.amg.relax import INNER, Weights
from repro import Work

SOURCE, BLOCK = Path(__file__).with_name("relax_jacobi.c"), 256
BUILDS = [
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "double", "result_real": "double"}),
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "float", "result_real": "float"}),
]


class JacobiRelaxation:
    """One Jacobi iteration before and one after, with the calls of `kernels.amg.relax.PatchRelaxation`.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse CSR array of `device.sparse`
    spectral_radius : float
        Of D⁻¹ A; the weight is 4/3 over it.
    dtype : {'float32', 'float64'}
    ends : (str, str)
        dtypes of the right-hand side and of what post-relaxation writes.
    layout : str
        Format of `kernels.spmv`; CUSP has HYB.
    """

    def __init__(self, device, matrix, spectral_radius: float, dtype: str, ends, layout: str = "hyb"):
        self.device, self.rows = device, matrix.shape[0]
        self.matrix = spmv.pack(layout, device, matrix, dtype=dtype)
        self.weights = Weights(INNER / spectral_radius, 1.0, INNER)
        self._weights = device.array(self.weights.inner / matrix.diagonal(), dtype)
        self._product = device.zeros(self.rows, dtype)
        defines = {"real": REAL[dtype], "rhs_real": REAL[ends[0]], "result_real": REAL[ends[1]]}
        self._kernels = device.build(SOURCE, block=BLOCK, defines=defines)
        self._blocks, self._ends = -(-self.rows // BLOCK), ends

    def before(self, b, u, residual) -> None:
        """Enqueue u = ω D⁻¹ b and residual = b - A u."""
        self._kernels.start(self._blocks, self.rows, self._weights, b, u, residual)
        self.matrix.multiply(u, residual, -1.0, 1.0)

    def compensate(self, u, residual) -> None:
        """Do nothing: the residual is complete."""

    def after(self, b, u, result) -> None:
        """Enqueue result = u + ω D⁻¹ (b - A u)."""
        self.matrix.multiply(u, self._product)
        self._kernels.finish(self._blocks, self.rows, self._weights, b, self._product, u, result)

    def before_work(self) -> Work:
        """Return the least work: the matrix, b and the weights read, u and the residual written."""
        product, real = self.matrix.least_work(), np.dtype(self.matrix.dtype).itemsize
        extra = np.dtype(self._ends[0]).itemsize + 2 * real - real  # u is written, not read
        return Work(product.bytes + extra * self.rows, product.flops + self.rows, product.precision)

    def after_work(self) -> Work:
        """Return the least work: the matrix, b, u and the weights read, the result written."""
        product, real = self.matrix.least_work(), np.dtype(self.matrix.dtype).itemsize
        extra = sum(np.dtype(end).itemsize for end in self._ends)
        return Work(product.bytes + extra * self.rows, product.flops + 3 * self.rows, product.precision)

    def compensate_work(self) -> Work:
        return Work(0, 0, str(self.matrix.dtype))
