"""Size, orientation and shape of elements of any one type; `quality` has tetrahedra, on which recipes build."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from datasets import quality
from datasets.cells import CellType

BLOCK = 1 << 16


def relative_jacobians(points: np.ndarray, cells: np.ndarray, kind: CellType) -> np.ndarray:
    """Return the Jacobian's determinant at each of `kind.corners`, relative to the element's size and signed.

    For simplices it is 1 for the regular one of the same root mean square of edges; for quadrilaterals and hexahedra it
    is the scaled Jacobian, the determinant over the lengths of the corner's edges, 1 where these are orthogonal.

    Returns
    -------
    ndarray of float64, shape (corners, m)
    """
    if kind.name == "tetra":
        return quality.relative_volumes(points, cells)[None]
    result = np.empty((len(kind.corners), len(cells)))
    for block in _blocks(len(cells)):
        for row, corner in zip(result, kind.corners, strict=True):
            frame = _frame(points, cells[block], corner)
            squares = (frame**2).sum(axis=1)
            if kind.is_simplex:
                opposite = ((frame[1] - frame[0]) ** 2).sum(axis=0)
                scale = (squares.sum(axis=0) + opposite) / (2 * np.sqrt(3))
            else:
                scale = np.sqrt(squares.prod(axis=0))
            with np.errstate(divide="ignore", invalid="ignore"):
                row[block] = np.where(scale > 0, _determinant(frame) / scale, 0.0)
    return result


def sizes(points: np.ndarray, cells: np.ndarray, kind: CellType) -> np.ndarray:
    """Return the signed area or volume of each element; hexahedra are trilinear; float64, shape (m,)."""
    if kind.name == "tetra":
        return quality.volumes(points, cells)
    result = np.empty(len(cells))
    for block in _blocks(len(cells)):
        part = cells[block]
        if kind.dimension == 2:  # half the product of the diagonals; a triangle's are two of its edges
            diagonals = (points[part[:, 2]] - points[part[:, 0]], points[part[:, -1]] - points[part[:, 1]])
            ends = diagonals if kind.nodes == 4 else (points[part[:, 1]] - points[part[:, 0]], diagonals[0])
            result[block] = _determinant(np.stack([end.T for end in ends])) / 2
        else:
            result[block] = _trilinear_volumes(points, part)
    return result


def oriented(points: np.ndarray, cells: np.ndarray, kind: CellType) -> np.ndarray:
    """Return the elements with their nodes in mirrored order where the size is negative; the input stays as it is."""
    cells = np.array(cells, dtype=np.int32)
    negative = sizes(points, cells, kind) < 0
    cells[negative] = cells[negative][:, kind.mirrored]
    return cells


def facts(points: np.ndarray, cells: np.ndarray, kind: CellType) -> dict[str, Any]:
    """Return size and shape; see `Mesh.facts`."""
    if kind.name == "tetra":
        return quality.facts(points, cells)
    found = {"area" if kind.dimension == 2 else "volume": float(sizes(points, cells, kind).sum())}
    if kind.dimension == 2:
        angles = _angles(points, cells, kind)
        found |= {"angle_min": float(angles.min()), "angle_max": float(angles.max())}
        if kind.is_simplex:  # 8 sin(α/2) sin(β/2) sin(γ/2) is twice the inscribed over the circumscribed radius
            ratios = 8 * np.sin(np.radians(angles) / 2).prod(axis=0)
            return found | {"radius_ratio_min": float(ratios.min()), "radius_ratio_mean": float(ratios.mean())}
    least = relative_jacobians(points, cells, kind).min(axis=0)
    return found | {"scaled_jacobian_min": float(least.min()), "scaled_jacobian_mean": float(least.mean())}


def _angles(points, cells, kind):
    """Return the angles of plane elements at their nodes, degrees; shape (nodes, m)."""
    angles = np.empty((kind.nodes, len(cells)))
    for block in _blocks(len(cells)):
        for i, row in enumerate(angles):
            frame = _frame(points, cells[block], (i, (i + 1) % kind.nodes, i - 1))
            row[block] = np.degrees(np.arctan2(_determinant(frame), (frame[0] * frame[1]).sum(axis=0)))
    return angles


def _trilinear_volumes(points, cells):
    """Integrate the Jacobian's determinant, of degree 2 along each axis, by Gauss's rule of 2 x 2 x 2 points."""
    corners = points[cells].transpose(1, 2, 0)
    near, far = 0.5 + 0.5 / np.sqrt(3), 0.5 - 0.5 / np.sqrt(3)
    total = np.zeros(len(cells))
    along = (((0, 1), (3, 2), (4, 5), (7, 6)), ((0, 3), (1, 2), (4, 7), (5, 6)), ((0, 4), (1, 5), (3, 7), (2, 6)))
    for place in np.ndindex(2, 2, 2):
        weights = [(near, far)[bit] for bit in place]
        frame = []
        for axis, pairs in enumerate(along):
            u, v = (weights[other] for other in range(3) if other != axis)
            bilinear = (u * v, (1 - u) * v, u * (1 - v), (1 - u) * (1 - v))
            frame.append(sum(w * (corners[b] - corners[a]) for w, (a, b) in zip(bilinear, pairs, strict=True)))
        total += _determinant(np.stack(frame)) / 8
    return total


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK))


def _frame(points, cells, corner):
    """Return the edges from a corner; shape (dimension, dimension, m): edge, component, element."""
    origin = points[cells[:, corner[0]]]
    return np.stack([(points[cells[:, end]] - origin).T for end in corner[1:]])


def _determinant(frame):
    if len(frame) == 2:
        (a, b), (c, d) = frame
        return a * d - b * c
    return (frame[0] * np.cross(frame[1], frame[2], axis=0)).sum(axis=0)
