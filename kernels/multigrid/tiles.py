"""Smoothing of a level, and transfer to and from the one below, in two launches: by tiles that overlap.

A launch takes longer than a step on few thousand unknowns. So a block takes all steps on a tile, on a halo as wide as
they are many, which other blocks compute, too: more work, and one launch in place of one a step. The bound of a cycle
counts each step by itself, which is more than tiles need: on small meshes its share is too high. Notes:
docs/notes/multigrid.md.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from kernels.multigrid.small import REAL, by_columns, on_host
from kernels.spmv.sell import FEW

SOURCE = Path(__file__).with_name("tiles.c")
GPU_BLOCK, CPU_BLOCK = 512, 8
MOST = 1024  # rows of a tile with its halo, as shared memory holds
LEAST = 32  # rows of a tile of its own; with fewer it is all halo
DEPTH = 5  # layers of a halo: four steps from zero, the defect, and its restriction
ROWS = 64, 256  # of a tile of its own: as many as give each multiprocessor one, within these
LAST = 32  # levels whose tiles are kept
ZERO, GIVEN, KNOWN, CORRECTED = range(4)
_last: dict[bytes, Any] = {}  # tables and arrays of the last levels, the latest behind, or why there are none
BUILDS = [(SOURCE, block, {"MOST": MOST, "MEMORY": memory, "real": real})
          for block, memory, real in ((GPU_BLOCK, 0, "float"), (GPU_BLOCK, 1, "float"), (GPU_BLOCK, 0, "double"),
                                      (CPU_BLOCK, 1, "double"))]  # fmt: skip


class Unsuitable(Exception):
    """A level's halos are too large for tiles, or its rows too long to be read more than once."""


class Tiles:
    """The work of a V-cycle on a level before and after the coarse correction.

    Parameters
    ----------
    device : kernels.device.Device
    level, below : kernels.multigrid.level.Level
    grid : kernels.multigrid.systems.Grid
    coefficients : (steps, 2) array
        Of the smoother, as of `kernels.multigrid.small`.
    rows, depth : int, optional
        Rows of a tile of its own, at most, and layers around them.

    Raises
    ------
    Unsuitable
    """

    def __init__(self, device, level, below, grid, coefficients, rows: int | None = None,
                 depth: int | None = None):  # fmt: skip
        self.level, self.below, self.depth = level, below, depth or DEPTH
        self.steps, dtype = len(coefficients), level.dtype
        matrix, prolongator = on_host(grid.matrix), on_host(grid.prolongator)
        if matrix.nnz > FEW * level.n:
            raise Unsuitable(f"a row has {matrix.nnz / level.n:.1f} entries on average: tiles take {FEW} at most")
        rows = rows or min(max(ROWS[0], -(-level.n // device.compute_units)), ROWS[1])
        table, arrays = _known(matrix, prolongator, rows, self.depth)
        self.tiles, self._fields = table.shape
        has_memory = bool(np.asarray(coefficients)[:, 1].any())
        self._arrays = [device.array(part, dtype if part.dtype.kind == "f" else None) for part in
                        (table.ravel(), *arrays, np.asarray(coefficients, dtype).ravel())]  # fmt: skip
        self._memories = [device.zeros(level.n, dtype) for _ in range(2)] if has_memory else [None, None]
        block = GPU_BLOCK if device.is_gpu else CPU_BLOCK
        defines = {"MOST": MOST, "MEMORY": int(has_memory), "real": REAL[dtype.name]}
        self._kernel = device.build(SOURCE, block=block, defines=defines).tile_steps

    def descend(self, from_zero: bool) -> None:
        """Enqueue steps from zero, or from `x` whose `defect` is known, and the restriction of the defect below."""
        level, start, first = self.level, ZERO if from_zero else KNOWN, 0
        if from_zero:
            level.reset()
        while True:
            most = self.depth - 2 + (start != GIVEN)  # steps that leave layers for the restriction
            rest = self.steps - first
            ends = rest <= most
            count = rest if ends else min(rest, self.depth + (start != GIVEN))
            products = count - (start != GIVEN)
            self._launch(start, products + 2 * ends, first, first + count, ends)
            if ends:
                return
            start, first = GIVEN, first + count

    def ascend(self) -> None:
        """Enqueue the correction by the level below, and as many steps."""
        start, first = CORRECTED, 0
        while first < self.steps:
            count = min(self.steps - first, self.depth - (start == CORRECTED))
            self._launch(start, count, first, first + count, False)
            start, first = GIVEN, first + count

    def _launch(self, start, layer, first, last, restricts):
        level, below = self.level, self.below
        beside = {KNOWN: level.defect, CORRECTED: below.x}.get(start)
        before, after = self._memories
        self._kernel(self.tiles, self._fields, start, layer, first, last, int(restricts), *self._arrays,
                     level.inverse_diagonal, level.b, level.x, beside, before if start == GIVEN else None, level.spare,
                     after if last < self.steps else None, below.b)  # fmt: skip
        self._memories = [after, before]
        level.swap()


class _Tile:
    """Rows by layers, how many there are up to each, and the coarse rows that a tile restricts to."""

    def __init__(self, rows, counts, coarse):
        self.rows, self.counts, self.coarse = rows, counts, coarse


def _known(matrix, prolongator, rows: int, depth: int):
    """Return what `_searched` does: of the last matrices as it was, since finer hierarchies have their small levels."""
    digest = hashlib.blake2b(f"{prolongator.shape} {rows} {depth}".encode())
    for each in (matrix, prolongator):
        for part in (each.indptr, each.indices, each.data):
            digest.update(np.ascontiguousarray(part))
    key = digest.digest()
    found = _last[key] = _last.pop(key, None) or _searched(matrix, prolongator, rows, depth)
    if len(_last) > LAST:
        del _last[next(iter(_last))]
    if isinstance(found, str):
        raise Unsuitable(found)
    return found


def _searched(matrix, prolongator, rows: int, depth: int):
    """Return the table and the arrays of tiles of as many rows as fit with their halos, or why none do."""
    while True:
        tiles = _tiles(matrix, prolongator, rows, depth)
        if max(len(tile.rows) for tile in tiles) <= MOST:
            return _packed(tiles, matrix, prolongator)
        rows //= 2
        if rows < LEAST:
            return f"a tile of {2 * rows} rows has more than {MOST} with its halo"


def _tiles(matrix, prolongator, rows: int, depth: int) -> list[_Tile]:
    """Return tiles of at most so many rows, and their halos."""
    count = matrix.shape[0]
    parts = _bisected(matrix + matrix.T, rows)
    tile_of = np.empty(count, np.int64)
    for number, part in enumerate(parts):
        tile_of[part] = number
    restriction = prolongator.T.tocsr()
    owners = np.zeros(restriction.shape[0], np.int64)  # of a coarse row the tile of the fine one that weighs most
    lengths = np.diff(restriction.indptr)
    weights = np.abs(restriction.data)
    order = np.lexsort((weights, np.repeat(np.arange(len(lengths)), lengths)))
    owners[lengths > 0] = tile_of[restriction.indices[order[restriction.indptr[1:][lengths > 0] - 1]]]
    found, is_in = [], np.zeros(count, bool)
    for number, part in enumerate(parts):
        coarse = np.flatnonzero(owners == number)
        layers = [part]
        is_in[part] = True
        for depth_now in range(depth):
            read = matrix[layers[-1]].indices
            if depth_now == 0:
                read = np.concatenate([read, restriction[coarse].indices])
            read = np.unique(read[~is_in[read]])
            is_in[read] = True
            layers.append(read)
        tile_rows = np.concatenate(layers)
        is_in[tile_rows] = False
        found.append(_Tile(tile_rows, np.cumsum([len(layer) for layer in layers]), coarse))
    return found


def _bisected(graph, most: int) -> list[np.ndarray]:
    """Return parts of at most so many nodes: halved across breadth-first order from an end of each."""
    parts, done = [(np.arange(graph.shape[0]), -(-graph.shape[0] // most))], []
    while parts:
        part, pieces = parts.pop()
        if pieces == 1:
            done.append(np.sort(part))
            continue
        inner, order = graph[part][:, part], np.zeros(0, int)
        left = np.ones(len(part), bool)
        while left.any():  # of every component
            start = np.flatnonzero(left)[0]
            for _ in range(2):
                reached = csgraph.breadth_first_order(inner, start, directed=False, return_predecessors=False)
                start = reached[-1]
            left[reached] = False
            order = np.concatenate([order, reached])
        half = len(part) * (pieces // 2) // pieces
        parts += [(part[order[:half]], pieces // 2), (part[order[half:]], pieces - pieces // 2)]
    return done


def _packed(tiles, matrix, prolongator):
    """Return the table and the arrays that ``tiles.c`` describes."""
    local = np.zeros(matrix.shape[0], np.int64)
    restriction = prolongator.T.tocsr()
    table, rows, coarse_rows = [], [], []
    entries, above, coarse = ([], []), ([], []), ([], [])
    sizes = dict.fromkeys(("rows", "coarse_rows", "entries", "above", "coarse"), 0)
    for tile in tiles:
        local[tile.rows] = np.arange(len(tile.rows))
        inner = tile.rows[: tile.counts[-2]]
        fields = [sizes["rows"], len(inner)]
        for name, kept, part, is_local in (("entries", entries, matrix[inner], True),
                                           ("above", above, prolongator[inner], False),
                                           ("coarse", coarse, restriction[tile.coarse], True)):  # fmt: skip
            if name == "coarse":
                fields += [len(tile.coarse), sizes["coarse_rows"]]
            if is_local:
                part = type(part)((part.data, local[part.indices], part.indptr), shape=part.shape)
            columns, values = by_columns(part, np.float64)
            fields += [sizes[name], len(columns)]
            kept[0].append(columns.ravel())
            kept[1].append(values.ravel())
            sizes[name] += columns.size
        table.append([*fields, *tile.counts])
        rows.append(tile.rows)
        coarse_rows.append(tile.coarse)
        sizes["rows"] += len(tile.rows)
        sizes["coarse_rows"] += len(tile.coarse)
    return np.array(table, np.int32), (
        np.concatenate(rows).astype(np.int32), *_joined(entries, np.uint16), *_joined(above, np.int32),
        np.concatenate(coarse_rows).astype(np.int32), *_joined(coarse, np.uint16))  # fmt: skip


def _joined(parts, integers):
    return np.concatenate(parts[0]).astype(integers), np.concatenate(parts[1])
