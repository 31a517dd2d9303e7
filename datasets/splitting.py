"""More nodes for a mesh of tetrahedra: inner edges split at their middle, until there are as many as wanted."""

from __future__ import annotations

import numpy as np

from datasets import smoothing, topology


def completed(points: np.ndarray, cells: np.ndarray, nodes: int, neighbours: int, dihedral: float = 12.0):
    """Return the mesh with so many nodes, one of which has so many neighbours where fewer were the most.

    First, edges across from the node of most neighbours are split, each of which gives it another; then the longest
    ones elsewhere. No two share an element, and none lies on the boundary. Elements that get flat are smoothed.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
    cells : ndarray of int, shape (m, 4)
    nodes : int
        At least n.
    neighbours : int
        Of the node that has most.
    dihedral : float
        Least angle that the smoothing aims at, degrees.

    Raises
    ------
    ValueError
        When the mesh has more nodes, or not edges enough to split.
    """
    missing = nodes - len(points)
    if missing < 0:
        raise ValueError(f"the mesh has {len(points):,} nodes already, more than {nodes:,}")
    edges = topology.edges(cells, len(points))
    valence = topology.valence(edges, len(points))
    hub, most = int(valence.argmax()), int(valence.max())
    on_boundary = np.zeros(len(points), dtype=bool)
    on_boundary[topology.boundary_faces(cells, len(points))] = True
    edges = edges[~on_boundary[edges].all(axis=1)]
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    edges = edges[np.argsort(-lengths, kind="stable")]
    stars = _Stars(cells, len(points))
    beside = np.zeros(len(points), dtype=bool)
    beside[cells[stars.of(hub)]] = True
    beside[hub] = False
    across = edges[beside[edges].all(axis=1)]
    chosen = stars.apart(across, min(missing, max(0, neighbours - most)), hub)
    stars.used[stars.of(hub)] = True
    chosen += stars.apart(edges, missing - len(chosen))
    if len(chosen) < missing:
        raise ValueError(f"only {len(chosen):,} of {missing:,} edges can be split at once")
    points, cells = _split(points, cells, chosen)
    return smoothing.raise_dihedral(points, cells, target=dihedral), cells


class _Stars:
    """The elements around each node, and which of them are spoken for."""

    def __init__(self, cells, count):
        self.elements = np.argsort(cells.ravel(), kind="stable") // 4
        self.start = np.concatenate(([0], np.cumsum(np.bincount(cells.ravel(), minlength=count))))
        self.used = np.zeros(len(cells), dtype=bool)

    def of(self, node):
        """Return the elements around a node, sorted."""
        return self.elements[self.start[node] : self.start[node + 1]]

    def apart(self, edges, count, hub=None):
        """Take the first edges that share no element, with a hub only of those across from it; add their elements."""
        found = []
        for a, b in edges.tolist():
            if len(found) == count:
                break
            ring = np.intersect1d(self.of(a), self.of(b), assume_unique=True)
            if self.used[ring].any() or (hub is not None and not np.isin(ring, self.of(hub)).any()):
                continue
            self.used[ring] = True
            found.append((a, b, ring))
        return found


def _split(points, cells, chosen):
    """Return the mesh with each chosen edge (a, b, elements around it) split: of two halves, one keeps its number."""
    cells, added = cells.copy(), []
    middles = np.array([0.5 * (points[a] + points[b]) for a, b, _ in chosen]).reshape(-1, 3)
    for number, (a, b, ring) in enumerate(chosen, start=len(points)):
        halves = cells[ring]
        added.append(np.where(halves == a, number, halves))
        cells[ring] = np.where(halves == b, number, halves)
    return np.concatenate((points, middles)), np.concatenate((cells, *added)).astype(np.int32)
