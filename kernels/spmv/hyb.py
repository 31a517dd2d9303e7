"""HYB: ELLPACK as wide as most rows, and coordinates for what is longer (Bell, Garland 2009; CUSP's default).

On an H200 the coordinates' registers leave room for half of the warps. Notes: docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.spmv import coo, ellpack
from kernels.spmv._csr import Csr, starts
from kernels.spmv._matrix import INDEX_BYTES, REAL, Matrix
from kernels.spmv._sliced import WARP

SOURCE, BLOCK = Path(__file__).with_name("hyb.c"), 256
BUILDS = [(SOURCE, BLOCK, {"real": real}) for real in REAL.values()]
COORDINATE_COST = 3  # of a byte in coordinates against one in ELLPACK, as CUSP has it


def builds(device, dtype: str) -> list[tuple]:
    """Return what every matrix of this format builds; one with rows beyond the width builds more."""
    return [(SOURCE, BLOCK, {"real": REAL[dtype]}), *ellpack.builds(device, dtype)]


class Packed(Matrix):
    """An `ellpack` matrix, and a `coo` matrix of what is beyond its width, whose products are added.

    Parameters
    ----------
    width : int, optional
        Entries of a row in the ELLPACK part; by default what costs least.
    """

    def plan(self, csr, width: int | None = None):
        rows = csr.shape[0]
        slots = -(-rows // WARP) * WARP
        counts = self.device.zeros(csr.longest + 1, np.int32)
        self.kernels = self.build(SOURCE, BLOCK, {})
        self.kernels.count_lengths(-(-rows // BLOCK), rows, self.device.array(csr.row_offsets), counts)
        with_length = np.array(self.device.to_host(counts), np.int64)
        longer = rows - np.cumsum(with_length)  # rows with more than k entries; none for the last k
        beyond = np.cumsum(longer[::-1])[::-1]  # entries after the k-th of their row
        if width is None:
            ell, coordinate = self.entry_bytes, COORDINATE_COST * (self.entry_bytes + INDEX_BYTES)
            cost = ell * slots * np.arange(beyond.size) + coordinate * beyond
            width = int(cost.argmin()) if csr.nonzeros else 0
        self.width, self.beyond = width, int(beyond[width]) if width < beyond.size else 0
        self.stored = slots * width + self.beyond

    def fill(self, csr):
        device, shape = self.device, csr.shape
        self.rest = None
        if self.beyond:
            device.prepare(coo.builds(device, self.dtype.name))
        self.ell = ellpack.Packed(device, csr, width=self.width)
        self.arrays = {f"ell_{name}": array for name, array in self.ell.arrays.items()}
        if not self.beyond:
            return
        blocks, size = -(-shape[0] // BLOCK), (shape[0], self.width)
        offsets, *entries = (device.array(array) for array in (csr.row_offsets, csr.columns, csr.values))
        counts = device.empty(shape[0], np.int32)
        self.kernels.count_beyond(blocks, *size, offsets, counts)
        rest_offsets = starts(self.set_up_array(counts), csr.xp, "int32")
        rest = [device.empty(self.beyond, dtype) for dtype in ("int32", "int32", self.dtype)]
        self.kernels.fill_beyond(blocks, *size, offsets, *entries, device.array(rest_offsets), *rest)
        rows, columns, values = (self.set_up_array(array) for array in rest)
        self.rest = coo.Packed(device, Csr(shape, rest_offsets, columns, values, csr.xp), rows=rows)
        self.arrays |= {f"rest_{name}": array for name, array in self.rest.arrays.items()}

    def enqueue(self, x, y, alpha, beta):
        self.ell.enqueue(x, y, alpha, beta)
        if self.rest is not None:
            self.rest.enqueue_rows(x, y, alpha, 1.0)
