"""ELL-WARP v2, K2 of wong2015: as K1, but lanes share the rows that are longer than a threshold.

A group of 32 rows whose longest has more entries than the threshold is halved, each row on twice as many lanes, until
a lane has no more or a warp has a single row. The paper does not say which entries a lane takes: every so manieth, so
that the lanes of a row read neighbouring columns.
"""

from __future__ import annotations

from kernels.spmv._csr import expand, starts
from kernels.spmv._warps import WARP, Warps, offsets


class Packed(Warps):
    """Several threads a row where rows are long.

    Parameters
    ----------
    threshold : int, optional
        The most entries of a lane, but for rows longer than 32 times as much. By default the mean length of a row,
        rounded up.
    **options
        Those of ``_warps.Warps``.
    """

    def plan(self, csr, threshold: int | None = None, **options):
        if threshold is None:
            threshold = max(1, -(-csr.nonzeros // max(1, csr.shape[0])))
        if threshold < 1:
            raise ValueError(f"a lane cannot have at most {threshold} entries")
        self.threshold = threshold
        super().plan(csr, **options)

    def _cut(self, xp):
        longest = self._widest(WARP)
        lanes = xp.ones_like(longest)  # of a row, for each group
        for _ in range(WARP.bit_length() - 1):
            lanes = xp.where(longest > self.threshold * lanes, 2 * lanes, lanes)
        begins = starts(lanes, xp, "int32")  # a group on twice the lanes takes twice the warps
        group = expand(begins, xp)
        self.warps, lanes = group.size, lanes[group]
        self.first_slots = xp.full(self.warps + 1, WARP * self.groups, dtype=xp.int32)
        self.first_slots[:-1] = WARP * group + (xp.arange(self.warps, dtype=xp.int32) - begins[group]) * (WARP // lanes)
        first = self.first_slots[:-1]
        if self.slots is not None:
            widest = self.slot_lengths[first]
        else:  # longest rows of every 32, 16, ..., 1 slots, one after another
            tables = xp.concatenate([self._widest(WARP >> k) for k in range(WARP.bit_length())])
            widest = tables[self.groups * (lanes - 1) + first // (WARP // lanes)]
        self.warp_offsets = offsets(-(-widest // lanes), xp)
