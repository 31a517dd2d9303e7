"""ELLPACK: every row as long as the longest, stored by columns (zhang2013, algorithm 2)."""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _sliced
from kernels.spmv._csr import starts
from kernels.spmv._matrix import LANES, REAL, Matrix

SOURCE, GPU_BLOCK, CPU_BLOCK = Path(__file__).with_name("ellpack.c"), 256, 32
BUILDS = [(SOURCE, block, {"real": real, "LANES": lanes})
          for block, lanes in ((GPU_BLOCK, 1), (CPU_BLOCK, LANES)) for real in REAL.values()]  # fmt: skip


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
        self.block = GPU_BLOCK if self.device.is_gpu else CPU_BLOCK
        self.kernel = self.build(SOURCE, self.block, {"LANES": self.lanes}).ellpack

    def enqueue(self, x, y, alpha, beta):
        a, slices = self.arrays, self.slices
        self.kernel(-(-slices.slots // (self.block * self.lanes)), slices.size, self.stored, self.shape[0],
                    alpha, beta, a["columns"], a["values"], x, y)  # fmt: skip


def one_slice(rows, width, xp):
    """Return the slices of ELLPACK: one, of all rows."""
    size = -(-rows // _sliced.WARP) * _sliced.WARP
    counts = xp.full(1 if rows else 0, size * width, dtype=xp.int64)
    return _sliced.Slices(size, starts(counts, xp), None)
