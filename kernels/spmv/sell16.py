"""SELL whose columns are counted from the first of each slice, in 16 bits: `sbell16` with blocks of 1 × 1.

Of the 12 bytes of an entry in double precision it saves 2, of the 8 in single precision as many.
"""

from __future__ import annotations

from kernels.spmv import sbell16
from kernels.spmv.sbell16 import BUILDS

__all__ = ["BUILDS", "Packed"]


class Packed(sbell16.Packed):
    """A thread a row; parameters as of `sell`."""

    def plan(self, csr, slice_size: int = 32, window: int | None = None):
        super().plan(csr, size=1, slice_size=slice_size, window=window)
