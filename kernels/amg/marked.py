"""Sparse products, induced graphs and transposes of the set-up on a processor: one pass, entries found by markers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.amg.arrays import Csr, blocks, built, host_ints
from kernels.amg.primitives import ROWS as ROWS_A_BLOCK
from kernels.amg.primitives import exclusive_sum, rearranged, rearrangement

SOURCE = Path(__file__).with_name("marked.c")
DTYPES = {"double": np.float64, "int": np.int32}
BUILDS = [(SOURCE, 1, {"real": real}) for real in DTYPES]
PARTS, ROWS = 4, 64  # parts a thread, which evens out their work, and the least rows of a part
PADDING = 16  # entries that `sort` looks at behind the last


@dataclass(frozen=True)
class Loose:
    """A sparse matrix whose rows lie as they were found: unsorted, with gaps between them.

    Attributes
    ----------
    shape : (int, int)
    begins : (rows,) int64
    lengths : (rows,) int32
    columns : int32
    values : float64, or int32 of a graph's weights
    """

    shape: tuple[int, int]
    begins: Any
    lengths: Any
    columns: Any
    values: Any


def _parts(device, rows: int, entries: int, width: int) -> int:
    """Return how many parts rows are cut into: markers take eight bytes an entry of X, or each thread has one part."""
    threads = device.compute_units
    return max(1, min(PARTS * threads, rows // ROWS, max(threads, 2 * entries // max(1, width))))


def _rows(device, x: Csr, y, width: int, real: str, fill) -> Loose:
    """Return the rows of `x.rows` that ``fill(kernels, parts, places)`` finds, which have no more terms than X Y."""
    kernels, rows, parts = built(device, SOURCE, 1, real=real), x.rows, _parts(device, x.rows, x.entries, width)
    counts = device.empty(parts, np.int64)
    offsets, _, lengths = _spans(y)
    kernels.terms(parts, rows, parts, width, x.offsets, x.columns, offsets, lengths, counts)
    ends = np.cumsum(device.to_host(counts))
    starts, most = device.array(np.append(0, ends[:-1])), int(ends[-1]) + PADDING
    markers = device.empty(parts * width, np.int32)
    begins, lengths = device.empty(rows, np.int64), device.empty(rows, np.int32)
    found, sums = device.empty(most, np.int32), device.empty(most, DTYPES[real])
    fill(kernels, parts, (starts, markers, begins, lengths, found, sums))
    return Loose((rows, width), begins, lengths, found, sums)


def _spans(y):
    """Return offsets, beginnings and lengths of the rows of Y, with None for each that Y lacks."""
    return (None, y.begins, y.lengths) if isinstance(y, Loose) else (y.offsets, None, None)


def _packed(device, loose: Loose, real: str) -> Csr:
    """Return the matrix without gaps, its columns sorted."""
    rows, total = loose.shape[0], device.empty(1, np.int32)
    offsets, _ = exclusive_sum(device, loose.lengths, totals=total)
    [entries], parts = host_ints(device, total), max(1, min(PARTS * device.compute_units, rows // ROWS))
    columns, values = device.empty(entries, np.int32), device.empty(entries, DTYPES[real])
    built(device, SOURCE, 1, real=real).sort(
        parts, rows, parts, loose.begins, offsets, loose.columns, loose.values, columns, values
    )
    given = {"values": values} if real == "double" else {"weights": values}
    return Csr(loose.shape, offsets, columns, **given)


def multiplied(device, x: Csr, y, own=None, weight: float = 0.0, diagonal=None, loose: bool = False):
    """Return what `kernels.amg.product.multiplied` does; its rows as they were found, where that is enough."""
    given = (x.offsets, x.columns, x.values, *_spans(y), y.columns, y.values, own, weight, diagonal)
    width = y.shape[1]
    made = _rows(
        device, x, y, width, "double",
        lambda kernels, parts, places: kernels.multiply(parts, x.rows, parts, width, *given, *places),
    )  # fmt: skip
    return made if loose else _packed(device, made, "double")


def induced_graph(device, graph: Csr, labels, members: Csr) -> Csr:
    """Return what `kernels.amg.induced.induced_graph` does."""
    given = (members.offsets, members.columns, labels, graph.offsets, graph.columns, graph.weights)
    made = _rows(
        device, members, graph, members.rows, "int",
        lambda kernels, parts, places: kernels.induce(parts, members.rows, parts, *given, *places),
    )  # fmt: skip
    return _packed(device, made, "int")


def settled(device, loose: Loose, rank=None) -> Csr:
    """Return the matrix without gaps, its columns renumbered by `rank` and sorted."""
    if loose.columns.size > np.iinfo(np.int32).max:  # more than the kernel's beginnings tell
        packed = _packed(device, loose, "double")
        return packed if rank is None else rearranged(device, packed, rank=rank)
    rows, total = loose.shape[0], device.empty(1, np.int32)
    offsets, _ = exclusive_sum(device, loose.lengths, totals=total)
    [entries] = host_ints(device, total)
    columns, values = device.empty(entries, np.int32), device.empty(entries, np.float64)
    rearrangement(device)(
        blocks(rows, ROWS_A_BLOCK), rows, None, rank, device.array(loose.begins, np.int32), loose.columns,
        loose.values, None, offsets, columns, values, None, None,
    )  # fmt: skip
    return Csr(loose.shape, offsets, columns, values)


def transposed(device, matrix) -> Csr:
    """Return the transpose of a matrix, or of one whose rows lie as they were found, its columns sorted."""
    kernels, (rows, width), spans = built(device, SOURCE, 1, real="double"), matrix.shape, _spans(matrix)
    parts = _parts(device, rows, matrix.columns.size, width)
    markers, counts = device.empty(parts * width, np.int32), device.empty(width, np.int32)
    kernels.tally(parts, rows, parts, width, *spans, matrix.columns, markers)
    kernels.place(parts, width, parts, markers, counts)
    total = device.empty(1, np.int32)
    offsets, _ = exclusive_sum(device, counts, totals=total)
    [entries] = host_ints(device, total)
    columns, values = device.empty(entries, np.int32), device.empty(entries, np.float64)
    kernels.transpose(
        parts, rows, parts, width, *spans, matrix.columns, matrix.values, offsets, markers, columns, values
    )
    return Csr((width, rows), offsets, columns, values)
