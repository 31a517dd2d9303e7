"""Slices of rows stored by columns: their layout, and the kernel that fills them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kernels.spmv._csr import Csr, starts
from kernels.spmv._matrix import INDEX_BYTES, LANES, REAL, Matrix

FILL, FILL_BLOCK = Path(__file__).with_name("fill.c"), 128
WARP = 32  # slices are multiples of it, so that threads of a warp read neighbouring values
WINDOWS = (1, 1024, 32768)  # rows; the larger, the less padding, and the more scattered the rows of a slice
WORTH = 0.98  # sorting in a larger window must bring the bytes down to this


def fill_build(dtype: str, is_sorted: bool) -> tuple:
    """Return the build of the kernel that fills slices, of rows in their order or sorted."""
    return FILL, FILL_BLOCK, {"real": REAL[dtype], "SORTED": int(is_sorted)}


BUILDS = [fill_build("float64", False), fill_build("float32", True)]


@dataclass(frozen=True)
class Slices:
    """Where rows and entries of a sliced format lie.

    Attributes
    ----------
    size : int
        Rows a slice.
    offsets : (slices + 1,) int64
        First entry of each slice. An entry is a value, or a block.
    order : (slots,) int32 or None
        The row in each slot, -1 in those after the last row; None where slot i holds row i.
    """

    size: int
    offsets: Any
    order: Any

    @property
    def slots(self) -> int:
        return self.size * (self.offsets.size - 1)

    @cached_property
    def entries(self) -> int:
        """Entries with padding; asks the device the first time."""
        return int(self.offsets[-1])

    def arrays(self) -> dict:
        """Return the arrays that a kernel takes: order, which may be missing, and offsets."""
        return {"slice_offsets": self.offsets} | ({} if self.order is None else {"order": self.order})


def lanes(device, size: int) -> int:
    """Return the rows that a thread takes in lockstep: one on a GPU, else all of a slice of 32 or 64, read in order."""
    if device.is_gpu:
        return 1
    return 2 * LANES if size % (2 * LANES) == 0 else LANES


def shares(device, slots: int, together: int, walkers: int) -> tuple[int, int]:
    """Return how many blocks share the slots, and the slots of each.

    Parameters
    ----------
    device : kernels.device.Device
    slots : int
    together : int
        Slots that a block takes at once.
    walkers : int
        Blocks a multiprocessor, each of which goes through consecutive slots; 0 for as many as take all at once.
    """
    if not walkers:
        return -(-slots // together), together
    chunk = max(together, -(-slots // (walkers * device.compute_units * 2 * LANES)) * 2 * LANES)
    return -(-slots // chunk), chunk


def check_size(size: int) -> None:
    """Raise ValueError for rows a slice that are no multiple of a warp."""
    if size < WARP or size % WARP:
        raise ValueError(f"slices of {size} rows are no multiple of {WARP}")


def cut(lengths, size: int, window: int | None, entry_bytes: float, xp, worth: float = WORTH) -> Slices:
    """Cut rows of these lengths into slices.

    Parameters
    ----------
    lengths : (rows,) int32
        Entries of each row.
    size : int
        Rows a slice, a multiple of 32.
    window : int or None
        Rows within which they are sorted by length, longest first; 1 leaves them. By default the smallest of `WINDOWS`
        beyond which sorting saves less than `worth` tells.
    entry_bytes : float
        Bytes of an entry with its index.
    worth : float, optional
        Share of the bytes down to which a larger window must come.
    """
    check_size(size)
    if window is not None:
        return _cut(lengths, size, window, xp)
    best, least = None, float("inf")
    for candidate in WINDOWS:
        slices = _cut(lengths, size, candidate, xp)
        total = entry_bytes * slices.entries + (INDEX_BYTES * slices.slots if slices.order is not None else 0)
        if total < worth * least:
            best, least = slices, total
    return best


def by_length(lengths, window: int, xp):
    """Return rows by their lengths, longest first within each window of so many, equal ones in order."""
    return xp.argsort(xp.arange(lengths.size) // window * 2**31 - lengths, kind="stable")


def _cut(lengths, size, window, xp):
    if window < 1:
        raise ValueError(f"rows cannot be sorted within windows of {window}")
    rows = lengths.size
    slots = -(-rows // size) * size
    padded = xp.zeros(slots, dtype=lengths.dtype)
    padded[:rows] = lengths
    order = None
    if window > 1 and rows:
        order = xp.full(slots, -1, dtype=xp.int32)
        order[:rows] = by_length(lengths, window, xp)
        padded[:rows] = lengths[order[:rows]]
    widths = padded.reshape(-1, size).max(axis=1) if slots else padded
    return Slices(size, starts(widths.astype(xp.int64) * size, xp), order)


def fill(matrix: Matrix, csr: Csr, slices: Slices) -> None:
    """Make `matrix` hold `columns` and `values` of these slices; a padded column is -1.

    A row longer than its slice is wide is cut off there.
    """
    device = matrix.device
    kernel = device.build(*fill_build(matrix.dtype.name, slices.order is not None)).fill
    columns, values = device.empty(slices.entries, "int32"), device.empty(slices.entries, matrix.dtype)
    given = [device.array(array) for array in (csr.row_offsets, csr.columns, csr.values)]
    offsets = device.array(slices.offsets)
    order = None if slices.order is None else device.array(slices.order)
    blocks = -(-slices.slots // FILL_BLOCK)
    kernel(blocks, slices.slots, slices.size, csr.shape[0], offsets, order, *given, columns, values)
    matrix.hold(columns=columns, values=values)
