"""Sliced blocked ELLPACK: slices of block rows, stored block column by block column (zhang2013, algorithm 4).

Zeros that fill a block multiply x: NaN and infinity there reach all rows of the block.

On an H200 its bytes are fewer than SELL's, and reads of x, which are the same, a larger part: on tet it comes less near
to its bound than SELL, though it is faster. Wider loads of a block, the next block's column read ahead, and several
blocks at a time gained nothing; single precision loses most by the sectors of x that a warp asks the second-level cache
for.

On processors 32 rows are summed at once, in the order of memory. AVX-512's masked gathers leave out padding there.
Notes, with what was tried: docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _blocks, _sliced
from kernels.spmv._matrix import LANES, REAL

SOURCE, GPU_BLOCK, CPU_BLOCK = Path(__file__).with_name("sbell.c"), 128, 4
REGISTERS = {"MIN_BLOCKS": 1}  # as many as it takes: left alone NVRTC keeps to 32, and loads wait for one another
BUILDS = [(SOURCE, block, {"real": real, "wide": wide, "SIZE": size, "SLICE": 32, "SORTED": size - 2, "BITS": 32,
                           "FAR": 0, "index": "int", "COMBINES": size - 2, "MEASURES": measures, "LANES": lanes,
                           **REGISTERS})
          for block, lanes, real, wide, size, measures
          in ((GPU_BLOCK, 1, "double", "double", 3, 3), (GPU_BLOCK, 1, "float", "double", 3, 1),
              (GPU_BLOCK, 1, "float", "float", 2, 0), (CPU_BLOCK, LANES, "double", "double", 2, 0))]  # fmt: skip


class Packed(_blocks.BlockMatrix):
    """A thread a block row.

    Parameters
    ----------
    size : int, optional
        Rows and columns of a block; by default of 2 and 3 what stores less.
    max_fill : float, optional
        Most values in blocks for an entry of the matrix; by default where blocks store more than `sell`.
    slice_size : int
        Block rows a slice, a multiple of 32.
    window : int, optional
        Block rows within which they are sorted by length; 1 leaves them in order. By default what stores least, nearly.
    """

    bits, index, is_far = 32, "int", False  # of a block column

    def cut(self, blocks, entry_bytes, xp, slice_size: int = 32, window: int | None = None):
        return _sliced.cut(blocks, slice_size, window, entry_bytes, xp)

    def fill(self, csr):
        self.hold(**self.slices.arrays())
        super().fill(csr)
        self.block = GPU_BLOCK if self.device.is_gpu else CPU_BLOCK
        self.blocks = -(-self.slices.slots // (self.block * _sliced.lanes(self.device, self.slices.size)))
        self._kernels_by = {}
        self.kernel = self._built()

    def _built(self, combines=False, measures=0, wide=None):
        """Return the kernel, which is built once, for a y of the type `wide`."""
        wide = REAL[(wide or self.dtype).name]
        if (combines, measures, wide) not in self._kernels_by:
            defines = {"SIZE": self.size, "SLICE": self.slices.size, "SORTED": int(self.slices.order is not None),
                       "BITS": self.bits, "FAR": int(self.is_far), "index": self.index, "wide": wide,
                       "COMBINES": int(combines), "MEASURES": measures,
                       "LANES": _sliced.lanes(self.device, self.slices.size)}  # fmt: skip
            self._kernels_by[combines, measures, wide] = self.build(SOURCE, self.block, defines | REGISTERS).sbell
        return self._kernels_by[combines, measures, wide]

    def enqueue(self, x, y, alpha, beta):
        self._launch(self.kernel, x, y, alpha, beta, 0.0, 0.0, None, y)

    def combine(
        self, x, y, alpha: float, beta: float, gamma: float, delta: float, z, before=None, measured=None, partial=None
    ) -> None:  # fmt: skip
        """Enqueue y = alpha A x + beta `before` + gamma x + delta z of a square matrix, a step of a recurrence.

        It spares the kernel that would add the vectors, and the product's way through memory: on GPUs that is faster.
        `y`, of the matrix's precision or in float64, is neither x nor z; `before`, of the matrix's precision, is y
        itself where it is not given. With `measured`, of y's type, the parts of their inner product go to `partial`,
        `parts` numbers in float64.
        """
        kernel = self._built(combines=True, measures=int(measured is not None), wide=y.dtype)
        before = y if before is None else before
        self._launch(kernel, x, y, alpha, beta, gamma, delta, z, before, measured, partial)

    def measure(self, x, y, partial) -> None:
        """Enqueue y = A x of a square matrix, and the parts of x·y, x·x and y·y into `partial`, `parts` each."""
        self._launch(self._built(measures=3), x, y, 1.0, 0.0, 0.0, 0.0, None, y, None, partial)

    @property
    def parts(self) -> int:
        """Numbers that a sum is left in."""
        return self.blocks

    def _launch(self, kernel, x, y, alpha, beta, gamma, delta, z, before, measured=None, partial=None):
        a = self.arrays
        kernel(self.blocks, self.slices.slots, self.shape[0] // self.size, alpha, beta, gamma, delta,
               a["slice_offsets"], a.get("order"), a.get("first_columns"), a.get("far"), a["columns"], a["values"], x,
               z, before if beta else None, y, self.parts, measured, partial)  # fmt: skip
