"""Grids of cubes cut into six tetrahedra each: Kuhn's cut, and the cut into two prisms."""

from __future__ import annotations

from itertools import permutations

import numpy as np

# Paths along the axes from corner (0, 0, 0) to corner (1, 1, 1), one tetrahedron for each order of the axes.
KUHN = tuple(
    tuple(tuple(int(axis in order[:step]) for axis in range(3)) for step in range(4))
    for order in permutations(range(3))
)


def _staircases(triangle: tuple[tuple[int, int], ...]) -> list[tuple[tuple[int, int, int], ...]]:
    """Cut the prism over a triangle into three tetrahedra, its vertical edges in the order given."""
    low, high = [(*corner, 0) for corner in triangle], [(*corner, 1) for corner in triangle]
    return [tuple(low[: step + 1] + high[step:]) for step in range(3)]


_A, _B, _C, _D = (0, 0), (1, 0), (1, 1), (0, 1)
# The square a, b, c, d is cut along ac; the vertical edges of the two prisms are ordered a < c < b and d < a < c, which
# agree on the common face and, shifted by a cell, on opposite faces.
PRISMS = tuple(_staircases((_A, _C, _B)) + _staircases((_D, _A, _C)))


def lattice(cells: tuple[int, int, int], size: float | tuple[float, float, float] = 4.0) -> np.ndarray:
    """Return the (n, 3) corners of a grid of boxes from the origin, in lexicographic order: z runs fastest.

    Parameters
    ----------
    cells : three ints
        Boxes along each axis.
    size : float or three floats
        Edge lengths of the whole box; 4 is the cube of fu2014.
    """
    axes = [np.arange(n + 1) * (s / n) for n, s in zip(cells, np.broadcast_to(size, 3), strict=True)]
    points = np.empty(tuple(n + 1 for n in cells) + (3,))
    for axis in range(3):
        points[..., axis] = axes[axis].reshape([-1 if other == axis else 1 for other in range(3)])
    return points.reshape(-1, 3)


def kuhn(cells: int | tuple[int, int, int], size: float | tuple[float, float, float] = 4.0):
    """Return Kuhn's mesh of a box: each cell cut into six tetrahedra around the diagonal from its first to last corner.

    Valence is 4 to 14, all tetrahedra have the same shape, and nodes and elements come in lexicographic order.

    Parameters
    ----------
    cells : int or three ints
        Cells along each axis.
    size : float or three floats
        Edge lengths of the box.

    Returns
    -------
    points : ndarray of float64, shape ((cells + 1)**3, 3)
    cells : ndarray of int32, shape (6 cells**3, 4)
        Positively oriented.
    """
    return _cut(cells, size, KUHN, orient=True)


def prisms(cells: int | tuple[int, int, int], size: float | tuple[float, float, float] = 4.0):
    """Return the mesh of a box whose cells are cut into two prisms and each prism into three tetrahedra.

    Nodes of an element come in the order in which the prism's cut goes through its corners, which the red refinement of
    `refinement.red` builds on, so orientation is mixed; otherwise as `kuhn`.
    """
    return _cut(cells, size, PRISMS, orient=False)


def _cut(cells, size, template, orient):
    counts = (cells,) * 3 if isinstance(cells, int) else tuple(cells)
    if len(counts) != 3 or min(counts) < 1:
        raise ValueError(f"cells must be one or three positive integers, not {cells!r}")
    nodes = [n + 1 for n in counts]
    if np.prod(nodes, dtype=np.int64) > np.iinfo(np.int32).max:
        raise ValueError(f"{nodes[0]}x{nodes[1]}x{nodes[2]} nodes are too many for 32-bit node numbers")
    strides = np.array([nodes[1] * nodes[2], nodes[2], 1], dtype=np.int32)
    corners = np.array(template, dtype=np.int32)
    if orient:
        negative = np.linalg.det((corners[:, 1:] - corners[:, :1]).astype(float)) < 0
        corners[negative, 2:] = corners[negative, :1:-1]
    first = sum(
        (np.arange(n, dtype=np.int32) * stride).reshape([-1 if axis == other else 1 for other in range(3)])
        for axis, (n, stride) in enumerate(zip(counts, strides, strict=True))
    )
    return lattice(counts, size), (first.reshape(-1, 1, 1) + corners @ strides).reshape(-1, 4)


def box_surface(divisions: int, size: float = 4.0):
    """Return the surface of a cube, each square cut in two, the diagonals alternating.

    Alternating diagonals leave no corner with a single triangle in two faces, so that no element is squeezed there.

    Returns
    -------
    points : ndarray of float64, shape (n, 3)
    faces : ndarray of int32, shape (12 divisions**2, 3)
        Anticlockwise seen from outside.
    """
    count = divisions + 1
    u, v = np.meshgrid(np.arange(divisions), np.arange(divisions), indexing="ij")
    faces = []
    for axis in range(3):
        for end in (0, divisions):

            def number(i, j, axis=axis, end=end):
                place = [None] * 3
                place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3] = np.full_like(i, end), i, j
                return (place[0] * count + place[1]) * count + place[2]

            a, b, c, d = number(u, v), number(u + 1, v), number(u + 1, v + 1), number(u, v + 1)
            even = ((u + v + end) % 2 == 0)[..., None, None]
            pairs = np.where(
                even, np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], -2),
                np.stack([np.stack([a, b, d], -1), np.stack([b, c, d], -1)], -2),
            )  # fmt: skip
            triangles = pairs.reshape(-1, 3)
            faces.append(triangles if end else triangles[:, ::-1])
    used, faces = np.unique(np.concatenate(faces), return_inverse=True)
    places = np.stack(np.unravel_index(used, (count,) * 3), axis=1)
    return places * (size / divisions), faces.reshape(-1, 3).astype(np.int32)
