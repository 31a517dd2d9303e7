"""Weighted Jacobi relaxation, as in CUSP's smoothed aggregation: products with the whole matrix in a general format.

On an H200 the product takes most of the time, and waits for columns of x. Notes: docs/notes/amg.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels import spmv
from kernels.amg.patch_matrix import REAL
from kernels.amg.relax import Weights
from repro import Work

SOURCE, BLOCK = Path(__file__).with_name("relax_jacobi.c"), 256
WEIGHT = 4 / 3  # over ρ, as CUSP has it
BUILDS = [
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "double", "result_real": "double"}),
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "float", "result_real": "float"}),
]


def builds(device, dtype: str, ends: tuple[str, str], layout: str) -> list[tuple]:
    """Return what every relaxation builds: its own kernels, and those of the matrix's format."""
    defines = {"real": REAL[dtype], "rhs_real": REAL[ends[0]], "result_real": REAL[ends[1]]}
    return [(SOURCE, BLOCK, defines), *spmv.builds(layout, device, dtype)]


class JacobiRelaxation:
    """One Jacobi iteration before and one after, with the calls of `kernels.amg.relax.PatchRelaxation`.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse CSR array of `device.sparse`
    spectral_radius : float
        Of D⁻¹ A.
    dtype : {'float32', 'float64'}
    ends : (str, str)
        dtypes of the right-hand side and of what post-relaxation writes.
    layout : str
        Format of `kernels.spmv`.
    weight : float
        ω = weight / ρ(D⁻¹ A), less than 2.
    """

    def __init__(self, device, matrix, spectral_radius: float, dtype: str, ends, layout: str, weight: float = WEIGHT):
        self.device, self.rows = device, matrix.shape[0]
        self.matrix = spmv.pack(layout, device, matrix, dtype=dtype)
        self.weights = Weights(weight / spectral_radius, 1.0, weight)
        self._weights = device.array(self.weights.inner / matrix.diagonal(), dtype)
        self._kernels = device.build(*builds(device, dtype, ends, layout)[0])
        self._blocks, self._ends = -(-self.rows // BLOCK), ends

    def before(self, b, u, residual) -> None:
        """Enqueue u = ω D⁻¹ b and residual = b - A u."""
        self._kernels.start(self._blocks, self.rows, self._weights, b, u, residual)
        self.matrix.multiply(u, residual, -1.0, 1.0)

    def after(self, rest, u, result) -> None:
        """Enqueue result = u + ω D⁻¹ (b - A u), where `rest` holds b and then the residual."""
        self.matrix.multiply(u, rest, -1.0, 1.0)
        self._kernels.finish(self._blocks, self.rows, self._weights, rest, u, result)

    def before_work(self) -> Work:
        """Return the least work: the matrix, b and the weights read, u and the residual written."""
        return self._work(np.dtype(self._ends[0]).itemsize, 1)

    def after_work(self) -> Work:
        """Return the least work: the matrix, b, u and the weights read, the result written."""
        return self._work(np.dtype(self._ends[1]).itemsize, 3)

    def _work(self, extra: int, flops: int) -> Work:
        product, real = self.matrix.least_work(), np.dtype(self.matrix.dtype).itemsize
        return Work(product.bytes + (extra + real) * self.rows, product.flops + flops * self.rows, product.precision)
