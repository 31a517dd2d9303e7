"""SBELL whose block columns are counted from the first of each slice, in 16 bits in place of 32.

Rows of a slice that lie near each other in the mesh have columns near each other, if nodes are numbered so. The few
slices that span more, as along a space-filling curve, keep their columns in 32 bits; a matrix that has many is refused.
Half of the indices are saved: of a value in blocks of 2 × 2 half a byte of 9 in double precision, of 5 in single.
Notes: docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import sbell
from kernels.spmv._csr import Unsuitable, starts

SHORTEN, SHORTEN_BLOCK = Path(__file__).with_name("steps.c"), 128
INDEX_BYTES, PADDED = 2, 65535
BUILDS = [
    (SHORTEN, SHORTEN_BLOCK, {}),
    *(
        (source, block, defines | {"BITS": 16, "FAR": defines["SIZE"] - 2, "index": "ushort"})
        for source, block, defines in sbell.BUILDS
    ),
]


class Packed(sbell.Packed):
    """A thread a block row; parameters as of `sbell`."""

    bits, index = 16, "ushort"

    def plan(self, csr, **options):
        super().plan(csr, **options)
        self.entry_bytes = self.dtype.itemsize + INDEX_BYTES / self.size**2
        xp, (first, span) = csr.xp, self._spans(csr)
        is_far, widths = span >= PADDED, self.slices.offsets[1:] - self.slices.offsets[:-1]
        places = starts(xp.where(is_far, widths // self.slices.size, 0), xp)
        self._far = int(places[-1]) * self.slices.size
        if 2 * self._far > self.slices.entries:
            raise Unsuitable(f"{self._far} of {self.slices.entries} columns are in slices that span more than "
                             f"{PADDED - 1}, which 16 bits tell apart")  # fmt: skip
        self.is_far = self._far > 0
        self._first_columns = xp.where(is_far, -1 - places[:-1], first).astype(xp.int32)

    def _spans(self, csr):
        """Return the first block column of each slice, and the distance to its last."""
        xp, slots = csr.xp, self.slices.slots
        if not csr.nonzeros:
            return (xp.zeros(slots // self.slices.size, xp.int64),) * 2
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
        return low, xp.maximum(high - low, 0)

    def fill(self, csr):
        super().fill(csr)
        device, columns = self.device, self.arrays.pop("columns")
        self.hold(first_columns=self._first_columns)
        far = device.empty(self._far, "int32") if self.is_far else None
        steps = device.empty(columns.size, "uint16")
        shorten = device.build(SHORTEN, block=SHORTEN_BLOCK, defines={}).shorten
        a, blocks = self.arrays, -(-self.slices.slots // SHORTEN_BLOCK)
        shorten(blocks, self.slices.slots, self.slices.size, a["slice_offsets"], a["first_columns"], columns, far,
                steps)  # fmt: skip
        self.hold(columns=steps, **({"far": far} if self.is_far else {}))
