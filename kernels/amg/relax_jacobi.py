"""Weighted Jacobi relaxation, as in CUSP's smoothed aggregation: products with the whole matrix in a general format.

On an H200 the product takes most of the time, and waits for columns of x. Notes: docs/notes/amg.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels import spmv
from kernels.amg.patch_matrix import REAL
from kernels.amg.relax import Weights
from kernels.spmv import sell
from repro import Work

SOURCE, SLICED = (Path(__file__).with_name(name) for name in ("relax_jacobi.c", "relax_sliced.c"))
BLOCK, SLICED_BLOCK = 256, {True: sell.GPU_BLOCK, False: sell.CPU_BLOCK}  # of a GPU, of a processor
WEIGHT = 4 / 3  # over ρ, as CUSP has it
BUILDS = [
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "double", "result_real": "double"}),
    (SOURCE, BLOCK, {"real": "float", "rhs_real": "float", "result_real": "float"}),
    *((SLICED, SLICED_BLOCK[lanes == 1], {"real": "float", "rhs_real": real, "result_real": real, "SLICE": 32,
                                          "SORTED": is_sorted, "LANES": lanes, "SHORT": is_sorted, **sell.REGISTERS})
      for lanes, real, is_sorted in ((1, "double", 0), (1, "float", 1), (32, "double", 1))),
]  # fmt: skip


def builds(device, dtype: str, ends: tuple[str, str], layout: str) -> list[tuple]:
    """Return what every relaxation builds: its own kernels, and the kernels of the matrix's format."""
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
        self._ends, self._blocks = ends, -(-self.rows // BLOCK)
        self._build(dtype, layout)

    def _build(self, dtype, layout):
        self._kernels = self.device.build(*builds(self.device, dtype, self._ends, layout)[0])

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


class MergedJacobi(JacobiRelaxation):
    """The same in SELL, with residual and correction computed in the products' kernels, as patches have it."""

    def _build(self, dtype, layout):
        if layout != "sell":
            raise ValueError(f"merged kernels take a matrix in sell, not {layout}")
        a, device, block = self.matrix, self.device, SLICED_BLOCK[self.device.is_gpu]
        lanes = sell.lanes(device, a.slices.size)
        types = {"real": REAL[dtype], "rhs_real": REAL[self._ends[0]], "result_real": REAL[self._ends[1]]}
        self._kernels = device.build(SLICED, block=block, defines=types | sell.settings(a, lanes))
        self._starts, self._blocks = -(-self.rows // block), -(-a.slices.slots // (block * lanes))
        names = "slice_offsets", "order", "columns", "values"
        self._sliced = (a.slices.slots, self.rows, *map(a.arrays.get, names))

    def before(self, b, u, residual) -> None:
        """Enqueue u = ω D⁻¹ b and residual = b - A u."""
        self._kernels.start(self._starts, self.rows, self._weights, b, u)
        self._kernels.defect(self._blocks, *self._sliced, b, u, residual)

    def after(self, rest, u, result) -> None:
        """Enqueue result = u + ω D⁻¹ (b - A u), where `rest` holds b."""
        self._kernels.correct(self._blocks, *self._sliced, self._weights, rest, u, result)
