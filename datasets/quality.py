"""Volumes, orientation and shape of tetrahedra, a block of elements at a time so that memory stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

BLOCK = 1 << 16


def volumes(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the signed volume of each tetrahedron, positive when positively oriented; float64, shape (m,)."""
    result = np.empty(len(cells))
    for block in _blocks(len(cells)):
        a, b, c = _edges_from_first(points, cells[block])
        result[block] = _dot(a, _cross(b, c)) / 6
    return result


def oriented(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the tetrahedra with the last two nodes swapped where the volume is negative; the input stays as it is."""
    cells = np.array(cells, dtype=np.int32)
    negative = volumes(points, cells) < 0
    cells[negative, 2:] = cells[negative, :1:-1]
    return cells


def relative_volumes(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return the signed volume over the volume of the regular tetrahedron with the same root mean square of edges."""
    result = np.empty(len(cells))
    for block in _blocks(len(cells)):
        a, b, c = _edges_from_first(points, cells[block])
        squares = sum(_dot(edge, edge) for edge in (a, b, c, b - a, c - a, c - b)) / 6
        with np.errstate(divide="ignore", invalid="ignore"):
            result[block] = np.where(squares > 0, np.sqrt(2) * _dot(a, _cross(b, c)) / squares**1.5, 0.0)
    return result


def dihedral_cosines(corners: np.ndarray) -> np.ndarray:
    """Return the cosines of the six dihedral angles.

    Parameters
    ----------
    corners : ndarray, shape (4, 3, k)
        Coordinates of the nodes of k tetrahedra.

    Returns
    -------
    ndarray, shape (6, k)
    """
    p0, p1, p2, p3 = corners
    a, b, c = p1 - p0, p2 - p0, p3 - p0
    normals = [_cross(b - a, c - a), _cross(c, b), _cross(a, c), _cross(b, a)]
    with np.errstate(divide="ignore", invalid="ignore"):
        normals = [normal / np.sqrt(_dot(normal, normal)) for normal in normals]
    cosines = np.stack([-_dot(normals[i], normals[j]) for i in range(4) for j in range(i)])
    return np.clip(np.nan_to_num(cosines, nan=1.0), -1, 1)


def dihedral_extremes(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest dihedral angle of each tetrahedron, degrees."""
    least, greatest = np.empty(len(cells)), np.empty(len(cells))
    for block in _blocks(len(cells)):
        cosines = dihedral_cosines(_corners(points, cells[block]))
        least[block], greatest[block] = np.degrees(np.arccos([cosines.max(axis=0), cosines.min(axis=0)]))
    return least, greatest


def radius_ratios(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return three times the inscribed over the circumscribed radius: 1 for a regular tetrahedron, 0 for a flat one."""
    result = np.empty(len(cells))
    for block in _blocks(len(cells)):
        a, b, c = _edges_from_first(points, cells[block])
        bc, ca, ab = _cross(b, c), _cross(c, a), _cross(a, b)
        six_volumes = np.abs(_dot(a, bc))
        areas = sum(np.sqrt(_dot(n, n)) for n in (bc, ca, ab, bc + ca + ab)) / 2
        offset = _dot(a, a) * bc + _dot(b, b) * ca + _dot(c, c) * ab
        # inscribed = 3 V / areas, circumscribed = |offset| / (12 V)
        result[block] = 3 * six_volumes**2 / (areas * np.sqrt(_dot(offset, offset)))
    return result


def facts(points: np.ndarray, cells: np.ndarray) -> dict[str, Any]:
    """Return volume, extreme dihedral angles and radius ratios; see `Mesh.facts`."""
    least, greatest = dihedral_extremes(points, cells)
    ratios = radius_ratios(points, cells)
    return {
        "volume": float(volumes(points, cells).sum()),
        "dihedral_min": float(least.min()), "dihedral_max": float(greatest.max()),
        "radius_ratio_min": float(ratios.min()), "radius_ratio_mean": float(ratios.mean()),
    }  # fmt: skip


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _corners(points: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """Return coordinates as (4, 3, k), so that each component is contiguous."""
    return np.ascontiguousarray(points[cells].transpose(1, 2, 0))


def _edges_from_first(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p0, p1, p2, p3 = _corners(points, cells)
    return p1 - p0, p2 - p0, p3 - p0


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.stack((u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]))


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
