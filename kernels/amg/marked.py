"""Sparse products, induced graphs and transposes of the set-up on a processor: one pass, entries found by markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import Csr, built
from kernels.amg.primitives import exclusive_sum, total_of

SOURCE = Path(__file__).with_name("marked.c")
DTYPES = {"double": np.float64, "int": np.int32}
BUILDS = [(SOURCE, 1, {"real": real}) for real in DTYPES]
PARTS, ROWS = 4, 64  # parts a thread, which evens out their work, and the least rows of a part
PADDING = 16  # entries that `sort` looks at behind the last


def _parts(device, rows: int) -> int:
    return max(1, min(PARTS * device.compute_units, rows // ROWS))


def _rows(device, x: Csr, y: Csr, width: int, real: str, fill) -> Csr:
    """Return the rows of `x.rows` that ``fill(kernels, parts, places)`` finds, which have no more terms than X Y."""
    kernels, rows, parts = built(device, SOURCE, 1, real=real), x.rows, _parts(device, x.rows)
    counts = device.empty(parts, np.int64)
    kernels.terms(parts, rows, parts, x.offsets, x.columns, y.offsets, counts)
    ends = np.cumsum(device.to_host(counts))
    starts, most = device.array(np.append(0, ends[:-1])), int(ends[-1]) + PADDING
    lengths, markers = device.empty(rows, np.int32), device.empty(parts * width, np.int32)
    found, sums = device.empty(most, np.int32), device.empty(most, DTYPES[real])
    fill(kernels, parts, (starts, markers, lengths, found, sums))
    offsets, totals, _ = exclusive_sum(device, lengths)
    entries = total_of(device, totals)
    columns, values = device.empty(entries, np.int32), device.empty(entries, DTYPES[real])
    kernels.sort(parts, rows, parts, starts, offsets, found, sums, columns, values)
    given = {"values": values} if real == "double" else {"weights": values}
    return Csr((rows, width), offsets, columns, **given)


def multiplied(device, x: Csr, y: Csr, own=None, weight: float = 0.0, diagonal=None) -> Csr:
    """Return what `kernels.amg.product.multiplied` does."""
    given = (x.offsets, x.columns, x.values, y.offsets, y.columns, y.values, own, weight, diagonal)
    width = y.shape[1]
    return _rows(
        device, x, y, width, "double",
        lambda kernels, parts, places: kernels.multiply(parts, x.rows, parts, width, *given, *places),
    )  # fmt: skip


def induced_graph(device, graph: Csr, labels, members: Csr) -> Csr:
    """Return what `kernels.amg.induced.induced_graph` does."""
    given = (members.offsets, members.columns, labels, graph.offsets, graph.columns, graph.weights)
    return _rows(
        device, members, graph, members.rows, "int",
        lambda kernels, parts, places: kernels.induce(parts, members.rows, parts, *given, *places),
    )  # fmt: skip


def transposed(device, matrix: Csr) -> Csr:
    """Return the transpose, its columns sorted."""
    kernels, (rows, width) = built(device, SOURCE, 1, real="double"), matrix.shape
    parts = _parts(device, rows)
    markers, counts = device.empty(parts * width, np.int32), device.empty(width, np.int32)
    kernels.tally(parts, rows, parts, width, matrix.offsets, matrix.columns, markers)
    kernels.place(parts, width, parts, markers, counts)
    offsets, _, _ = exclusive_sum(device, counts)
    columns, values = device.empty(matrix.entries, np.int32), device.empty(matrix.entries, np.float64)
    kernels.transpose(
        parts, rows, parts, width, matrix.offsets, matrix.columns, matrix.values, offsets, markers, columns, values
    )
    return Csr((width, rows), offsets, columns, values)
