"""Unstructured triangles of a rectangle: Delaunay's of scattered points, relaxed, no node with too many neighbours."""

from __future__ import annotations

import numpy as np


def scattered(divisions: tuple[int, int], nodes: int, relaxations: int = 2, most: int = 9, seed: int = 1):
    """Return an unstructured mesh of a rectangle with exact numbers of nodes and of boundary edges.

    Nodes along the sides are a unit apart. The others are drawn at random, one from each of as many equal boxes, and
    then go a few times to the centroid of the triangles around them (Chen and Holst, 2011). By Euler's formula `nodes`
    and the 2 (m + n) edges of the boundary fix the other counts.

    Parameters
    ----------
    divisions : two ints
        m and n, edges along the sides of length m and n.
    nodes : int
        About 2 / sqrt(3) m n + m + n for triangles as large as those at the sides.
    relaxations : int
        Times that the inner nodes are moved.
    most : int
        Neighbours that a node may have; edges are flipped where it has more.
    seed : int

    Returns
    -------
    points : ndarray of float64, shape (nodes, 2)
        Points of the boundary first.
    cells : ndarray of int32, shape (2 nodes - 2 - 2 (m + n), 3)
        Anticlockwise.
    """
    from scipy.spatial import Delaunay

    sides = _sides(*divisions)
    points = np.concatenate((sides, _inner(divisions, nodes - len(sides), np.random.default_rng(seed))))
    for _ in range(relaxations):
        cells = Delaunay(points).simplices
        points[len(sides) :] = _centroids(points, cells)[len(sides) :]
    cells = _anticlockwise(points, Delaunay(points).simplices)
    return points, limited(points, cells, most)


def _sides(m, n):
    x, y = np.arange(m + 1.0), np.arange(1.0, n)
    rows = [np.stack((x, np.full_like(x, end)), axis=1) for end in (0.0, n)]
    columns = [np.stack((np.full_like(y, end), y), axis=1) for end in (0.0, m)]
    return np.concatenate(rows + columns)


def _inner(divisions, count, random):
    """Return a random point of each of `count` boxes of nearly equal size, half a unit from the sides."""
    margin = 0.5
    m, n = (division - 2 * margin for division in divisions)
    rows = max(1, round(np.sqrt(count * n / m)))
    first = np.arange(rows + 1) * count // rows
    row = np.repeat(np.arange(rows), np.diff(first))
    column, columns = np.arange(count) - first[row], np.diff(first)[row]
    offset = random.random((count, 2))
    return margin + np.stack((m * (column + offset[:, 0]) / columns, n * (row + offset[:, 1]) / rows), axis=1)


def _centroids(points, cells):
    """Return the centroid of the triangles around each node."""
    areas = np.abs(_doubled_areas(points, cells))
    weighted = areas[:, None] * points[cells].mean(axis=1)
    around = [np.bincount(cells.ravel(), np.repeat(values, 3), len(points)) for values in (*weighted.T, areas)]
    return np.stack(around[:2], axis=1) / around[2][:, None]


def _doubled_areas(points, cells):
    a, b = (points[cells[:, i]] - points[cells[:, 0]] for i in (1, 2))
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _anticlockwise(points, cells):
    cells = np.array(cells, dtype=np.int32)
    clockwise = _doubled_areas(points, cells) < 0
    cells[clockwise] = cells[clockwise][:, ::-1]
    return cells


def limited(points: np.ndarray, cells: np.ndarray, most: int) -> np.ndarray:
    """Return the triangles with edges flipped until no node has more than `most` neighbours.

    A flip takes a neighbour from the edge's ends and gives one to the nodes opposite it; of those possible around a
    node, the one is made that leaves the largest least angle.

    Raises
    ------
    ValueError
        When there is a node around which no edge can be flipped.
    """
    cells = cells.copy()
    count = len(points)
    edges = np.sort(cells[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64), axis=1)
    edges = np.unique(edges[:, 0] * count + edges[:, 1])
    neighbours = np.bincount(np.concatenate((edges // count, edges % count)), minlength=count)
    while neighbours.max() > most:
        node = int(neighbours.argmax())
        star = np.flatnonzero((cells == node).any(axis=1)).tolist()
        around = {}  # from the node behind the spoke to the triangle that has it, and the one after it
        for element in star:
            i = int(np.flatnonzero(cells[element] == node)[0])
            around[int(cells[element][(i + 1) % 3])] = element, int(cells[element][(i + 2) % 3])
        best = (0.0, None)
        for before, (first, end) in around.items():
            if end not in around or max(neighbours[before], neighbours[around[end][1]]) >= most:
                continue
            second, after = around[end]
            pair = np.array([[node, before, after], [before, end, after]])
            best = max(best, (_least_sine(points, pair), (first, second, pair, end)), key=lambda choice: choice[0])
        if best[1] is None:
            raise ValueError(f"node {node} has {neighbours[node]} neighbours, and no edge there can be flipped")
        first, second, pair, end = best[1]
        cells[[first, second]] = pair
        neighbours[[node, end]] -= 1
        neighbours[[pair[0, 1], pair[0, 2]]] += 1
    return cells


def _least_sine(points, cells):
    """Return the least sine of an angle, negative where a triangle is turned over."""
    lengths = np.linalg.norm(points[cells] - points[np.roll(cells, 1, axis=1)], axis=2)
    return float((_doubled_areas(points, cells)[:, None] * lengths / lengths.prod(axis=1)[:, None]).min())


def refined(points: np.ndarray, cells: np.ndarray):
    """Return the mesh with each triangle cut in four by the midpoints of its edges."""
    count = len(points)
    sides = np.sort(cells[:, [[0, 1], [1, 2], [2, 0]]].astype(np.int64), axis=2)
    edges, number = np.unique(sides[..., 0] * count + sides[..., 1], return_inverse=True)
    points = np.concatenate((points, 0.5 * (points[edges // count] + points[edges % count])))
    a, b, c = cells.T
    ab, bc, ca = (count + number.reshape(-1, 3)).T
    children = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return points, np.stack([np.stack(child, axis=1) for child in children], axis=1).reshape(-1, 3).astype(np.int32)
