"""Grids of quadrilaterals and of hexahedra; those cut into tetrahedra are in `structured`."""

from __future__ import annotations

import numpy as np


def quads(cells: int | tuple[int, int], size: float | tuple[float, float] = 1.0):
    """Return the grid of a rectangle from the origin.

    Parameters
    ----------
    cells : int or two ints
        Elements along each axis.
    size : float or two floats
        Edge lengths of the rectangle.

    Returns
    -------
    points : ndarray of float64, shape (n, 2)
        In lexicographic order: y runs fastest.
    cells : ndarray of int32, shape (m, 4)
        Anticlockwise, in lexicographic order.
    """
    return _grid(cells, size, ((0, 0), (1, 0), (1, 1), (0, 1)))


def hexes(cells: int | tuple[int, int, int], size: float | tuple[float, float, float] = 1.0):
    """Return the grid of a box from the origin, as `quads` does: (n, 3) points, z running fastest, (m, 8) cells.

    Nodes of an element are in meshio's order: around the face of least z anticlockwise seen from above, then above it.
    """
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    return _grid(cells, size, tuple((*corner, z) for z in (0, 1) for corner in square))


def _grid(cells, size, corners):
    dimension = len(corners[0])
    counts = (cells,) * dimension if isinstance(cells, int) else tuple(cells)
    if len(counts) != dimension or min(counts) < 1:
        raise ValueError(f"cells must be one or {dimension} positive integers, not {cells!r}")
    nodes = [n + 1 for n in counts]
    total = int(np.prod(nodes, dtype=np.int64))
    if total > np.iinfo(np.int32).max:
        raise ValueError(f"{'x'.join(map(str, nodes))} nodes are too many for 32-bit node numbers")
    axes = [np.arange(n + 1) * (s / n) for n, s in zip(counts, np.broadcast_to(size, dimension), strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)
    number = np.arange(total, dtype=np.int32).reshape(nodes)
    local = [number[tuple(slice(bit, n + bit) for bit, n in zip(corner, counts, strict=True))] for corner in corners]
    return points, np.stack(local, axis=-1).reshape(-1, len(corners))
