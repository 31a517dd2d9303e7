"""Edges, faces and counts of tetrahedral meshes, vectorised: keys are packed into integers and sorted."""

from __future__ import annotations

from typing import Any

import numpy as np

EDGES = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# Face i lies opposite node i; seen from outside a positively oriented tetrahedron its nodes run anticlockwise.
FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))


def edges(cells: np.ndarray, nodes: int) -> np.ndarray:
    """Return each edge once, as pairs of nodes with the lower first, sorted; int64, shape (edges, 2)."""
    keys = np.empty((len(EDGES), len(cells)), dtype=np.int64)
    for row, (i, j) in zip(keys, EDGES, strict=True):
        a, b = cells[:, i], cells[:, j]
        np.minimum(a, b, out=row)
        row *= nodes
        row += np.maximum(a, b)
    keys = _distinct(keys.ravel())
    return np.stack((keys // nodes, keys % nodes), axis=1)


def face_keys(cells: np.ndarray, nodes: int) -> np.ndarray:
    """Return an integer for each face of each tetrahedron, the same for the same three nodes and the same orientation.

    Twice a number that stands for the three nodes, plus 1 if they come in odd order: of two tetrahedra that lie on
    different sides of a face, one key is even and the other is the odd one next to it.

    Returns
    -------
    ndarray of uint64, shape (4, m)
    """
    keys = np.empty((4, len(cells)), dtype=np.uint64)
    fits = 2 * nodes**3 < 2**64
    pairs, highest = None if fits else np.empty_like(keys), None if fits else np.empty_like(keys)
    for row, face in enumerate(FACES):
        a, b, c = (cells[:, i].astype(np.uint64) for i in face)
        odd = (a > b) ^ (b > c) ^ (a > c)
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        middle = a + b + c - low - high
        pair = low * np.uint64(nodes) + middle
        if fits:
            keys[row] = (pair * np.uint64(nodes) + high) * np.uint64(2) + odd
        else:
            pairs[row], highest[row], keys[row] = pair, high, odd
    if not fits:  # three node numbers are too wide for 64 bits: number the pairs first
        number = np.unique(pairs.ravel(), return_inverse=True)[1].reshape(pairs.shape).astype(np.uint64)
        keys += (number * np.uint64(nodes) + highest) * np.uint64(2)
    return keys


def boundary_faces(cells: np.ndarray, nodes: int) -> np.ndarray:
    """Return the faces of one tetrahedron only, anticlockwise seen from outside; int32, shape (faces, 3)."""
    keys = face_keys(cells, nodes)
    undirected = keys >> np.uint64(1)
    order = np.sort(undirected.ravel())
    single = np.ones(len(order), dtype=bool)
    single[1:] &= order[1:] != order[:-1]
    single[:-1] &= order[:-1] != order[1:]
    alone = order[single]
    return np.concatenate([cells[_member(row, alone)][:, face] for row, face in zip(undirected, FACES, strict=True)])


def valence(edge_list: np.ndarray, nodes: int) -> np.ndarray:
    """Return the number of neighbours of each node, int64."""
    return np.bincount(edge_list[:, 0], minlength=nodes) + np.bincount(edge_list[:, 1], minlength=nodes)


def facts(cells: np.ndarray, nodes: int) -> dict[str, Any]:
    """Return counts, valence, non-zeros and the check by Euler's formula; see `Mesh.facts`.

    A compact three-manifold has half the Euler characteristic of its boundary, a closed triangulated surface with
    3/2 edges a face; so the edges follow from nodes, elements, boundary faces and boundary nodes alone.
    """
    edge_list = edges(cells, nodes)
    neighbours = valence(edge_list, nodes)
    surface = boundary_faces(cells, nodes)
    elements, boundary, boundary_nodes = len(cells), len(surface), len(np.unique(surface))
    faces = (4 * elements + boundary) // 2
    boundary_characteristic = boundary_nodes - boundary // 2
    by_euler = nodes + elements + boundary // 2 - boundary_characteristic // 2
    return {
        "nodes": nodes, "elements": elements, "boundary_nodes": boundary_nodes, "boundary_faces": boundary,
        "edges": len(edge_list), "valence_min": int(neighbours.min()), "valence_max": int(neighbours.max()),
        "nonzeros_full": nodes + 2 * len(edge_list), "nonzeros_upper": nodes + len(edge_list),
        "nonzeros_euler": nodes + 2 * by_euler, "euler_agrees": by_euler == len(edge_list),
        "euler_characteristic": nodes - len(edge_list) + faces - elements,
    }  # fmt: skip


def _distinct(keys: np.ndarray) -> np.ndarray:
    """Return the sorted distinct keys, as `numpy.unique` would; sorts in place, which is faster."""
    keys.sort()
    keep = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=keep[1:])
    return keys[keep]


def _member(keys: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return for each key whether it is in the sorted table."""
    if not len(table):
        return np.zeros(len(keys), dtype=bool)
    return table[np.minimum(np.searchsorted(table, keys), len(table) - 1)] == keys
