"""Sliced ELLPACK: slices of rows, each as wide as its longest row and stored by columns (zhang2013, algorithm 3).

The paper sorts all rows by length; a window keeps sorted rows near each other, so that x and y are read and written
locally.

On an H200 with a cold cache, double precision, of what its least bytes take at 4.3 TB/s: all for elasticity on 100³
hexahedra (245 M entries), 98 % for tetrahedra on a grid (107 M). A matrix near the size of the cache pays for its
eviction: 89 % on 54³ hexahedra, 60 % on 400² quadrilaterals. Tried without gain: slices of 256 rows, blocks of 64 to
512 threads, four or eight entries at once, loads of 256 bytes into the second-level cache. Rows of nine entries (Q1 in
the plane, 2.1 M rows) want more threads rather than more loads of each: a fifth faster with `SHORT`, which is slower
where rows are long.

On two cores of an EPYC OpenMP is 2.1 times as fast as SciPy's CSR on elasticity in space, 1.4 and 1.1 times in the
plane (matrices that caches hold), where twice was the aim. Gathers of x bind: on one core it is as fast as SciPy, so
two cores can give twice at most; `sbell`, which gathers a block's x at once, is 1.4 to 3.8 times as fast. Next would
be 16-bit columns within a window, and in the plane the same gathers as PoCL's compiler makes (1.7 and 2.0 times).
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _sliced
from kernels.spmv._matrix import LANES, Matrix

SOURCE, GPU_BLOCK, CPU_BLOCK = Path(__file__).with_name("sell.c"), 128, 8
REGISTERS = {"MIN_BLOCKS": 1}  # as many as it takes: left alone NVRTC keeps to 32, and loads wait for one another
FEW = 12  # entries of a row, on average, below which it is short
BUILDS = [(SOURCE, block, {"real": real, "SLICE": 32, "SORTED": is_sorted, "LANES": lanes, "SHORT": is_sorted,
                           **REGISTERS})
          for block, lanes, real, is_sorted
          in ((GPU_BLOCK, 1, "double", 0), (GPU_BLOCK, 1, "float", 1), (CPU_BLOCK, LANES, "double", 1))]  # fmt: skip


class Packed(Matrix):
    """A thread a row.

    Parameters
    ----------
    slice_size : int
        Rows a slice, a multiple of 32.
    window : int, optional
        Rows within which they are sorted by length; 1 leaves them in order. By default what stores least, nearly.
    """

    def plan(self, csr, slice_size: int = 32, window: int | None = None):
        # Caches of processors hold the x of far more rows than a slice has: there any saving is one.
        worth = _sliced.WORTH if self.device.is_gpu else 1.0
        self.slices = _sliced.cut(csr.lengths, slice_size, window, self.entry_bytes, csr.xp, worth)
        self.stored = self.slices.entries

    def fill(self, csr):
        self.hold(**self.slices.arrays())
        _sliced.fill(self, csr, self.slices)
        block = GPU_BLOCK if self.device.is_gpu else CPU_BLOCK
        lanes = _sliced.lanes(self.device, self.slices.size)
        defines = {"SLICE": self.slices.size, "SORTED": int(self.slices.order is not None), "LANES": lanes,
                   "SHORT": int(self.stored < FEW * self.slices.slots)}  # fmt: skip
        self.kernel = self.build(SOURCE, block, defines | REGISTERS).sell
        self.blocks = -(-self.slices.slots // (block * lanes))

    def enqueue(self, x, y, alpha, beta):
        a = self.arrays
        self.kernel(self.blocks, self.slices.slots, self.shape[0], alpha, beta, a["slice_offsets"], a.get("order"),
                    a["columns"], a["values"], x, y)  # fmt: skip
