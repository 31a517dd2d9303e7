"""CSR along the merge path of row ends and entries (Merrill, Garland 2016): all threads take equally many of them.

The order of additions is fixed, so that a product gives the same bits each time. On an H200 the walk
along the path is much of what it executes; unrolling it, or more registers a thread, is slower. Notes:
docs/notes/spmv.md.
"""

from __future__ import annotations

from pathlib import Path

from kernels.spmv import _pieces
from kernels.spmv._csr import on_host
from kernels.spmv._matrix import Matrix

SOURCE, GPU_TILE = Path(__file__).with_name("csr_merge.c"), (256, 9)
BUILDS = _pieces.builds(SOURCE, GPU_TILE)


class Packed(Matrix):
    """CSR, and the row at which each block of threads begins; see ``segments.h``.

    Parameters
    ----------
    items : int, optional
        Entries and row ends that a thread takes.
    """

    def plan(self, csr, items: int | None = None):
        if items is not None and items < 1:
            raise ValueError(f"a thread cannot take {items} entries")
        self.items, self.stored = items, csr.nonzeros

    def fill(self, csr):
        xp = csr.xp
        kernels, tile = _pieces.tiled(self, SOURCE, GPU_TILE, self.items)
        rows, total = csr.shape[0], csr.shape[0] + csr.nonzeros
        self.blocks = -(-total // tile)
        # Row end i is item i + row_offsets[i + 1] of the path.
        path = tile * xp.arange(self.blocks + 1)
        path[-1] = total
        ends = csr.row_offsets[1:].astype(xp.int64) + xp.arange(rows)
        block_rows = xp.searchsorted(ends, path)
        inner = block_rows[1:-1]
        goes_on = csr.row_offsets[inner] < path[1:-1] - inner
        self.hold(row_offsets=csr.row_offsets, columns=csr.columns, values=csr.values,
                  block_rows=block_rows.astype(xp.int32))  # fmt: skip
        _pieces.hold(self, on_host(xp.where(goes_on, inner, -1)), self.blocks)
        self.kernel = kernels.csr_merge

    def enqueue(self, x, y, alpha, beta):
        a = self.arrays
        self.kernel(self.blocks, self.shape[0], self.nonzeros, alpha, beta, a["block_rows"], a["row_offsets"],
                    a["columns"], a["values"], x, y, a["first_pieces"], a["last_pieces"])  # fmt: skip
        _pieces.join(self, y, alpha, beta)
