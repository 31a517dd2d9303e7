"""Sparse products of the set-up: smoothed prolongator, A P and the Galerkin matrix, rows in hash tables on chip."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg import marked
from kernels.amg.arrays import Csr, blocks, built, host_ints
from kernels.amg.primitives import exclusive_sum, rearranged

SOURCE = Path(__file__).with_name("product.c")
# Threads a block, threads a row, slots of a row's table: each for the rows that overflow the one before.
SIZES = ((64, 8, 32), (64, 32, 128), (64, 64, 1024))
BUILDS = [(SOURCE, block, {"LANES": lanes, "TABLE": table}) for block, lanes, table in SIZES]
BYTES_A_SLOT = 16


def builds(device) -> list[tuple]:
    """Return what the products of most set-ups build."""
    return BUILDS[:2] if device.is_gpu else marked.BUILDS


def multiplied(device, x: Csr, y, *, first: int = 0, own=None, weight=0.0, diagonal=None, loose=False):
    """Return X Y, or ``T - weight D⁻¹ X T`` of a tentative prolongator T, columns sorted, the same bits every time.

    Parameters
    ----------
    device : kernels.device.Device
    x : Csr, (n, m)
    y : Csr, or what a product left loose, (m, p)
        Without offsets: T, a one in column ``columns[row]`` of each row.
    first : int
        The configuration of `SIZES` to begin with: the one for most rows.
    own : (n,) int32, optional
        Column of the one in each row of T; asks for the smoothed prolongator.
    weight : float
        ω.
    diagonal : (n,) float64
        D.
    loose : bool
        Whether a processor may leave its rows as they were found, for products from the left, `marked.transposed` and
        `settled`.
    """
    if not device.is_gpu:
        return marked.multiplied(device, x, y, own, weight, diagonal, loose)
    return in_tables(device, x, y, first, own, weight, diagonal)


def settled(device, matrix, rank=None) -> Csr:
    """Return a matrix, or what a product left loose, with columns renumbered by `rank` and sorted."""
    if isinstance(matrix, marked.Loose):
        return marked.settled(device, matrix, rank)
    return matrix if rank is None else rearranged(device, matrix, rank=rank)


def in_tables(device, x: Csr, y: Csr, first: int = 0, own=None, weight: float = 0.0, diagonal=None) -> Csr:
    """Return what `multiplied` does, each row found in a hash table on chip.

    Raises
    ------
    ValueError
        When a row of the result has more entries than the device's shared memory holds.
    kernels.device.errors.BuildError
        On CUDA from a row of more than 1536 entries on. Its table takes 64 KB, and arrays of a kernel that are declared
        in its source may take 48 KB there.
    """
    rows, shape = x.rows, (x.rows, y.shape[1])
    counts = device.empty(rows, np.int32)
    given = (x.offsets, x.columns, x.values, y.offsets, y.columns, y.values, own, weight, diagonal, counts)
    which, left, launched = None, rows, []
    for block, lanes, table in _configurations(device, first):
        kernel, grid = built(device, SOURCE, block, LANES=lanes, TABLE=table).product, blocks(left, block // lanes)
        found, overflowing = device.zeros(2, np.int32), device.empty(left, np.int32)
        kernel(grid, left, 0, which, *given, None, None, None, found, overflowing)
        launched.append((kernel, grid, left, which))
        offsets, _ = exclusive_sum(device, counts, totals=found, place=1)  # for nothing where a row overflows: few do
        which, (left, entries) = overflowing, host_ints(device, found)
        if not left:
            break
    else:
        raise ValueError(
            f"a row of a product has more entries than a table of {table} slots takes: the matrix has rows too long"
        )
    columns, values = device.empty(entries, np.int32), device.empty(entries, np.float64)
    for kernel, grid, count, those in launched:
        kernel(grid, count, 1, those, *given, offsets, columns, values, None, None)
    return Csr(shape, offsets, columns, values)


def _configurations(device, first):
    yield from SIZES[first:]
    _, _, table = SIZES[-1]
    while BYTES_A_SLOT * 2 * table <= device.shared_bytes - 1024:
        table *= 2
        yield 128, 128, table
