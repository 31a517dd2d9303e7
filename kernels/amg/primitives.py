"""Exclusive sums, members of groups, rows in a new order and transposes, on the device by portable kernels."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("primitives.c")
BLOCK, ITEMS, LANES, STAGED = 256, 16, 16, 64
DEFINES = {"ITEMS": ITEMS, "LANES": LANES, "STAGED": STAGED}
BUILDS = [(SOURCE, BLOCK, DEFINES)]
ROWS = BLOCK // LANES
MOST_ENTRIES = 2**31 - 1


@dataclass(frozen=True)
class Csr:
    """A sparse matrix or graph as arrays of the device.

    Attributes
    ----------
    shape : (int, int)
    offsets : (rows + 1,) int32
    columns : (entries,) int32
    values : (entries,) float64, or None
    weights : (entries,) int32, or None
        Adjacency of a graph; None counts each entry once.
    """

    shape: tuple[int, int]
    offsets: Any
    columns: Any
    values: Any = None
    weights: Any = None

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def entries(self) -> int:
        return self.columns.size


@functools.cache
def kernels_of(device):
    """Return the kernels of this module on a device."""
    return device.build(SOURCE, block=BLOCK, defines=DEFINES)


def blocks(count: int, block: int = BLOCK) -> int:
    """Return the blocks that hold so many threads or rows."""
    return -(-count // block)


def host_ints(device, array) -> list[int]:
    """Return a small array of the device as a list of ints: the only thing of a set-up that the host sees."""
    return [int(value) for value in device.to_host(array)]


def exclusive_sum(device, counts, with_cursors=False):
    """Return the offsets of segments of these sizes.

    Parameters
    ----------
    device : kernels.device.Device
    counts : (n,) int32
    with_cursors : bool
        Also return a copy of the first n offsets, for kernels that fill segments.

    Returns
    -------
    offsets : (n + 1,) int32
    sums : (chunks + 1,) int64
        Its last value is the total, see `total_of`.
    cursors : (n,) int32, or None

    """
    kernels, n = kernels_of(device), counts.size
    chunks = blocks(n + 1, BLOCK * ITEMS)
    sums, offsets = device.empty(chunks + 1, np.int64), device.empty(n + 1, np.int32)
    cursors = device.empty(n, np.int32) if with_cursors else None
    kernels.chunk_sums(chunks, n, counts, sums)
    kernels.scan_sums(1, chunks, sums)
    kernels.scan_chunks(chunks, n, counts, sums, offsets, cursors)
    return offsets, sums, cursors


def total_of(device, sums) -> int:
    """Return the total that `exclusive_sum` left at the end of `sums`.

    Raises
    ------
    ValueError
        When 32-bit offsets cannot hold it.
    """
    total = int(device.to_host(sums[-1:])[0]) if device.backend == "cuda" else int(device.to_host(sums)[-1])
    if total > MOST_ENTRIES:
        raise ValueError(f"{total} entries are more than 32-bit offsets can address")
    return total


def group_members(device, labels, groups: int):
    """Return the members of every group, ascending, as a graph of `groups` rows; labels below 0 belong to none."""
    kernels, n = kernels_of(device), labels.size
    counts = device.zeros(groups, np.int32)
    kernels.count_labels(blocks(n), n, labels, None, counts)
    offsets, _, cursors = exclusive_sum(device, counts, with_cursors=True)
    unsorted, members = device.empty(n, np.int32), device.empty(n, np.int32)
    kernels.fill_members(blocks(n), n, labels, cursors, unsorted)
    kernels.rearrange(
        blocks(groups, ROWS), groups, None, None, offsets, unsorted, None, None, offsets, members, None, None, None
    )
    return Csr((groups, n), offsets, members)


def rearranged(device, matrix: Csr, order=None, rank=None, duplicates=None) -> Csr:
    """Return the matrix whose row i is row ``order[i]``, with columns renumbered by `rank` and sorted.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : Csr
    order, rank : (rows,) and (columns,) int32, optional
    duplicates : (1,) int32, optional
        Is increased for every entry whose column stands in its row twice.
    """
    kernels, rows = kernels_of(device), matrix.rows
    offsets = matrix.offsets
    if order is not None:
        lengths = device.empty(rows, np.int32)
        kernels.row_lengths(blocks(rows), rows, order, matrix.offsets, lengths)
        offsets, _, _ = exclusive_sum(device, lengths)
    columns = device.empty(matrix.entries, np.int32)
    values = None if matrix.values is None else device.empty(matrix.entries, np.float64)
    weights = None if matrix.weights is None else device.empty(matrix.entries, np.int32)
    kernels.rearrange(
        blocks(rows, ROWS), rows, order, rank, matrix.offsets, matrix.columns, matrix.values, matrix.weights,
        offsets, columns, values, weights, duplicates,
    )  # fmt: skip
    return Csr(matrix.shape, offsets, columns, values, weights)


def transposed(device, matrix: Csr) -> Csr:
    """Return the transpose, its columns sorted."""
    kernels, rows, columns = kernels_of(device), *matrix.shape
    counts = device.zeros(columns, np.int32)
    kernels.count_labels(blocks(matrix.entries), matrix.entries, matrix.columns, None, counts)
    offsets, _, cursors = exclusive_sum(device, counts, with_cursors=True)
    places, values = device.empty(matrix.entries, np.int32), device.empty(matrix.entries, np.float64)
    kernels.fill_transpose(
        blocks(rows, ROWS), rows, matrix.offsets, matrix.columns, matrix.values, cursors, places, values
    )
    return rearranged(device, Csr((columns, rows), offsets, places, values))


def inverse_permutation(device, order):
    """Return the rank of every index in a permutation."""
    rank = device.empty(order.size, np.int32)
    kernels_of(device).invert(blocks(order.size), order.size, order, rank)
    return rank


def gathered(device, values, places):
    """Return ``values[places]`` of int32 arrays."""
    result = device.empty(places.size, np.int32)
    kernels_of(device).gather(blocks(places.size), places.size, places, values, result)
    return result
