"""ELLPACK-R: ELLPACK with the length of every row, so that padding is stored but not read (zhang2013, section 3)."""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _sliced
from kernels.spmv._matrix import Matrix
from kernels.spmv.ellpack import CPU_SHAPE, one_slice

SOURCE = Path(__file__).with_name("ellpack_r.c")
# Threads of a block and rows of a thread: two lengths, columns and values are read at once, which is faster on an H200,
# most where rows differ in length. Notes: docs/notes/spmv.md.
GPU_SHAPE = (128, 2)
BUILDS = [(SOURCE, block, {"real": real, "LANES": lanes, "SHORT": 1})
          for (block, lanes), real in ((GPU_SHAPE, "double"), (GPU_SHAPE, "float"), (CPU_SHAPE, "float"))]  # fmt: skip


class Packed(Matrix):
    """A thread a row, up to its last entry."""

    def plan(self, csr):
        self.slices = one_slice(csr.shape[0], csr.longest, csr.xp)
        self.stored = self.slices.entries

    def fill(self, csr):
        lengths = csr.xp.zeros(self.slices.slots, dtype="int32")
        lengths[: self.shape[0]] = csr.lengths
        self.hold(lengths=lengths)
        _sliced.fill(self, csr, self.slices)
        block, lanes = GPU_SHAPE if self.device.is_gpu else CPU_SHAPE
        self.kernel = self.build(SOURCE, block, {"LANES": lanes, "SHORT": 1}).ellpack_r
        self.blocks = -(-self.slices.slots // (block * lanes))

    def enqueue(self, x, y, alpha, beta):
        self.kernel(self.blocks, self.slices.size, self.shape[0], alpha, beta, *self.arrays.values(), x, y)
