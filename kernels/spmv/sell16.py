"""SELL whose columns are counted from the first of each slice, in 16 bits: `sbell16` with blocks of 1 × 1.

An entry has 10 bytes in place of SELL's 12 in double precision, and 6 in place of 8 in single.
"""

from __future__ import annotations

from kernels.spmv import sbell16
from kernels.spmv.sbell16 import BUILDS

__all__ = ["BUILDS", "Packed"]


class Packed(sbell16.Packed):
    """A thread a row; parameters as of `sell`."""

    def plan(self, csr, slice_size: int = 32, window: int | None = None):
        super().plan(csr, size=1, slice_size=slice_size, window=window)
