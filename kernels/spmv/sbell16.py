"""SBELL whose block columns are counted from the first of each slice, in 16 bits in place of 32.

Rows of a slice that lie near each other in the mesh have columns near each other, if nodes are numbered so. A matrix of
which one slice spans more is refused: sorted over all rows most are. What is saved is half of the indices: of blocks of
2 × 2 in double precision a byte of 18, in single precision one of 10.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import sbell
from kernels.spmv._csr import Unsuitable

SHORTEN, SHORTEN_BLOCK = Path(__file__).with_name("steps.c"), 128
INDEX_BYTES, PADDED = 2, 65535
BUILDS = [
    (SHORTEN, SHORTEN_BLOCK, {}),
    *((source, block, defines | {"BITS": 16, "index": "ushort"}) for source, block, defines in sbell.BUILDS),
]


class Packed(sbell.Packed):
    """A thread a block row; parameters as of `sbell`."""

    bits, index = 16, "ushort"

    def plan(self, csr, **options):
        super().plan(csr, **options)
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES / self.size**2
        self.first_columns, span = self._spans(csr)
        if span >= PADDED:
            raise Unsuitable(f"a slice's columns lie {span} apart, {PADDED - 1} at most in 16 bits")

    def _spans(self, csr):
        """Return the first block column of each slice, int32, and the largest distance to its last."""
        xp, slots = csr.xp, self.slices.slots
        if not csr.nonzeros:
            return xp.zeros(slots // self.slices.size, xp.int32), 0
        is_empty = csr.lengths == 0
        last = csr.nonzeros - 1
        low = xp.where(is_empty, csr.shape[1], csr.columns[xp.minimum(csr.row_offsets[:-1], last)])
        high = xp.where(is_empty, -1, csr.columns[xp.maximum(csr.row_offsets[1:] - 1, 0)])
        low, high = low.reshape(-1, self.size).min(axis=1), high.reshape(-1, self.size).max(axis=1)
        rows = low.size
        order = self.slices.order
        places = xp.minimum(xp.arange(slots) if order is None else xp.where(order < 0, rows, order), rows)
        low = xp.append(low, csr.shape[1])[places].reshape(-1, self.slices.size).min(axis=1) // self.size
        high = xp.append(high, -1)[places].reshape(-1, self.slices.size).max(axis=1) // self.size
        low = xp.where(high < 0, 0, low)
        return low.astype(xp.int32), int((high - low).max())

    def fill(self, csr):
        super().fill(csr)
        device, columns = self.device, self.arrays.pop("columns")
        self.hold(first_columns=self.first_columns)
        steps = device.empty(columns.size, "uint16")
        shorten = device.build(SHORTEN, block=SHORTEN_BLOCK, defines={}).shorten
        a, blocks = self.arrays, -(-self.slices.slots // SHORTEN_BLOCK)
        shorten(blocks, self.slices.slots, self.slices.size, a["slice_offsets"], a["first_columns"], columns, steps)
        self.hold(columns=steps)
