"""Warps of 32 lanes, each as wide as its longest row, stored by columns: what K1 and K2 of wong2015 share.

Rows are sorted by length, longest first, and cut into groups of 32; a warp takes a group, or, where lanes share a row,
a part of one. `columns` and `values` hold the entries of a warp's lanes column by column, so that its threads read
neighbours. K1r and K2r also number the unknowns by the sorted rows, which spares the writing of y anywhere; K1rs and
K2rs then sort the columns of each row, so that x is read in order.

On an H200, with thresholds, windows and blocks searched, these decide:

- A matrix near the size of the second-level cache or beyond it: about half a cache of it is kept there, the rest read
  past it.
- K2's lanes gain where rows are long or few. Windows gain where a matrix has one unknown a node.
- Entries far from the diagonal read a sector of 32 bytes of x for 8.
- Loads of eight entries at once rather than four; 12 gain nothing. Blocks of 32 threads lose. Unrolling the rounds of
  eight takes more registers: it gains where a lane has a row of its own and rows are long, and loses where they are
  shared.
- Packing from CSR is bound by launches from Python and two waits for sizes.

On processors windows gain: on an EPYC threads that wrote into the same lines of y waited for one another. With AVX-512
masked gathers find x there.

Notes: docs/notes/spmv.md.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from kernels.spmv._csr import Csr, Unsuitable, check_32_bits, expand, starts
from kernels.spmv._matrix import LANES, Matrix

SOURCE, SET_UP, SET_UP_BLOCK = Path(__file__).with_name("ellwarp.c"), Path(__file__).with_name("warps.c"), 128
WARP = 32
BLOCKS = tuple(range(32, 257, 32))  # threads of a block: the paper's search
BLOCK = 128
DEPTH = 8  # entries of a lane that CUDA loads before the first is used
PARTS = 16  # of a matrix that may stay in the cache or leave it
CACHE_SHARE = 0.5  # of the cache that matrix and vectors may fill; with more, what is kept is pushed out again
# As many registers as it takes: left alone NVRTC keeps to 32, and loads wait for one another.
REGISTERS = {"MIN_BLOCKS": 1, "PARTS": PARTS, "DEPTH": DEPTH}
_LAYOUTS = [{"SPLIT": 0, "SORTED": 1, "COALESCED": 1, "ROLLED": 0},
            {"SPLIT": 1, "SORTED": 1, "COALESCED": 1, "ROLLED": 1},
            {"SPLIT": 0, "SORTED": 0, "COALESCED": 0, "ROLLED": 1}]  # fmt: skip
BUILDS = [(SOURCE, 128 // lanes, {"real": real, "LANES": lanes, "CACHED": cached, **layout, **REGISTERS})
          for lanes, real, cached, layout
          in zip((1, 1, LANES, LANES, 1), ("double", "float", "double", "float", "double"), (1, 0, 1, 1, 1),
                 [*_LAYOUTS[:2], *_LAYOUTS[:2], _LAYOUTS[2]], strict=True)]  # fmt: skip
_kernels: dict[tuple, object] = {}
BUILDS += [(SET_UP, SET_UP_BLOCK, {"real": "double", "MOVED": layout["SPLIT"], **layout}) for layout in _LAYOUTS]


class Warps(Matrix):
    """A matrix in warps.

    Parameters
    ----------
    block : int
        Threads of a block, a multiple of 32 up to 1024.
    window : int, optional
        Rows within which they are sorted by length, a multiple of 32; 1 leaves them in order. By default all rows, as
        in the paper: with a window rows near each other stay so, and x and y are read and written locally.
    reorder : bool
        Number unknowns by the sorted rows (K1r, K2r): a product takes ``x[order]`` and gives ``(A x)[order]``, by the
        attribute `order`. The matrix must be square.
    sort_columns : bool
        Of a reordered matrix, sort each row by the new numbers (K1rs, K2rs).
    remap : bool
        Of a reordered matrix, give y in the old order, which is what Figure 20 measures the cost of.
    coalesced : bool
        Store a warp by columns. Else by rows, which is there to be compared with.
    cached : bool
        Read x through the first-level cache, which on today's GPUs is the paper's texture cache. Else past it; CUDA's
        alone.
    resident_bytes : int, optional
        Of a matrix that is larger, as much is read so that it stays in the last-level cache for the next product, the
        rest so that it leaves; CUDA's alone. By default half of that cache, less the vectors.

    Attributes
    ----------
    order : (rows,) int32 array of the set-up namespace, or None
        The row in each place, where rows are sorted.
    """

    threshold = None  # the most entries of a lane, where lanes share rows

    def plan(self, csr, block: int = BLOCK, window: int | None = None, reorder: bool = False,
             sort_columns: bool = False, remap: bool = False, coalesced: bool = True, cached: bool = True,
             resident_bytes: int | None = None):  # fmt: skip
        rows = csr.shape[0]
        if block % WARP or not WARP <= block <= 1024:
            raise ValueError(f"blocks of {block} threads are no multiple of {WARP} up to 1024")
        if window is not None and window != 1 and (window < WARP or window % WARP):
            raise ValueError(f"windows of {window} rows are no multiple of {WARP}")
        if reorder and rows != csr.shape[1]:
            raise Unsuitable(f"unknowns of a matrix of {rows} rows and {csr.shape[1]} columns have no order of rows")
        if (sort_columns or remap) and not reorder:
            raise ValueError("rows and columns are in order where unknowns are not reordered")
        if not cached and self.device.backend != "cuda":
            raise Unsuitable(f"reading x past the first-level cache is CUDA's, not {self.device.backend}'s")
        self.block, self.coalesced, self.cached, self.reorder = block, coalesced, cached, reorder
        self.sort_columns, self.remap, self.resident_bytes = sort_columns, remap, resident_bytes
        self._cut(csr, window)
        self.stored = WARP * int(self.warp_offsets[-1])
        check_32_bits("stored values", self.stored)

    def _cut(self, csr, window):
        """Put rows into slots and cut them into warps: `slots`, `warps`, `first_slots`, `warp_offsets`."""
        xp, device, rows = csr.xp, self.device, csr.shape[0]
        order = None
        if window != 1 and rows:
            key = -csr.lengths
            if window is not None and window < rows:
                key = xp.arange(rows) // window * 2**31 - csr.lengths
            order = device.array(xp.argsort(key, kind="stable"))
        layout = {"SPLIT": int(self.threshold is not None), "COALESCED": int(self.coalesced)}
        moved = {"SORTED": int(order is not None), "MOVED": int(self.sort_columns)}
        self.set_up = self._built(SET_UP, SET_UP_BLOCK, layout | moved)
        groups, row_offsets = -(-rows // WARP), device.array(csr.row_offsets)
        self.slots = None if order is None else device.empty(WARP * groups, "int32")
        sizes = device.empty(groups, "int32")
        self.set_up.cut_groups(_blocks(WARP * groups), groups, rows, self.threshold or 0, order, row_offsets,
                               self.slots, sizes)  # fmt: skip
        begins = starts(self.set_up_array(sizes), xp, "int32")
        if self.threshold is None:
            self.warps, self.first_slots, self.warp_offsets = groups, None, begins
            return
        self.warps = int(begins[-1])
        self.first_slots, widths = device.zeros(self.warps + 1, "int32"), device.empty(self.warps, "int32")
        self.set_up.cut_warps(_blocks(groups), groups, rows, device.array(begins), self.slots, row_offsets,
                              self.first_slots, widths)  # fmt: skip
        self.warp_offsets = starts(self.set_up_array(widths), xp, "int32")

    @cached_property
    def order(self):
        return None if self.slots is None else self.set_up_array(self.slots)[: self.shape[0]]

    def fill(self, csr):
        device, entries = self.device, self._renumbered(csr) if self.reorder else csr
        arrays = {"warp_offsets": device.array(self.warp_offsets), "first_slots": self.first_slots, "order": self.slots}
        self._layout = self.warps, self.shape[0], *arrays.values()
        if self.reorder and not self.remap:
            arrays["order"] = None  # slots are the rows
        self._entries = [None if array is None else device.array(array)
                         for array in (csr.row_offsets, self.entry_order)]  # fmt: skip
        columns, values = device.empty(self.stored, "int32"), device.empty(self.stored, self.dtype)
        given = device.array(entries.columns), device.array(entries.values)
        blocks = _blocks(WARP * self.warps)
        self.set_up.fill_warps(blocks, *self._layout, self._entries[0], *given, columns, values)
        self.hold(**{name: array for name, array in arrays.items() if array is not None})
        self.hold(columns=columns, values=values)
        self.with_block(self.block)
        kept = self.resident_bytes
        if kept is None:
            kept = max(0, CACHE_SHARE * self.device.cache_bytes - sum(self.shape) * self.dtype.itemsize)
        self.resident = min(PARTS, int(PARTS * kept / max(1, self.bytes)))

    def with_block(self, block: int) -> None:
        """Have products done by blocks of so many threads from now on."""
        self.block, self.blocks = block, -(-self.warps * WARP // block)
        shared = self.first_slots is not None
        short = 2 * self.stored <= DEPTH * WARP * self.warps  # the mean row takes half a round of loads at most
        defines = {"SPLIT": int(shared), "COALESCED": int(self.coalesced), "SORTED": int("order" in self.arrays),
                   "ROLLED": int(shared or short), "CACHED": int(self.cached), "LANES": self.lanes}  # fmt: skip
        self.kernel = self._built(SOURCE, block // self.lanes, defines | REGISTERS).ellwarp

    def _built(self, source, block, defines):
        """Return the kernels of a source, which is read once: that would take as long as packing."""
        key = (self.device, source, block, self.dtype, *sorted(defines.items()))
        if key not in _kernels:
            _kernels[key] = self.build(source, block, defines)
        return _kernels[key]

    def _renumbered(self, csr):
        """Return the matrix with columns by the sorted rows, rows where they are; set `entry_order` if entries move."""
        xp, rows = csr.xp, csr.shape[0]
        number = xp.empty(rows, dtype=xp.int32)  # P^-1
        number[slice(None) if self.order is None else self.order] = xp.arange(rows, dtype=xp.int32)
        columns, values = number[csr.columns], csr.values
        if self.sort_columns:
            key = expand(csr.row_offsets, xp).astype(xp.int64) * rows + columns
            self.entry_order = xp.argsort(key, kind="stable").astype(xp.int32)
            columns, values = columns[self.entry_order], values[self.entry_order]
        return Csr(csr.shape, csr.row_offsets, columns, values, xp)

    entry_order = None

    @cached_property
    def places(self):
        """The place in `values` of each entry of the CSR matrix, int32 array of the device."""
        places = self.device.empty(self.nonzeros, "int32")
        self.set_up.find_places(_blocks(WARP * self.warps), *self._layout, *self._entries, places)
        return places

    def refill(self, values) -> None:
        """Enqueue the taking over of new values of the same structure (the reordering of equation 14).

        The paper scatters through `places`; here a lane walks its row, which writes in order and reads no map.

        Parameters
        ----------
        values : (nonzeros,) array of the device
            In the order of the CSR matrix that was packed.
        """
        if values.size != self.nonzeros:
            raise ValueError(f"the matrix has {self.nonzeros} entries, not {values.size}")
        blocks = _blocks(WARP * self.warps)
        self.set_up.refill(blocks, *self._layout, *self._entries, values, self.arrays["values"])

    def enqueue(self, x, y, alpha, beta):
        a = self.arrays
        self.kernel(self.blocks, self.warps, self.shape[0], self.resident, alpha, beta, a["warp_offsets"],
                    a.get("first_slots"), a.get("order"), a["columns"], a["values"], x, y)  # fmt: skip


def _blocks(threads):
    return -(-threads // SET_UP_BLOCK)
