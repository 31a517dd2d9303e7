"""Global numbers of the GLL nodes of a conforming hexahedral mesh: the paper's table I_l→g of section 2.2.

Nodes lie on vertices, edges, faces and in elements. Two elements see a shared edge or face each in its own local axes;
nodes are identified through axes that depend on the shared vertices alone (an edge runs from its lower to its higher
vertex; a face starts at its lowest vertex, toward the lower of that one's neighbours), so any rotation of the elements
and any numbering of the vertices will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# From meshio's order of an hexahedron's vertices to the tensor's: vertex a + 2 b + 4 c lies at (ξ, η, ζ) = ±1.
TENSOR = np.array([0, 1, 3, 2, 4, 5, 7, 6])


@dataclass(frozen=True)
class Numbering:
    """Local to global numbers.

    Attributes
    ----------
    order : int
        The paper's n.
    nodes : int
        The paper's N. Numbers follow the elements: node after node as each is first met, those inside elements after
        all others, so that what is added up from several elements lies together.
    surface : int
        Nodes that are not inside an element.
    table : (elements, (n + 1)³) int32
        Global number of local node i + (n + 1) (j + (n + 1) k); i runs along ξ.
    boundary : (nodes,) bool
        Nodes on faces that belong to one element only.
    """

    order: int
    nodes: int
    surface: int
    table: Any
    boundary: Any


def tensor_vertices(cells):
    """Return the vertices of hexahedra in meshio's order, (elements, 8), in the tensor's order."""
    return cells[:, TENSOR]


def _entities(order: int, dimension: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return, for each edge or face of the element, its tensor vertices, its inner local nodes, and their positions.

    Positions are 0 .. n - 2 along each axis of the entity, shape (nodes, dimension).
    """
    n, found = order, []
    for axes in [axes for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)) if len(axes) == dimension]:
        others = [axis for axis in range(3) if axis not in axes]
        for side in np.ndindex(*(2,) * len(others)):
            corners = np.zeros((2,) * dimension + (3,), dtype=np.int64)
            inner = np.zeros((n - 1,) * dimension + (3,), dtype=np.int64)
            for position, axis in enumerate(axes):
                shape = [-1 if k == position else 1 for k in range(dimension)]
                corners[..., axis] = np.arange(2).reshape(shape)
                inner[..., axis] = np.arange(1, n).reshape(shape)
            for axis, end in zip(others, side, strict=True):
                corners[..., axis], inner[..., axis] = end, n * end
            positions = np.stack(np.meshgrid(*[np.arange(n - 1)] * dimension, indexing="ij"), -1)
            found.append((
                corners.reshape(-1, 3) @ [1, 2, 4],
                inner.reshape(-1, 3) @ [1, n + 1, (n + 1) ** 2],
                positions.reshape(-1, dimension),
            ))  # fmt: skip
    return found


def _identify(keys, xp):
    """Return, for rows of vertex numbers, the number of each distinct row, how many there are, and their counts."""
    order = xp.lexsort(xp.ascontiguousarray(keys.T))
    ordered = keys[order]
    starts = xp.ones(len(keys), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = xp.empty(len(keys), dtype=xp.int64)
    number[order] = xp.cumsum(starts) - 1
    count = int(starts.sum())
    return number, count, xp.bincount(number, minlength=count)


def number_nodes(cells, order: int, xp=np) -> Numbering:
    """Number the GLL nodes of a mesh.

    Parameters
    ----------
    cells : (elements, 8) integer array of `xp`
        Vertices of each hexahedron in meshio's order, in any rotation.
    order : int
    xp : module
        NumPy or CuPy.

    Raises
    ------
    ValueError
        When a face belongs to more than two elements, or the nodes exceed 32 bits.
    """
    n, q = order, order + 1
    vertices = tensor_vertices(xp.asarray(cells)).astype(xp.int64)
    elements = len(vertices)
    table = xp.empty((elements, q**3), dtype=xp.int64)
    corners = np.array([n * a + n * q * b + n * q * q * c for c in (0, 1) for b in (0, 1) for a in (0, 1)])
    table[:, corners] = vertices
    total = int(vertices.max()) + 1

    edges = _entities(n, 1)
    ends = xp.stack([vertices[:, corner] for corner, _, _ in edges], axis=1)
    number, count, _ = _identify(xp.sort(ends.reshape(-1, 2), axis=1), xp)
    number = number.reshape(elements, -1)
    for local, (_, inner, positions) in enumerate(edges):
        along = xp.asarray(positions[:, 0])
        runs_back = (ends[:, local, 0] > ends[:, local, 1])[:, None]
        table[:, inner] = total + (n - 1) * number[:, local, None] + xp.where(runs_back, n - 2 - along, along)
    total += (n - 1) * count

    faces = _entities(n, 2)
    corner = xp.stack([vertices[:, c] for c, _, _ in faces], axis=1)
    number, count, uses = _identify(xp.sort(corner.reshape(-1, 4), axis=1), xp)
    if int(uses.max()) > 2:
        raise ValueError("a face belongs to more than two elements: the mesh is not conforming")
    number = number.reshape(elements, -1)
    on_boundary = uses[number] == 1
    for local, (_, inner, positions) in enumerate(faces):
        table[:, inner] = (
            total
            + (n - 1) ** 2 * number[:, local, None]
            + _face_positions(corner[:, local], xp.asarray(positions), n, xp)
        )
    total += (n - 1) ** 2 * count

    inside = np.arange(1, n)
    inner = (inside + q * inside[:, None] + q * q * inside[:, None, None]).ravel()
    table[:, inner] = total + (n - 1) ** 3 * xp.arange(elements)[:, None] + xp.arange(inner.size)
    inner_nodes = (n - 1) ** 3 * elements

    table, nodes = _by_first_use(table, total, inner_nodes, xp)
    if nodes >= 2**31:
        raise ValueError(f"{nodes} nodes exceed 32 bits")
    boundary = xp.zeros(nodes, dtype=bool)
    for local, side in enumerate(_face_nodes(n)):
        boundary[table[on_boundary[:, local]][:, side].ravel()] = True
    return Numbering(order, nodes, nodes - inner_nodes, table, boundary)


def _face_positions(corner, positions, n, xp):
    """Return the position, in a face's own axes, of the nodes that an element sees at `positions`.

    `corner` are the face's vertices at (0, 0), (0, 1), (1, 0), (1, 1), the first index along the first local axis.
    """
    origin = corner.argmin(axis=1)
    rows = xp.arange(len(corner))
    first, second = origin ^ 2, origin ^ 1  # the origin's neighbours along the first and the second local axis
    swapped = (corner[rows, second] < corner[rows, first])[:, None]
    a = xp.where((origin & 2 != 0)[:, None], n - 2 - positions[:, 0], positions[:, 0])
    b = xp.where((origin & 1 != 0)[:, None], n - 2 - positions[:, 1], positions[:, 1])
    return xp.where(swapped, b + (n - 1) * a, a + (n - 1) * b)


def _face_nodes(n: int) -> list[np.ndarray]:
    """Return all (n + 1)² local nodes of each face, in the order of `_entities`."""
    q = n + 1
    local = np.arange(q**3).reshape(q, q, q)  # [k, j, i]
    sides = []
    for axis in (0, 1, 2):  # the axis across: ζ, η, ξ, as the pairs of axes of the faces follow one another
        sides += [local.take(end, axis=axis).ravel() for end in (0, n)]
    return sides


def _by_first_use(table, surface, inner, xp):
    """Renumber so that numbers follow the elements: neighbours in memory are neighbours in space.

    The first `surface` numbers come before the other `inner` ones.
    """
    flat, total = table.ravel(), surface + inner
    first = xp.full(total, 2 * flat.size, dtype=xp.int64)
    xp.minimum.at(first, flat, xp.arange(flat.size))
    first[surface:] += flat.size
    order = xp.argsort(first)
    nodes = int((first < 2 * flat.size).sum())  # vertices that no element uses stand last and fall away
    rank = xp.empty(total, dtype=xp.int32)
    rank[order] = xp.arange(total, dtype=xp.int32)
    return rank[table], nodes
