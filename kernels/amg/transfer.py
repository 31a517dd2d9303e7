"""Restriction, prolongation and the coarsest solve."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.patch_matrix import REAL
from repro import Work

SOURCE, BLOCK = Path(__file__).with_name("transfer.c"), 256
LANES = {"restrictor": 8, "inverse": 32}  # threads a row on a GPU; on a processor a row has one


def build(is_gpu: bool, what: str, dtype: str, ends: tuple[str, str]) -> tuple:
    """Return the build for the 'restrictor', or for the 'inverse', whose right-hand side and result are `ends`."""
    defines = {"real": REAL[dtype], "rhs_real": REAL[ends[0]], "result_real": REAL[ends[1]]}
    return SOURCE, BLOCK if is_gpu else 64, defines | {"LANES": LANES[what] if is_gpu else 1}


BUILDS = [
    build(is_gpu, what, dtype, ("float64", "float64")) for is_gpu in (True, False) for what in LANES for dtype in REAL
]


class Transfer:
    """Restriction and prolongation between a level and the next.

    Parameters
    ----------
    device : kernels.device.Device
    prolongator, restrictor : sparse CSR arrays of `device.sparse`
    dtype, rhs : {'float32', 'float64'}
        Of the matrices and most vectors, and of the finer level's right-hand side.
    """

    def __init__(self, device, prolongator, restrictor, dtype: str = "float32", rhs: str = "float32"):
        _, block, defines = made = build(device.is_gpu, "restrictor", dtype, (rhs, dtype))
        self._rhs_bytes = np.dtype(rhs).itemsize
        self._kernels = device.build(*made)
        self.fine, self.coarse = prolongator.shape
        self._block, self._rows = block, block // defines["LANES"]
        self._p, self._r = _arrays(device, prolongator, dtype), _arrays(device, restrictor, dtype)

    def restrict(self, fine, coarse) -> None:
        """Enqueue coarse = R fine."""
        self._kernels.to_coarse(-(-self.coarse // self._rows), self.coarse, *self._r, fine, coarse)

    def prolong(self, coarse, b, fine, rest) -> None:
        """Enqueue fine += P coarse, and rest = b."""
        self._kernels.to_fine(-(-self.fine // self._block), self.fine, *self._p, coarse, b, fine, rest)

    def work(self) -> Work:
        """Return the least work of one restriction and one prolongation."""
        matrices = sum(int(array.nbytes) for array in (*self._p, *self._r))
        real = self._p[-1].dtype.itemsize
        moved = matrices + real * (self.fine + self.coarse) + real * (3 * self.fine + self.coarse)
        moved += self._rhs_bytes * self.fine
        return Work(moved, 2 * (self._p[-1].size + self._r[-1].size), str(self._p[-1].dtype))


class DenseSolve:
    """The coarsest solve, by the inverse of its matrix.

    Parameters
    ----------
    device : kernels.device.Device
    inverse : (n, n) array of `device.xp`
    dtype : {'float32', 'float64'}
    ends : (str, str)
        dtypes of the right-hand side and of the solution.
    """

    def __init__(self, device, inverse, dtype: str, ends: tuple[str, str]):
        _, block, defines = made = build(device.is_gpu, "inverse", dtype, ends)
        self._kernels = device.build(*made)
        self.rows, self._step = inverse.shape[0], block // defines["LANES"]
        self._inverse = device.array(inverse, dtype)
        self._ends = ends

    def solve(self, b, x) -> None:
        """Enqueue x = A⁻¹ b."""
        self._kernels.dense(-(-self.rows // self._step), self.rows, self._inverse, b, x)

    def work(self) -> Work:
        """Return the least work of a solve."""
        vectors = self.rows * sum(np.dtype(end).itemsize for end in self._ends)
        return Work(int(self._inverse.nbytes) + vectors, 2 * self.rows**2, str(self._inverse.dtype))


def _arrays(device, matrix, dtype):
    """Return row offsets, columns and values of a CSR matrix as kernels take them."""
    return (
        device.array(matrix.indptr, np.int32), device.array(matrix.indices, np.int32), device.array(matrix.data, dtype)
    )  # fmt: skip
