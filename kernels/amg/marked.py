"""Sparse products of the set-up on a processor: one pass over the terms, columns found again by markers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import Csr, built
from kernels.amg.primitives import exclusive_sum, total_of

SOURCE = Path(__file__).with_name("marked.c")
BUILDS = [(SOURCE, 1, {})]
PARTS, ROWS = 4, 64  # parts a thread, which evens out their work, and the least rows of a part
PADDING = 16  # entries that `sort` looks at behind the last


def multiplied(device, x: Csr, y: Csr, own=None, weight: float = 0.0, diagonal=None) -> Csr:
    """Return what `kernels.amg.product.multiplied` does."""
    kernels, rows, width = built(device, SOURCE, 1), x.rows, y.shape[1]
    parts = max(1, min(PARTS * device.compute_units, rows // ROWS))
    counts = device.empty(parts, np.int64)
    kernels.terms(parts, rows, parts, x.offsets, x.columns, y.offsets, counts)
    ends = np.cumsum(device.to_host(counts))
    starts, most = device.array(np.append(0, ends[:-1])), int(ends[-1]) + PADDING
    lengths, markers = device.empty(rows, np.int32), device.empty(parts * width, np.int32)
    found, sums = device.empty(most, np.int32), device.empty(most, np.float64)
    kernels.multiply(
        parts, rows, parts, width, x.offsets, x.columns, x.values, y.offsets, y.columns, y.values, own, weight,
        diagonal, starts, markers, lengths, found, sums,
    )  # fmt: skip
    offsets, totals, _ = exclusive_sum(device, lengths)
    entries = total_of(device, totals)
    columns, values = device.empty(entries, np.int32), device.empty(entries, np.float64)
    kernels.sort(parts, rows, parts, starts, offsets, found, sums, columns, values)
    return Csr((rows, width), offsets, columns, values)
