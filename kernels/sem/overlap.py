"""The overlapping subdomains of remacle2016, section 4.2: an element and one layer of its neighbours' nodes.

Neighbours are found through faces. A step across a face is an affine map of local coordinates, so that the nodes beyond
an edge or a vertex of the element are those that two or three such steps lead to: they are in the overlap where all
orders of the steps end at the same node, which they do where four elements meet at the edge and eight at the vertex.
Elsewhere there is no such node, and the paper does not say what it takes: here it is left out.
"""

from __future__ import annotations

import itertools

import numpy as np

CHUNK = 1 << 25  # entries of the table that are made at once
SIDES = [(axis, side) for axis in range(3) for side in (0, 1)]  # the face of side s across axis a has number 2 a + s


def _tangents(axis: int) -> tuple[int, int]:
    return tuple(other for other in range(3) if other != axis)


def _face_vertices() -> np.ndarray:
    """Return the tensor's vertices of each face at (u, v) = 00, 10, 01, 11 along its lower and its higher axis."""
    found = []
    for axis, side in SIDES:
        first, second = _tangents(axis)
        found.append([side << axis | u << first | v << second for v in (0, 1) for u in (0, 1)])
    return np.array(found)


class Neighbours:
    """Neighbours across faces, and what leads from an element's local coordinates to theirs.

    Parameters
    ----------
    table : (elements, (n + 1)³) int array of `xp`
        Local to global numbers of a `Numbering`.
    order : int
    xp : module

    Attributes
    ----------
    element : (elements, 6) int32
        Neighbour across each face; -1 where there is none.
    turn, shift : (elements, 6, 3, 3) and (elements, 6, 3) int8
        x' = turn x + shift of local coordinates 0 to n, n + 1 and -1 being one node beyond.
    """

    def __init__(self, table, order: int, xp=np):
        n, q, elements = order, order + 1, len(table)
        corners = np.array([n * (a + q * b + q * q * c) for c in (0, 1) for b in (0, 1) for a in (0, 1)])
        vertices = table[:, xp.asarray(corners)][:, xp.asarray(_face_vertices())].reshape(-1, 4)  # [face, uv]
        other = _partners(xp.sort(vertices, axis=1), xp)
        exists = other >= 0
        theirs = vertices[other]
        # Where the face's origin and the ends of its two sides lie in the neighbour's face: bits u and v.
        found = [(theirs == vertices[:, corner, None]).astype(xp.int32).argmax(axis=1) for corner in (0, 1, 2)]
        origin, along_u, along_v = (xp.stack([place & 1, place >> 1], axis=1).astype(xp.int8) for place in found)
        own, their = xp.arange(6 * elements) % 6, other % 6
        tangents = xp.asarray(np.array([_tangents(axis) for axis in range(3)]))
        rows, axis, axis_there = xp.arange(6 * elements), own // 2, their // 2
        turn = xp.zeros((6 * elements, 3, 3), dtype=xp.int8)
        shift = xp.zeros((6 * elements, 3), dtype=xp.int8)
        for k in (0, 1):
            turn[rows, tangents[axis_there, k], tangents[axis, 0]] = (along_u - origin)[:, k]
            turn[rows, tangents[axis_there, k], tangents[axis, 1]] = (along_v - origin)[:, k]
            shift[rows, tangents[axis_there, k]] = n * origin[:, k]
        outward, inward = 2 * (own % 2) - 1, 1 - 2 * (their % 2)
        turn[rows, axis_there, axis] = (outward * inward).astype(xp.int8)
        # The depth beyond the face is x - n or -x; there it counts from 0 up or from n down.
        shift[rows, axis_there] = (n * (their % 2) - inward * n * (own % 2)).astype(xp.int8)
        self.element = xp.where(exists, other // 6, -1).astype(xp.int32).reshape(elements, 6)
        self.turn, self.shift = turn.reshape(elements, 6, 3, 3), shift.reshape(elements, 6, 3)


def _partners(keys, xp):
    """Return, for each row of a sorted key that occurs at most twice, the row that has the same; -1 for none."""
    order = xp.lexsort(xp.ascontiguousarray(keys.T))
    ordered = keys[order]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    found = xp.full(len(keys), -1, dtype=xp.int64)
    found[order[:-1][same]], found[order[1:][same]] = order[1:][same], order[:-1][same]
    return found


def overlap(table, order: int, neighbours: Neighbours, xp=np):
    """Return the global numbers of the (n + 3)³ nodes of every subdomain, the paper's I^p; -1 where there is none.

    Parameters
    ----------
    table : (elements, (n + 1)³) int32
        Negative numbers, of fixed nodes, stay negative.
    order : int
    neighbours : Neighbours
    xp : module

    Returns
    -------
    (elements, (n + 3)³) int32
        Node (i, j, k), from -1 to n + 1 each, at i + 1 + (n + 3) (j + 1 + (n + 3) (k + 1)).
    """
    n, wide = order, order + 3
    whole = xp.full((len(table), wide**3), -1, dtype=xp.int32)
    cube = np.stack(np.meshgrid(*[np.arange(-1, n + 2)] * 3, indexing="ij"), axis=-1)[..., ::-1].reshape(-1, 3)
    beyond = (cube > n).astype(int) - (cube < 0)  # -1, 0 or 1 along each axis
    step = max(1, CHUNK // wide**3)
    for begin in range(0, len(table), step):
        own = xp.arange(begin, min(begin + step, len(table)))
        for direction in itertools.product((-1, 0, 1), repeat=3):
            chosen = np.flatnonzero((beyond == direction).all(axis=1))
            if not any(direction):
                whole[begin : begin + len(own), xp.asarray(chosen)] = table[begin : begin + len(own)]
                continue
            steps = [(axis, side > 0) for axis, side in enumerate(direction) if side]
            found = None
            for path in itertools.permutations(steps):
                node = _reached(own, path, cube[chosen], table, order, neighbours, xp)
                found = node if found is None else xp.where(found == node, found, -1)
            whole[begin : begin + len(own), xp.asarray(chosen)] = found
    return whole


def _reached(own, path, places, table, order, neighbours, xp):
    """Return the nodes at local places of elements, by faces crossed one after the other: (elements, places) int.

    Parameters
    ----------
    own : (elements,) int
    path : sequence of (axis, side)
        Faces to cross, as the first element sees them.
    places : (places, 3) int
        Local coordinates of the first element.
    """
    turn = xp.broadcast_to(xp.eye(3, dtype=xp.int32), (len(own), 3, 3))
    shift, element, exists = xp.zeros((len(own), 3), dtype=xp.int32), own, xp.ones(len(own), dtype=bool)
    rows = xp.arange(len(own))
    for axis, side in path:
        along = xp.abs(turn[:, :, axis]).argmax(axis=1)  # the axis as the element sees it that is stepped out of
        forward = (turn[rows, along, axis] > 0) == bool(side)
        face = 2 * along + forward
        step, offset = (array[element, face].astype(xp.int32) for array in (neighbours.turn, neighbours.shift))
        turn = (step[:, :, :, None] * turn[:, None]).sum(axis=2)
        shift = (step * shift[:, None]).sum(axis=2) + offset
        element = neighbours.element[element, face]
        exists = exists & (element >= 0)
    q = order + 1
    strides = xp.asarray([1, q, q * q])
    slope, start = (turn * strides[:, None]).sum(axis=1), (shift * strides).sum(axis=1)
    local = start[:, None] + (slope[:, None, :] * xp.asarray(places)).sum(axis=2)
    return xp.where(exists[:, None], table[element[:, None], xp.where(exists[:, None], local, 0)], -1)
