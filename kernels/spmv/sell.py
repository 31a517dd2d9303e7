"""Sliced ELLPACK: slices of rows, each as wide as its longest row and stored by columns (zhang2013, algorithm 3).

The paper sorts all rows by length; a window keeps sorted rows near each other, so that x and y are read and written
locally.

On an H200 memory binds. A matrix near the size of the cache pays for its eviction. Rows of few entries want more
threads rather than more loads of each, hence `SHORT`, which is slower where rows are long.

On processors the compilers' gathers of x bind: their body loads x one by one, and asks for entries ahead. Notes, with
what was tried: docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _sliced
from kernels.spmv._matrix import LANES, Matrix

SOURCE, GPU_BLOCK, CPU_BLOCK = Path(__file__).with_name("sell.c"), 128, 8
WALKING_BLOCK, WALKERS = 512, (0, 3, 4)  # and how many of them a multiprocessor has
# As many as it takes, or as let all blocks that walk be there at once: left alone NVRTC keeps to 32, and loads wait for
# one another.
REGISTERS = {"MIN_BLOCKS": 1}
FEW = 12  # entries of a row, on average, below which it is short
BUILDS = [(SOURCE, block, {"real": real, "SLICE": 32, "SORTED": is_sorted, "LANES": lanes, "SHORT": is_sorted,
                           "WALKS": int(block == WALKING_BLOCK), **REGISTERS})
          for block, lanes, real, is_sorted
          in ((GPU_BLOCK, 1, "double", 0), (GPU_BLOCK, 1, "float", 1), (WALKING_BLOCK, 1, "double", 1),
              (CPU_BLOCK, LANES, "double", 1))]  # fmt: skip


lanes = _sliced.lanes


def settings(matrix, lanes: int) -> dict:
    """Return the defines of a kernel that takes the rows of a packed matrix, so many a thread."""
    slices = matrix.slices
    return {"SLICE": slices.size, "SORTED": int(slices.order is not None), "LANES": lanes,
            "SHORT": int(matrix.stored < FEW * slices.slots), "WALKS": int(matrix.walkers > 0),
            "MIN_BLOCKS": max(1, matrix.walkers)}  # fmt: skip


class Packed(Matrix):
    """A thread a row.

    Parameters
    ----------
    slice_size : int
        Rows a slice, a multiple of 32.
    window : int, optional
        Rows within which they are sorted by length; 1 leaves them in order. By default what stores least, nearly.
    walkers : int
        Blocks a multiprocessor of a GPU, each of which goes through consecutive rows; 0 for a thread a row.
    """

    def plan(self, csr, slice_size: int = 32, window: int | None = None, walkers: int = 0):
        # Caches of processors hold the x of far more rows than a slice has: there any saving is one.
        worth = _sliced.WORTH if self.device.is_gpu else 1.0
        self.slices = _sliced.cut(csr.lengths, slice_size, window, self.entry_bytes, csr.xp, worth)
        self.stored, self.walkers = self.slices.entries, walkers

    def fill(self, csr):
        self.hold(**self.slices.arrays())
        _sliced.fill(self, csr, self.slices)
        block = (WALKING_BLOCK if self.walkers else GPU_BLOCK) if self.device.is_gpu else CPU_BLOCK
        together = lanes(self.device, self.slices.size)
        self.kernel = self.build(SOURCE, block, settings(self, together)).sell
        self.blocks, self.chunk = _sliced.shares(self.device, self.slices.slots, block * together, self.walkers)

    def enqueue(self, x, y, alpha, beta):
        a = self.arrays
        self.kernel(self.blocks, self.slices.slots, self.chunk, self.shape[0], alpha, beta, a["slice_offsets"],
                    a.get("order"), a["columns"], a["values"], x, y)  # fmt: skip
