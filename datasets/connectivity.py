"""Edges, sides and counts of meshes of any one type of element; `topology` has tetrahedra, on which recipes build."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from datasets import topology
from datasets.cells import CellType


def edges(cells: np.ndarray, nodes: int, kind: CellType) -> np.ndarray:
    """Return each edge once, as pairs of nodes with the lower first, sorted; int64, shape (edges, 2)."""
    return _pairs(cells, nodes, kind.edges)


def couplings(cells: np.ndarray, nodes: int, kind: CellType) -> np.ndarray:
    """Return the pairs of nodes that share an element, as `edges` does: of simplices, the edges."""
    return _pairs(cells, nodes, tuple(combinations(range(kind.nodes), 2)))


def _pairs(cells, nodes, local):
    keys = np.empty((len(local), len(cells)), dtype=np.int64)
    for row, (i, j) in zip(keys, local, strict=True):
        np.minimum(cells[:, i], cells[:, j], out=row)
        row *= nodes
        row += np.maximum(cells[:, i], cells[:, j])
    keys = keys.ravel()
    keys.sort()
    keep = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    keys = keys[keep]
    return np.stack((keys // nodes, keys % nodes), axis=1)


def facet_keys(cells: np.ndarray, nodes: int, kind: CellType) -> np.ndarray:
    """Return an integer for each side of each element: eight times a number that stands for its nodes, plus its sense.

    Of two elements on different sides of a facet one has an even sense, and the other the odd one behind it.
    Quadrilaterals whose nodes are the same but whose edges are not have other senses.

    Returns
    -------
    ndarray of int64, shape (facets, m)
        Row i holds the sides `kind.facets[i]`.
    """
    around = np.concatenate([cells[:, facet] for facet in kind.facets])
    width = around.shape[1]
    lowest = around.argmin(axis=1)
    around = np.take_along_axis(around, (lowest[:, None] + np.arange(width)) % width, axis=1)
    ordered = np.sort(around, axis=1)
    sense = lowest if width == 2 else (around[:, 1] > around[:, -1]).astype(np.int64)
    if width == 4:  # which of the others lies opposite the lowest
        sense += 2 * (around[:, 2:3] > ordered[:, 1:]).sum(axis=1)
    return (8 * _numbered(ordered, nodes) + sense).reshape(len(kind.facets), len(cells))


def _numbered(rows, nodes):
    """Return an int64 below 2**60 for each row of node numbers, the same for the same rows."""
    keys, bound = rows[:, 0].astype(np.int64), nodes
    for column in rows.T[1:]:
        if bound * nodes >= 2**60:
            distinct, keys = np.unique(keys, return_inverse=True)
            bound = len(distinct)
        keys = keys * nodes + column
        bound *= nodes
    return keys


def boundary_facets(cells: np.ndarray, nodes: int, kind: CellType) -> np.ndarray:
    """Return the sides of one element only, their nodes in the order of `CellType.facets`; shape (facets, k)."""
    keys = facet_keys(cells, nodes, kind) >> 3
    order = np.argsort(keys, axis=None, kind="stable")
    ordered = keys.ravel()[order]
    single = np.ones(len(ordered), dtype=bool)
    single[1:] &= ordered[1:] != ordered[:-1]
    single[:-1] &= ordered[:-1] != ordered[1:]
    side, element = np.divmod(np.sort(order[single]), len(cells))
    return cells[element[:, None], np.array(kind.facets)[side]]


def facts(cells: np.ndarray, nodes: int, kind: CellType) -> dict[str, Any]:
    """Return counts, neighbours, non-zeros and the check of their number by Euler's formula; see `Mesh.facts`.

    Every side belongs to two elements or lies on the boundary, which gives the edges of a plane mesh and the faces of
    a solid one. A compact three-manifold has half the Euler characteristic of its boundary, which gives the edges of a
    solid one. Nodes of an element that no edge joins are joined by a diagonal of the element, or of a face of it.
    """
    if kind.name == "tetra":
        return topology.facts(cells, nodes)
    edge_list = edges(cells, nodes, kind)
    pairs = edge_list if kind.is_simplex else couplings(cells, nodes, kind)
    neighbours = topology.valence(pairs, nodes)
    surface = boundary_facets(cells, nodes, kind)
    elements, boundary, boundary_nodes = len(cells), len(surface), len(np.unique(surface))
    sides = (len(kind.facets) * elements + boundary) // 2
    if kind.dimension == 2:
        by_euler = sides
        diagonals = 0 if kind.is_simplex else 2 * elements
        characteristic = nodes - len(edge_list) + elements
    else:
        by_euler = nodes + sides - elements - (boundary_nodes - boundary) // 2
        diagonals = 2 * sides + 4 * elements
        characteristic = nodes - len(edge_list) + sides - elements
    return {
        "nodes": nodes, "elements": elements, "boundary_nodes": boundary_nodes, "boundary_faces": boundary,
        "edges": len(edge_list), "valence_min": int(neighbours.min()), "valence_max": int(neighbours.max()),
        "nonzeros_full": nodes + 2 * len(pairs), "nonzeros_upper": nodes + len(pairs),
        "nonzeros_euler": nodes + 2 * (by_euler + diagonals),
        "euler_agrees": by_euler + diagonals == len(pairs) and by_euler == len(edge_list),
        "euler_characteristic": characteristic,
    }  # fmt: skip
