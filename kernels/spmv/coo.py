"""Coordinates sorted by row, summed by segments: equal shares of entries for all threads, and no atomics.

The order of additions is fixed, so that a product gives the same bits each time. On an H200 its
registers left room for half of the warps where it was profiled, as a part of `kernels.spmv.hyb`. Notes:
docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.spmv import _pieces
from kernels.spmv._csr import expand, on_host
from kernels.spmv._matrix import INDEX_BYTES, REAL, Matrix

SOURCE, GPU_TILE = Path(__file__).with_name("coo.c"), (128, 11)
BUILDS = _pieces.builds(SOURCE, GPU_TILE)


def builds(device, dtype: str) -> list[tuple]:
    """Return what every matrix of this format builds."""
    tile = _pieces.tile_build(SOURCE, GPU_TILE, device.is_gpu, dtype)
    return [tile, (_pieces.SOURCE, _pieces.BLOCK, {"real": REAL[dtype]})]


class Packed(Matrix):
    """Each thread takes as many entries as any other; see ``segments.h``.

    Parameters
    ----------
    rows : (nonzeros,) int32 array of the device's `xp`, optional
        The row of each entry, from a caller who has it, and who leaves y of empty rows alone: see `enqueue_rows`.
    """

    def plan(self, csr, rows=None):
        self.stored, self.entry_bytes = csr.nonzeros, self.dtype.itemsize + 2 * INDEX_BYTES
        self._rows = rows

    def fill(self, csr):
        xp, rows = csr.xp, self._rows
        kernels, tile = _pieces.tiled(self, SOURCE, GPU_TILE)
        if rows is None:
            rows = expand(csr.row_offsets, xp)
            self.hold(empty_rows=xp.nonzero(csr.lengths == 0)[0].astype(xp.int32))
        self.blocks = -(-csr.nonzeros // tile)
        before, after = (on_host(rows[first::tile][: max(0, self.blocks - 1)]) for first in (tile - 1, tile))
        self.hold(rows=rows, columns=csr.columns, values=csr.values)
        _pieces.hold(self, np.where(before == after, after, -1), self.blocks)
        self.kernel = kernels.coo
        self.scale = self.build(_pieces.SOURCE, _pieces.BLOCK, {}).scale_rows

    def enqueue(self, x, y, alpha, beta):
        self.enqueue_rows(x, y, alpha, beta)
        empty = self.arrays["empty_rows"]
        self.scale(-(-empty.size // _pieces.BLOCK), empty.size, beta, empty, y)

    def enqueue_rows(self, x, y, alpha, beta):
        """Enqueue y = alpha A x + beta y for the rows that have entries; the others keep their y."""
        a = self.arrays
        self.kernel(self.blocks, self.nonzeros, alpha, beta, a["rows"], a["columns"], a["values"], x, y,
                    a["first_pieces"], a["last_pieces"])  # fmt: skip
        _pieces.join(self, y, alpha, beta)
