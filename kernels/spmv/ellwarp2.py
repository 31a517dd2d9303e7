"""ELL-WARP v2, K2 of wong2015: as K1, but lanes share the rows that are longer than a threshold.

A group of 32 rows whose longest has more entries than the threshold is halved, each row on twice as many lanes, until
a lane has no more or a warp has a single row. The paper does not say which entries a lane takes: here lane i of n
takes entries i, i + n, i + 2n and so on, so that the lanes of a row read neighbouring columns.
"""

from __future__ import annotations

from kernels.spmv._warps import Warps


class Packed(Warps):
    """Several threads a row where rows are long.

    Parameters
    ----------
    threshold : int, optional
        The most entries of a lane, but for rows longer than 32 times as much. By default the mean length of a row,
        rounded up.
    **options
        Options of ``_warps.Warps``.
    """

    def plan(self, csr, threshold: int | None = None, **options):
        if threshold is None:
            threshold = max(1, -(-csr.nonzeros // max(1, csr.shape[0])))
        if threshold < 1:
            raise ValueError(f"a lane cannot have at most {threshold} entries")
        self.threshold = threshold
        super().plan(csr, **options)
