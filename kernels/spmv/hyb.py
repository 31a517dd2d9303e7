"""HYB: ELLPACK as wide as most rows, and coordinates for what is longer (Bell, Garland 2009; CUSP's default).

On an H200 with a power law of rows (1 M rows, ncu, cold) the ELLPACK part runs at 47 % of the memory's throughput, for
x is read at random (12 sectors a request); the coordinates at 30 %, in 60 of 107 µs, with half of the warps for its 56
registers, and the sums of its blocks in 3 µs. Next: rows beyond the width in merge-path CSR.
"""

from __future__ import annotations

from kernels.spmv import coo, ellpack
from kernels.spmv._csr import Csr, expand, starts
from kernels.spmv._matrix import INDEX_BYTES, Matrix
from kernels.spmv._sliced import WARP

COORDINATE_COST = 3  # of a byte in coordinates against one in ELLPACK, as CUSP has it


class Packed(Matrix):
    """An `ellpack` and a `coo` matrix whose products are added.

    Parameters
    ----------
    width : int, optional
        Entries of a row in the ELLPACK part; by default what costs least.
    """

    def plan(self, csr, width: int | None = None):
        xp, rows = csr.xp, csr.shape[0]
        slots = -(-rows // WARP) * WARP
        if width is None:
            width = self._cheapest(csr, slots) if csr.nonzeros else 0
        beyond = xp.maximum(csr.lengths - width, 0)
        self.width, self.tail_offsets = width, starts(beyond, xp, "int32")
        self.stored = slots * width + int(self.tail_offsets[-1])

    def _cheapest(self, csr, slots):
        xp = csr.xp
        with_length = xp.bincount(csr.lengths, minlength=csr.longest + 1)
        longer = csr.shape[0] - xp.cumsum(with_length)  # rows with more than k entries; none for the last k
        beyond = xp.cumsum(longer[::-1])[::-1]  # entries after the k-th of their row
        ell, coordinate = self.entry_bytes, COORDINATE_COST * (self.entry_bytes + INDEX_BYTES)
        return int(xp.argmin(ell * slots * xp.arange(beyond.size) + coordinate * beyond))

    def fill(self, csr):
        xp, offsets = csr.xp, self.tail_offsets
        rows = expand(offsets, xp)
        places = xp.arange(rows.size) - offsets[rows] + csr.row_offsets[rows] + self.width
        rest = Csr(csr.shape, offsets, csr.columns[places], csr.values[places], xp)
        self.ell = ellpack.Packed(self.device, csr, width=self.width)
        self.rest = coo.Packed(self.device, rest)
        self.arrays = {f"ell_{name}": array for name, array in self.ell.arrays.items()}
        self.arrays |= {f"rest_{name}": array for name, array in self.rest.arrays.items() if name != "empty_rows"}

    def enqueue(self, x, y, alpha, beta):
        self.ell.enqueue(x, y, alpha, beta)
        self.rest.enqueue_rows(x, y, alpha, 1.0)
