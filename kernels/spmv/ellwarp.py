"""ELL-WARP, K1 of wong2015: rows sorted by length in warps of 32, each padded to its longest row; a thread a row."""

from __future__ import annotations

from kernels.spmv._warps import WARP, Warps, offsets


class Packed(Warps):
    """A thread a row; the parameters are those of ``_warps.Warps``."""

    def _cut(self, xp):
        self.warps, self.first_slots = self.groups, None
        self.warp_offsets = offsets(self._widest(WARP), xp)
