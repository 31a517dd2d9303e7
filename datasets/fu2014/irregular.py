"""The Irregular mesh of fu2014: a coarse Delaunay mesh of random points in a cube of side 4, refined three times.

The paper names no mesher. Its counts do: 1,122,304 elements are 2,192 times 8³, as Regular's are 3,072 times 8³. With V
nodes and F faces on its boundary, a coarse mesh of a cube has 8 V + 84 · 2192 + 14 F - 7 nodes after three refinements;
197,561 of them are 4 V + 7 F = 6720. The point set here, its seed and the cut of the octahedra come nearest, of all
that were tried, to the paper's valence and iterations: docs/notes/meshes.md, where `search` comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from datasets import ordering, refinement, topology

TITLE = "Irregular"
SIDE = 4.0
ELEMENTS, SUM = 2192, 6720  # of the coarse mesh, and 4 V + 7 F
NODES, SEED = 518, 325
ON_EDGES, CANDIDATES = 6, 12  # nodes within each edge of the cube, and places of which each node takes the emptiest
# Refinements. The paper has 3.
SCALES = {"smoke": 1, "small": 2, "paper": 3, "large": 4}


def build(scale):
    """Return points and cells."""
    points, cells = coarse(SEED)
    for _ in range(SCALES[scale]):
        points, cells = refinement.red(points, cells, diagonal="shortest")
    return ordering.reordered(SIDE * points, cells, None, ordering.morton(points))[:2]


def coarse(seed: int, nodes: int = NODES, on_edges: int = ON_EDGES, candidates: int = CANDIDATES):
    """Return points and cells of a Delaunay mesh of the unit cube.

    The corners come first, then nodes in the edges, in the faces, and inside. Each is the one of some random places
    that is farthest from the nodes before it. Elements without volume, on the faces of the cube, are left out.
    """
    from scipy.spatial import Delaunay

    random = np.random.default_rng(seed)
    points = [np.array(corner, dtype=float) for corner in np.ndindex(2, 2, 2)]

    def add(count, places):
        for _ in range(count):
            found = places(candidates)
            distances = ((found[:, None] - np.array(points)[None]) ** 2).sum(axis=2).min(axis=1)
            points.append(found[np.argmax(distances)])

    def on_faces(count):
        found, face = random.random((count, 3)), random.integers(6, size=count)
        found[np.arange(count), face // 2] = face % 2
        return found

    for axis in range(3):
        for ends in np.ndindex(2, 2):

            def on_edge(count, axis=axis, ends=ends):
                return np.insert(np.tile(np.array(ends, dtype=float), (count, 1)), axis, random.random(count), axis=1)

            add(on_edges, on_edge)
    on_surface = boundary_faces(nodes) // 2 + 2
    add(on_surface - len(points), on_faces)
    add(nodes - on_surface, lambda count: random.random((count, 3)))
    points = np.array(points)
    cells = np.sort(Delaunay(points).simplices, axis=1)
    corners = points[cells]
    flat = (corners == corners[:, :1]).all(axis=1) & ((corners[:, 0] == 0) | (corners[:, 0] == 1))
    cells = cells[~flat.any(axis=1)]
    return points, cells[np.lexsort(cells.T[::-1])].astype(np.int32)


def boundary_faces(nodes: int) -> int:
    """Return the faces on the boundary with which the refined mesh has the paper's nodes."""
    return (SUM - 4 * nodes) // 7


def search(seeds: Iterable[int], nodes: int = NODES, **options) -> Iterator[int]:
    """Yield the seeds whose coarse mesh has the paper's elements and boundary; `options` are for `coarse`."""
    for seed in seeds:
        points, cells = coarse(seed, nodes, **options)
        if len(cells) == ELEMENTS and len(topology.boundary_faces(cells, len(points))) == boundary_faces(nodes):
            yield seed
