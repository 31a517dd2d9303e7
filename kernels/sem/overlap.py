"""The overlapping subdomains of remacle2016, section 4.2: an element and one layer of its neighbours' nodes.

Neighbours are found through faces. A step across a face takes directions along an element's axes to directions along
the neighbour's. Two or three such steps lead to the nodes beyond an edge or a vertex of the element. A node is in the
overlap where all orders of the steps end at it: where four elements meet at the edge and eight at the vertex.
Elsewhere there is no such node, and the paper does not say what it takes: here it is left out.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

CHUNK = 1 << 24  # entries of the table that are made at once
SIDES = [(axis, side) for axis in range(3) for side in (0, 1)]  # the face of side s across axis a has number 2 a + s
#: Faces that steps lead across to a node beyond a face, an edge or a vertex.
CROSSED = [
    faces
    for count in (1, 2, 3)
    for faces in itertools.combinations(range(6), count)
    if len({face // 2 for face in faces}) == count
]


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
    """Neighbours across faces, and how directions along the axes go over into theirs.

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
    onto : (elements, 6, 6) int8
        Of a face and a direction, the direction as the neighbour across the face sees it. A direction has the number of
        the face that it points to. Itself where there is no neighbour.
    """

    def __init__(self, table, order: int, xp=np):
        n, q, elements = order, order + 1, len(table)
        corners = np.array([n * (a + q * b + q * q * c) for c in (0, 1) for b in (0, 1) for a in (0, 1)])
        vertices = table[:, xp.asarray(corners)][:, xp.asarray(_face_vertices())].reshape(-1, 4)  # [face, uv]
        other = _partners(xp.sort(vertices, axis=1), xp)
        exists = other >= 0
        theirs = vertices[other]
        # Where the face's origin and the ends of its two sides lie in the neighbour's face: bits u and v.
        origin, *ends = ((theirs == vertices[:, corner, None]).astype(xp.int32).argmax(axis=1) for corner in (0, 1, 2))
        rows = xp.arange(6 * elements)
        own, their = rows % 6, other % 6
        tangents = xp.asarray(np.array([_tangents(axis) for axis in range(3)]))
        onto = xp.zeros((6 * elements, 6), dtype=xp.int8)
        for side, end in enumerate(ends):
            moved = origin ^ end  # 1 along the neighbour's u, 2 along its v
            forward = (end & moved) > 0
            ours = 2 * tangents[own // 2, side] + 1
            there = (2 * tangents[their // 2, moved >> 1] + forward).astype(xp.int8)
            onto[rows, ours], onto[rows, ours ^ 1] = there, there ^ 1
        onto[rows, own], onto[rows, own ^ 1] = (their ^ 1).astype(xp.int8), their.astype(xp.int8)
        self.element = xp.where(exists, other // 6, -1).astype(xp.int32).reshape(elements, 6)
        self.onto = xp.where(exists[:, None], onto, xp.arange(6, dtype=xp.int8)).reshape(elements, 6, 6)


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
        some = whole[begin : begin + step]
        some[:, xp.asarray(np.flatnonzero((beyond == 0).all(axis=1)))] = table[begin : begin + step]
        walks = {(): [_Walk.from_elements(begin, len(some), xp)]}  # by the faces crossed, in whatever order
        for faces in CROSSED:
            walks[faces] = [
                walk.across(face, neighbours, xp)
                for face in faces
                for walk in walks[tuple(other for other in faces if other != face)]
            ]
            sides = {face // 2: 2 * (face % 2) - 1 for face in faces}
            places = np.flatnonzero((beyond == [sides.get(axis, 0) for axis in range(3)]).all(axis=1))
            first, *others = (walk.nodes(cube[places], faces, table, order, xp) for walk in walks[faces])
            for other in others:
                first = xp.where(first == other, first, -1)
            some[:, xp.asarray(places)] = first
    return whole


def subdomains(table, order: int, fixed=None, xp=np):
    """Return the same from a `Numbering`'s table, with neighbours as they are found, without the nodes that are fixed.

    Parameters
    ----------
    table : (elements, (n + 1)³) int32 array of `xp`
    order : int
    fixed : (nodes,) bool array of `xp`, optional
    xp : module
    """
    kept = table if fixed is None else xp.where(fixed[table], xp.int32(-1), table)
    return overlap(kept, order, Neighbours(table, order, xp), xp)


@dataclass(frozen=True)
class _Walk:
    """Where steps from elements across faces have led to.

    Attributes
    ----------
    element : (elements,) int
        -1 where there is none.
    along : tuple of three (elements,) int
        The directions along the first element's axes, as this one sees them.
    """

    element: Any
    along: tuple[Any, Any, Any]

    @classmethod
    def from_elements(cls, begin: int, count: int, xp):
        along = tuple(xp.full(count, 2 * axis + 1) for axis in range(3))
        return cls(xp.arange(begin, begin + count), along)

    def across(self, face: int, neighbours: Neighbours, xp):
        """Take a step across a face, as the first element sees it."""
        out = self.along[face // 2] ^ (1 - face % 2)
        onto = neighbours.onto[self.element, out].astype(xp.int64)
        rows = xp.arange(len(out))
        element = xp.where(self.element >= 0, neighbours.element[self.element, out].astype(xp.int64), -1)
        return _Walk(element, tuple(onto[rows, along] for along in self.along))

    def nodes(self, places, crossed, table, order: int, xp):
        """Return the nodes at local places of the first elements, (elements, places) int; -1 where no element is.

        Parameters
        ----------
        places : (places, 3) int
            Local coordinates of the first element, n + 1 or -1 along the axes of the faces.
        crossed : sequence of int
            The faces.
        """
        # A place is one node behind each face that was crossed, wherever other steps led from there.
        sides = {face // 2: face % 2 for face in crossed}
        strides = np.repeat([1, order + 1, (order + 1) ** 2], 2)
        slope, start = xp.asarray(strides * np.tile([-1, 1], 3)), xp.asarray(strides * order * np.tile([1, 0], 3))
        local = 0
        for axis, along in enumerate(self.along):
            if axis in sides:
                inward = along ^ (1 - sides[axis])
                local = local + (start[inward] + slope[inward])[:, None]
            else:
                local = local + start[along][:, None] + slope[along][:, None] * xp.asarray(places[:, axis])
        local = local + (self.element * (order + 1) ** 3)[:, None]
        return xp.where((self.element >= 0)[:, None], xp.take(table, local), -1)
