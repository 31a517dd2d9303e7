"""Meshes of tetrahedra cut open by a plane: the cut through the elements, and what of the surface lies behind it."""

from __future__ import annotations

import numpy as np

from datasets import topology


def interface(mesh, region: int) -> np.ndarray:
    """Return the triangles around a region of a mesh, anticlockwise seen from outside; int32, shape (m, 3)."""
    return topology.boundary_faces(mesh.cells[mesh.regions == region], len(mesh.points))


def cut(points: np.ndarray, cells: np.ndarray, height: np.ndarray):
    """Cut tetrahedra where a linear function is zero.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
    cells : ndarray of int, shape (m, 4)
    height : ndarray, shape (n,)
        The function at the points: the distance from a plane. None of them may be zero; see `heights`.

    Returns
    -------
    corners : ndarray of float64, shape (k, 3, 3)
        Triangles of the cut.
    owner : ndarray of int, shape (k,)
        The tetrahedron of each.
    edges : ndarray of bool, shape (k, 3)
        Whether the side opposite to each corner lies on a face of the tetrahedron; the others halve a quadrilateral.
    """
    below = (height[cells] < 0).sum(axis=1)
    parts = []
    for count, sides in (
        (1, ((0, 1), (0, 2), (0, 3))),
        (3, ((3, 0), (3, 1), (3, 2))),
        (2, ((0, 2), (0, 3), (1, 3), (1, 2))),
    ):
        owner = np.flatnonzero(below == count)
        nodes = np.take_along_axis(cells[owner], np.argsort(height[cells[owner]], axis=1), axis=1)
        parts.append(_triangles(_crossings(points, height, nodes, sides), owner))
    return tuple(np.concatenate(each) for each in zip(*parts))


def behind(points: np.ndarray, faces: np.ndarray, height: np.ndarray):
    """Return what of a triangulated surface has a negative height, as `cut` does; triangles keep their orientation."""
    below = height[faces] < 0
    whole = np.flatnonzero(below.all(axis=1))
    parts = [_triangles(points[faces[whole]], whole)]
    for lone_below in (True, False):
        owner = np.flatnonzero(below.sum(axis=1) == (1 if lone_below else 2))
        lone = np.argmax(below[owner] == lone_below, axis=1)
        # The corner that is alone on its side comes first, and the face keeps its orientation.
        nodes = np.take_along_axis(faces[owner], (lone[:, None] + np.arange(3)) % 3, axis=1)
        crossings = _crossings(points, height, nodes, ((0, 1), (0, 2)))
        if lone_below:
            corners = [points[nodes[:, :1]], crossings]
        else:
            corners = [crossings[:, :1], points[nodes[:, 1:]], crossings[:, 1:]]
        parts.append(_triangles(np.concatenate(corners, axis=1), owner))
    return tuple(np.concatenate(each) for each in zip(*parts))


def heights(points: np.ndarray, normal, offset: float) -> np.ndarray:
    """Return the distance of points from a plane, moved off it by a millionth of the size where it is less."""
    height = points @ np.asarray(normal, dtype=float) - offset
    least = 1e-6 * np.ptp(points, axis=0).max()
    return np.where(np.abs(height) < least, -least, height)


def _crossings(points, height, nodes, sides):
    """Where the sides of elements cross height zero, shape (elements, sides, 3)."""
    first, second = (nodes[:, [side[k] for side in sides]] for k in (0, 1))
    share = (height[first] / (height[first] - height[second]))[..., None]
    return points[first] * (1 - share) + points[second] * share


def _triangles(corners, owner):
    """Triangles as they are; quadrilaterals halved, the diagonal not marked as an edge."""
    if corners.shape[1] == 3:
        return corners, owner, np.ones((len(owner), 3), dtype=bool)
    halves = np.concatenate([corners[:, [0, 1, 2]], corners[:, [2, 3, 0]]])
    return halves, np.tile(owner, 2), np.tile([True, False, True], (2 * len(owner), 1))


def enclosed(points: np.ndarray, faces: np.ndarray) -> tuple[float, float]:
    """Return the area of a closed surface and the volume within it, by the divergence theorem."""
    corners = points[faces]
    areas = vector_areas(corners)
    return float(np.linalg.norm(areas, axis=1).sum()), float((areas * corners.sum(axis=1)).sum() / 9)


def vector_areas(corners: np.ndarray) -> np.ndarray:
    """Return the normals of triangles, shape (k, 3, 3), as long as their areas."""
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
