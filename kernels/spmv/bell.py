"""Blocked ELLPACK: every block row as long as the longest, stored by columns of blocks (zhang2013, figure 2).

Zeros that fill a block multiply x: NaN and infinity there reach all rows of the block.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _blocks
from kernels.spmv._matrix import LANES
from kernels.spmv.ellpack import one_slice

SOURCE, GPU_BLOCK, CPU_BLOCK = Path(__file__).with_name("bell.c"), 128, 4
BUILDS = [(SOURCE, block, {"real": real, "SIZE": size, "LANES": lanes}) for block, lanes, real, size
          in ((GPU_BLOCK, 1, "double", 3), (GPU_BLOCK, 1, "float", 2), (CPU_BLOCK, LANES, "double", 2))]  # fmt: skip


class Packed(_blocks.BlockMatrix):
    """A thread a block row. The columns are as long as the next multiple of 32 block rows.

    Parameters
    ----------
    size : int, optional
        Rows and columns of a block; by default of 2 and 3 what stores less.
    max_fill : float, optional
        Most values in blocks for an entry of the matrix, before padding; by default where blocks store more than single
        entries.
    """

    def cut(self, blocks, entry_bytes, xp):
        return one_slice(blocks.size, int(blocks.max()) if blocks.size else 0, xp)

    def fill(self, csr):
        super().fill(csr)
        self.block = GPU_BLOCK if self.device.is_gpu else CPU_BLOCK
        self.kernel = self.build(SOURCE, self.block, {"SIZE": self.size, "LANES": self.lanes}).bell

    def enqueue(self, x, y, alpha, beta):
        slices, a = self.slices, self.arrays
        self.kernel(-(-slices.slots // (self.block * self.lanes)), slices.size, slices.entries,
                    self.shape[0] // self.size, alpha, beta, a["columns"], a["values"], x, y)  # fmt: skip
