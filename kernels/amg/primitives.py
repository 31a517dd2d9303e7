"""Exclusive sums, members of groups, rows in a new order and transposes, on the device by portable kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, blocks, built, host_ints

SOURCE, REARRANGE = (Path(__file__).with_name(name) for name in ("primitives.c", "rearrange.c"))
ITEMS, LANES, STAGED = 16, 16, 64
DEFINES, REARRANGING = {"ITEMS": ITEMS, "LANES": LANES}, {"LANES": LANES, "STAGED": STAGED}
BUILDS = [(SOURCE, BLOCK, DEFINES), (REARRANGE, BLOCK, REARRANGING)]
ROWS = BLOCK // LANES


def _kernels(device):
    return built(device, SOURCE, BLOCK, **DEFINES)


def rearrangement(device):
    """Return the kernel that puts rows in a new order, and sorts them."""
    return built(device, REARRANGE, BLOCK, **REARRANGING).rearrange


def exclusive_sum(device, counts, with_cursors=False, totals=None, place=0):
    """Return the offsets of segments of these sizes.

    Parameters
    ----------
    device : kernels.device.Device
    counts : (n,) int32
    with_cursors : bool
        Also return a copy of the first n offsets, for kernels that fill segments.
    totals : (k,) int32, optional
        Its value at `place` becomes the total, or -1 where 32 bits do not hold it.

    Returns
    -------
    offsets : (n + 1,) int32
    cursors : (n,) int32, or None

    """
    kernels, n = _kernels(device), counts.size
    chunks = blocks(n + 1, BLOCK * ITEMS)
    sums, offsets = None if chunks == 1 else device.empty(chunks, np.int64), device.empty(n + 1, np.int32)
    cursors = device.empty(n, np.int32) if with_cursors else None
    if chunks > 1:
        kernels.chunk_sums(chunks, n, counts, sums)
        kernels.scan_sums(1, chunks, sums, totals, place)
    kernels.scan_chunks(chunks, n, chunks == 1, counts, sums, offsets, cursors, totals, place)
    return offsets, cursors


def largest_of(device, values) -> int:
    """Return the largest of int32 values, or 0 where none is positive."""
    most = device.zeros(1, np.int32)
    _kernels(device).largest(blocks(values.size), values.size, values, most)
    return host_ints(device, most)[0]


def row_lengths(device, offsets, order=None):
    """Return the lengths of the segments with these offsets: in `order`, where it is given."""
    rows = offsets.size - 1 if order is None else order.size
    lengths = device.empty(rows, np.int32)
    _kernels(device).row_lengths(blocks(rows), rows, order, offsets, lengths)
    return lengths


def densified(device, matrix: Csr):
    """Return a square matrix without duplicates as a dense (n, n) float64 array."""
    dense = device.zeros((matrix.rows, matrix.rows), np.float64)
    _kernels(device).spread(
        blocks(matrix.rows, ROWS), matrix.rows, matrix.offsets, matrix.columns, matrix.values, dense
    )
    return dense


def group_sizes(device, labels, weights, groups: int, most=None):
    """Return the weight of every group: its members, or the sum of their `weights`; labels below 0 belong to none.

    The first value of `most` is raised to the largest, where it is given.
    """
    sizes = device.zeros(groups, np.int32)
    _kernels(device).count_labels(blocks(labels.size), labels.size, labels, weights, sizes)
    if most is not None:
        _kernels(device).largest(blocks(groups), groups, sizes, most)
    return sizes


def group_members(device, labels, groups: int):
    """Return the members of every group, ascending, as a graph of `groups` rows; labels below 0 belong to none."""
    kernels, n = _kernels(device), labels.size
    offsets, cursors = exclusive_sum(device, group_sizes(device, labels, None, groups), with_cursors=True)
    unsorted, members = device.empty(n, np.int32), device.empty(n, np.int32)
    kernels.fill_members(blocks(n), n, labels, cursors, unsorted)
    rearrangement(device)(
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
    rows, offsets = matrix.rows, matrix.offsets
    if order is not None:
        offsets, _ = exclusive_sum(device, row_lengths(device, offsets, order))
    columns = device.empty(matrix.entries, np.int32)
    values = None if matrix.values is None else device.empty(matrix.entries, np.float64)
    weights = None if matrix.weights is None else device.empty(matrix.entries, np.int32)
    rearrangement(device)(
        blocks(rows, ROWS), rows, order, rank, matrix.offsets, matrix.columns, matrix.values, matrix.weights,
        offsets, columns, values, weights, duplicates,
    )  # fmt: skip
    return Csr(matrix.shape, offsets, columns, values, weights)


def transposed(device, matrix: Csr) -> Csr:
    """Return the transpose, its columns sorted; `kernels.amg.marked.transposed` is a processor's."""
    kernels, rows, columns = _kernels(device), *matrix.shape
    offsets, cursors = exclusive_sum(device, group_sizes(device, matrix.columns, None, columns), with_cursors=True)
    places, values = device.empty(matrix.entries, np.int32), device.empty(matrix.entries, np.float64)
    kernels.fill_transpose(
        blocks(rows, ROWS), rows, matrix.offsets, matrix.columns, matrix.values, cursors, places, values
    )
    return rearranged(device, Csr((columns, rows), offsets, places, values))


def inverse_permutation(device, order):
    """Return the rank of every index in a permutation."""
    rank = device.empty(order.size, np.int32)
    _kernels(device).invert(blocks(order.size), order.size, order, rank)
    return rank


def gathered(device, values, places):
    """Return ``values[places]`` of int32 arrays."""
    result = device.empty(places.size, np.int32)
    _kernels(device).gather(blocks(places.size), places.size, places, values, result)
    return result
