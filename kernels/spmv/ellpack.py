"""ELLPACK: every row as long as the longest, stored by columns (zhang2013, algorithm 2).

On an H200 it streams where rows are equal. It loses elsewhere by padding, which its bound leaves out. Notes:
docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.spmv import _sliced
from kernels.spmv._matrix import REAL, Matrix

SOURCE = Path(__file__).with_name("ellpack.c")
# Threads of a block and rows of a thread. Columns lie far apart: a processor takes much of one before it goes on.
GPU_SHAPE, CPU_SHAPE = (256, 1), (1, 256)
BUILDS = [(SOURCE, block, {"real": real, "LANES": lanes})
          for (block, lanes), real in ((GPU_SHAPE, "double"), (CPU_SHAPE, "float"))]  # fmt: skip


def builds(device, dtype: str) -> list[tuple]:
    """Return what every matrix of this format builds."""
    block, lanes = GPU_SHAPE if device.is_gpu else CPU_SHAPE
    return [_sliced.fill_build(dtype, False), (SOURCE, block, {"real": REAL[dtype], "LANES": lanes})]


class Packed(Matrix):
    """A thread a row. The columns are as long as the next multiple of 32 rows.

    Parameters
    ----------
    width : int, optional
        Entries of a row that are held; by default the longest row's. Less cuts rows off, for `hyb`.
    """

    def plan(self, csr, width: int | None = None):
        self.slices = one_slice(csr.shape[0], csr.longest if width is None else width, csr.xp)
        self.stored = self.slices.entries

    def fill(self, csr):
        _sliced.fill(self, csr, self.slices)
        block, lanes = GPU_SHAPE if self.device.is_gpu else CPU_SHAPE
        self.kernel = self.build(SOURCE, block, {"LANES": lanes}).ellpack
        self.blocks = -(-self.slices.slots // (block * lanes))

    def enqueue(self, x, y, alpha, beta):
        a, slices = self.arrays, self.slices
        self.kernel(self.blocks, slices.size, self.stored, self.shape[0],
                    alpha, beta, a["columns"], a["values"], x, y)  # fmt: skip


def one_slice(rows, width, xp):
    """Return the slices of ELLPACK: one, of all rows."""
    size = -(-rows // _sliced.WARP) * _sliced.WARP
    offsets = np.array([0, size * width] if rows else [0], np.int64)
    return _sliced.Slices(size, xp.asarray(offsets), None)
