"""CSR, several threads a row (zhang2013, section 3, `vector`).

The paper takes a warp, which short rows leave idle. On an H200 the number of threads decides, then whether a row is
read at once or in a loop: `DEPTHS` is the fastest found; three entries at once were slower than two or four. Notes:
docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv._csr import Unsuitable
from kernels.spmv._matrix import Matrix

SOURCE, BLOCK = Path(__file__).with_name("csr_vector.c"), 256
WIDTHS = (1, 2, 4, 8, 16, 32)
LEAST = 3.4  # entries of a mean row for a thread: fewer threads then share a row
DEPTHS = {1: 4, 2: 4, 4: 4, 8: 1, 16: 1, 32: 1}  # entries that a CUDA thread loads before it uses the first
BUILDS = [(SOURCE, BLOCK, {"real": real, "WIDTH": width, "DEPTH": DEPTHS[width]})
          for real, width in (("double", 1), ("float", 32))]  # fmt: skip


class Packed(Matrix):
    """CSR as it comes.

    Parameters
    ----------
    width : int, optional
        Threads a row, a power of two up to 32; by default such that each has `LEAST` to twice as many entries of a mean
        row.
    """

    def plan(self, csr, width: int | None = None):
        if width is None:
            mean = csr.nonzeros / max(1, csr.shape[0])
            width = max(w for w in WIDTHS if w == 1 or w * LEAST <= mean)
        if width not in WIDTHS:
            raise Unsuitable(f"{width} threads a row are none of {', '.join(map(str, WIDTHS))}")
        self.width, self.stored = width, csr.nonzeros

    def fill(self, csr):
        self.hold(row_offsets=csr.row_offsets, columns=csr.columns, values=csr.values)
        self.kernel = self.build(SOURCE, BLOCK, {"WIDTH": self.width, "DEPTH": DEPTHS[self.width]}).csr_vector

    def enqueue(self, x, y, alpha, beta):
        rows = self.shape[0]
        self.kernel(-(-rows * self.width // BLOCK), rows, alpha, beta, *self.arrays.values(), x, y)
