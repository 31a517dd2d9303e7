"""Rows that several blocks of threads sum in pieces: found once, joined after each product, always in one order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.spmv._matrix import REAL, Matrix

SOURCE, BLOCK = Path(__file__).with_name("pieces.c"), 128
BUILDS = [(SOURCE, BLOCK, {"real": real}) for real in REAL.values()]
LARGEST_TILE = 3072  # items, of twelve bytes of shared memory each: a block has 48 KB
CPU_TILE = (16, 63)  # threads of a block and, odd so that banks of shared memory do not collide, items of a thread


def builds(source, gpu_tile):
    """Return the builds of a kernel with tiles, for the tests."""
    return [tile_build(source, gpu_tile, is_gpu, dtype) for is_gpu, dtype in ((True, "float64"), (False, "float32"))]


def tile_build(source, gpu_tile, is_gpu: bool, dtype: str, items: int | None = None) -> tuple:
    """Return the build of a kernel with tiles; `items` are a thread's."""
    threads, usual = gpu_tile if is_gpu else CPU_TILE
    items = items or usual
    while threads * items > LARGEST_TILE:
        threads //= 2
    return source, threads, {"real": REAL[dtype], "ITEMS": items, "INTERLEAVED": int(is_gpu)}


def tiled(matrix: Matrix, source, gpu_tile, items: int | None = None):
    """Return the kernels of a source with tiles, and the items of a block of threads; `items` are a thread's."""
    build = tile_build(source, gpu_tile, matrix.device.is_gpu, matrix.dtype.name, items)
    _, threads, defines = build
    return matrix.device.build(*build), threads * defines["ITEMS"]


def hold(matrix: Matrix, crossing, blocks: int) -> None:
    """Make `matrix` hold the split rows and room for their pieces.

    Parameters
    ----------
    crossing : (blocks - 1,) int array of NumPy
        The row that goes on from one block into the next, -1 where none does.
    """
    at = np.nonzero(crossing >= 0)[0].astype(np.int32)
    rows = crossing[at].astype(np.int32)
    changes, end = rows[1:] != rows[:-1], np.ones(min(1, rows.size), dtype=bool)
    is_first, is_last = np.concatenate([end, changes]), np.concatenate([changes, end])
    matrix.hold(
        split_rows=rows[is_first],
        split_firsts=at[is_first],
        split_lasts=at[is_last] + 1,
        first_pieces=matrix.device.empty(blocks, matrix.dtype),
        last_pieces=matrix.device.empty(blocks, matrix.dtype),
    )
    matrix.join = matrix.build(SOURCE, BLOCK, {}).join


def join(matrix: Matrix, y, alpha: float, beta: float) -> None:
    """Enqueue the sums of split rows."""
    a = matrix.arrays
    splits = a["split_rows"].size
    matrix.join(-(-splits // BLOCK), splits, alpha, beta, a["split_rows"], a["split_firsts"], a["split_lasts"],
                a["first_pieces"], a["last_pieces"], y)  # fmt: skip
