"""Warps of 32 lanes, each as wide as its longest row, stored by columns: what K1 and K2 of wong2015 share.

Rows are sorted by length, longest first, and cut into groups of 32; a warp takes a group, or, where lanes share a row,
a part of one. `columns` and `values` hold the entries of a warp's lanes column by column, so that its threads read
neighbours. K1r and K2r also number the unknowns by the sorted rows, which spares the writing of y anywhere; K1rs and
K2rs then sort the columns of each row, so that x is read in order.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from kernels.spmv._csr import Csr, Unsuitable, check_32_bits, expand, starts
from kernels.spmv._matrix import LANES, REAL, Matrix

SOURCE, SET_UP, SET_UP_BLOCK = Path(__file__).with_name("ellwarp.c"), Path(__file__).with_name("warps.c"), 128
WARP = 32
BLOCKS = tuple(range(32, 257, 32))  # threads of a block: the paper's search
BLOCK = 128
REGISTERS = {"MIN_BLOCKS": 1}  # as many as it takes: left alone NVRTC keeps to 32, and loads wait for one another
_LAYOUTS = [{"SPLIT": 0, "SORTED": 1, "COALESCED": 1}, {"SPLIT": 1, "SORTED": 1, "COALESCED": 1},
            {"SPLIT": 0, "SORTED": 0, "COALESCED": 0}]  # fmt: skip
BUILDS = [(SOURCE, 128 // lanes, {"real": real, "LANES": lanes, "CACHED": cached, **layout, **REGISTERS})
          for lanes, real, cached, layout
          in zip((1, 1, LANES, LANES, 1), ("double", "float", "double", "float", "double"), (1, 0, 1, 1, 1),
                 [*_LAYOUTS[:2], *_LAYOUTS[:2], _LAYOUTS[2]], strict=True)]  # fmt: skip
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
    coalesced : bool
        Store a warp by columns. Else by rows, which is there to be compared with.
    cached : bool
        Read x through the first-level cache, which on today's GPUs is the paper's texture cache. Else past it; CUDA's
        alone.

    Attributes
    ----------
    order : (rows,) int32 array of the set-up namespace, or None
        The row in each place, where rows are sorted.
    """

    def plan(self, csr, block: int = BLOCK, window: int | None = None, reorder: bool = False,
             sort_columns: bool = False, coalesced: bool = True, cached: bool = True):  # fmt: skip
        rows = csr.shape[0]
        if block % WARP or not WARP <= block <= 1024:
            raise ValueError(f"blocks of {block} threads are no multiple of {WARP} up to 1024")
        if window is not None and window != 1 and (window < WARP or window % WARP):
            raise ValueError(f"windows of {window} rows are no multiple of {WARP}")
        if reorder and rows != csr.shape[1]:
            raise Unsuitable(f"unknowns of a matrix of {rows} rows and {csr.shape[1]} columns have no order of rows")
        if sort_columns and not reorder:
            raise ValueError("columns are in order where unknowns are not reordered")
        if not cached and self.device.backend != "cuda":
            raise Unsuitable(f"reading x past the first-level cache is CUDA's, not {self.device.backend}'s")
        self.block, self.coalesced, self.cached, self.reorder = block, coalesced, cached, reorder
        self.sort_columns = sort_columns
        self._place_rows(csr, window)
        self._cut(csr.xp)
        self.stored = WARP * int(self.warp_offsets[-1])
        check_32_bits("stored values", self.stored)

    def _place_rows(self, csr, window):
        """Set `order`, by which slots hold rows, and `slot_lengths`."""
        xp, rows, lengths = csr.xp, csr.shape[0], csr.lengths
        self.groups = -(-rows // WARP)
        self.slots = None
        if window != 1 and rows:
            key = -lengths
            if window is not None and window < rows:
                key = (csr.longest + 1) * (xp.arange(rows) // window) + (csr.longest - lengths)
            self.slots = xp.full(WARP * self.groups, -1, dtype=xp.int32)
            self.slots[:rows] = xp.argsort(key, kind="stable")
            lengths = lengths[self.slots[:rows]]
        self.slot_lengths = xp.zeros(WARP * self.groups, dtype=xp.int32)
        self.slot_lengths[:rows] = lengths

    @property
    def order(self):
        return None if self.slots is None else self.slots[: self.shape[0]]

    def _widest(self, lanes):
        """Return the longest row of every `lanes` slots."""
        if self.slots is not None:  # sorted within windows of whole groups, longest first
            return self.slot_lengths[::lanes]
        return self.slot_lengths.reshape(-1, lanes).max(axis=1)

    def _cut(self, xp):
        """Set `warps`, `warp_offsets` and, where lanes share rows, `first_slots`, by the rows in their slots."""
        raise NotImplementedError

    def fill(self, csr):
        self.row_offsets, entries = csr.row_offsets, csr
        if self.reorder:
            entries = self._renumbered(csr)
        arrays = {"warp_offsets": self.warp_offsets}
        if self.first_slots is not None:
            arrays["first_slots"] = self.first_slots
        if self.slots is not None:
            arrays["order"] = self.slots
        self.hold(**arrays)
        layout = {"SPLIT": int(self.first_slots is not None), "COALESCED": int(self.coalesced)}
        moved = {"SORTED": int(self.slots is not None), "MOVED": int(self.entry_order is not None)}
        self.set_up = self.build(SET_UP, SET_UP_BLOCK, layout | moved)
        device, a = self.device, self.arrays
        columns, values = device.empty(self.stored, "int32"), device.empty(self.stored, self.dtype)
        given = [device.array(array) for array in (entries.row_offsets, entries.columns, entries.values)]
        self.set_up.fill_warps(self._set_up_blocks, *self._layout(), *given, columns, values)
        self.hold(columns=columns, values=values)
        if self.reorder:
            del a["order"]  # slots are the rows
        threads = self.block // self.lanes
        defines = {**layout, "SORTED": int("order" in a), "CACHED": int(self.cached), "LANES": self.lanes}
        self.kernel = self.build(SOURCE, threads, defines | REGISTERS).ellwarp
        self.blocks = -(-self.warps * WARP // self.block)

    def _renumbered(self, csr):
        """Return the matrix with columns by the sorted rows, rows where they are; set `entry_order` if entries move."""
        xp, rows = csr.xp, csr.shape[0]
        number = xp.empty(rows, dtype=xp.int32)  # P^-1
        number[self.order if self.slots is not None else slice(None)] = xp.arange(rows, dtype=xp.int32)
        columns, values = number[csr.columns], csr.values
        if self.sort_columns:
            key = expand(csr.row_offsets, xp).astype(xp.int64) * rows + columns
            self.entry_order = xp.argsort(key, kind="stable").astype(xp.int32)
            columns, values = columns[self.entry_order], values[self.entry_order]
        return Csr(csr.shape, csr.row_offsets, columns, values, xp)

    entry_order = None

    @property
    def _set_up_blocks(self):
        return -(-self.warps * WARP // SET_UP_BLOCK)

    def _layout(self):
        device = self.device
        slots = None if self.slots is None else device.array(self.slots)
        return self.warps, self.shape[0], self.arrays["warp_offsets"], self.arrays.get("first_slots"), slots

    @cached_property
    def places(self):
        """The place in `values` of each entry of the CSR matrix, int32 array of the device."""
        device = self.device
        places, moved = device.empty(self.nonzeros, "int32"), self.entry_order
        self.set_up.find_places(
            self._set_up_blocks, *self._layout(), device.array(self.row_offsets),
            None if moved is None else device.array(moved), places,
        )  # fmt: skip
        return places

    def refill(self, values) -> None:
        """Enqueue the taking over of new values of the same structure (the reordering of equation 14).

        Parameters
        ----------
        values : (nonzeros,) array of the device
            In the order of the CSR matrix that was packed.
        """
        if values.size != self.nonzeros:
            raise ValueError(f"the matrix has {self.nonzeros} entries, not {values.size}")
        blocks = -(-self.nonzeros // SET_UP_BLOCK)
        self.set_up.scatter(blocks, self.nonzeros, self.places, values, self.arrays["values"])

    def enqueue(self, x, y, alpha, beta):
        a = self.arrays
        self.kernel(self.blocks, self.warps, self.shape[0], alpha, beta, a["warp_offsets"], a.get("first_slots"),
                    a.get("order"), a["columns"], a["values"], x, y)  # fmt: skip


def offsets(widths, xp):
    """Return the first column of each warp, of 32 entries, with the total last; int32."""
    return starts(widths, xp, "int32")
