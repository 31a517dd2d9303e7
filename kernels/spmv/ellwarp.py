"""ELL-WARP, K1 of wong2015: rows sorted by length in warps of 32, each padded to its longest row; a thread a row."""

from __future__ import annotations

from kernels.spmv._warps import Warps


class Packed(Warps):
    """A thread a row, with the parameters of ``_warps.Warps``."""
