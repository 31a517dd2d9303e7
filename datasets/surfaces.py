"""Triangulated surfaces of implicit functions: surface nets on a lattice, then smoothing along the surface.

A solid is where a function of position is negative. Such functions combine by the smooth maxima and minima here, which
round every edge, so that the surface has a tangent plane everywhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from datasets.errors import MeshError

ROUNDS = 30
Function = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def smooth_max(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    """Return the greater of two functions, rounded where they differ by less than `width`: an intersection."""
    blend = np.maximum(width - np.abs(a - b), 0) / width
    return np.maximum(a, b) + 0.25 * width * blend**2


def smooth_min(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    """Return the lesser of two functions, rounded likewise: the union of solids."""
    return -smooth_max(-a, -b, width)


def ellipsoid(x, y, z, centre: tuple[float, float, float], radii: tuple[float, float, float]) -> np.ndarray:
    """Return about the distance from an ellipsoid, negative inside; exact to first order on its surface."""
    u = [(c - m) / r for c, m, r in zip((x, y, z), centre, radii, strict=True)]
    scaled = np.sqrt(u[0] ** 2 + u[1] ** 2 + u[2] ** 2)
    slope = np.sqrt(sum((c / r) ** 2 for c, r in zip(u, radii, strict=True)))
    return np.where(slope > 0, scaled * (scaled - 1) / np.maximum(slope, 1e-12), -min(radii))


def triangulate(function: Function, low, high, spacing: float, blur: float = 0.7, sweeps: int = 12):
    """Return the surface where `function` is zero, as triangles with edges of about `spacing`.

    The function is sampled on a lattice and blurred, so that what is finer than the lattice is rounded off; a wall or a
    groove should be two or three cells wide. Surface nets put a node into each lattice cell that the surface crosses;
    the nodes are then moved, in turn, along the surface towards the middle of their neighbours and back onto it.

    Parameters
    ----------
    function : callable
        Takes arrays x, y, z and returns the function's values; its size is about the distance near the surface.
    low, high : three floats each
        A box that holds the surface.
    spacing : float
        Edge of a lattice cell.
    blur : float
        Standard deviation of the Gaussian filter, in cells.
    sweeps : int
        Rounds of smoothing.

    Returns
    -------
    points : ndarray of float64, shape (n, 3)
    faces : ndarray of int32, shape (m, 3)
        Anticlockwise seen from outside, where the function is positive.

    Raises
    ------
    MeshError
        When the surface is not a closed manifold at this spacing.
    """
    low, high = np.asarray(low, float), np.asarray(high, float)
    values = _resolved(_sampled(function, low, high, spacing, blur))
    nodes, quads = _nets(values)
    if not _closed(quads):
        raise MeshError(f"the surface is no closed manifold: it has details finer than the spacing of {spacing:g}")
    field = _Field(values)
    for sweep in range(sweeps):
        nodes = _smoothed(field, nodes, _split(nodes, quads), 0.6 if sweep < sweeps - 2 else 0.3)
    return low + spacing * nodes, _split(nodes, quads)


class _Field:
    """Values on a lattice as a smooth function of position in cells, and its gradient."""

    def __init__(self, values):
        from scipy import ndimage

        self.interpolate = ndimage.map_coordinates
        self.coefficients = ndimage.spline_filter(values, order=2)
        self.slopes = np.gradient(values)

    def value(self, nodes):
        return self.interpolate(self.coefficients, nodes.T, order=2, prefilter=False)

    def gradient(self, nodes):
        return np.stack([self.interpolate(slope, nodes.T, order=1) for slope in self.slopes], axis=1)


def _sampled(function, origin, high, spacing, blur):
    from scipy import ndimage

    counts = np.ceil((high - origin) / spacing).astype(int) + 1
    axes = [start + spacing * np.arange(n) for start, n in zip(origin, counts, strict=True)]
    values = np.empty(counts)
    for i, x in enumerate(axes[0]):  # a plane at a time, so that the function's temporaries stay small
        values[i] = function(*np.broadcast_arrays(x, axes[1][:, None], axes[2][None, :]))
    # Far from the surface only the sign counts, and a jump that a distance may have there shall not be blurred in.
    return ndimage.gaussian_filter(np.clip(values, -6 * spacing, 6 * spacing), blur) / spacing


def _resolved(values):
    """Blur and fill the places where two sheets of the surface meet within a lattice cell, until there are none.

    Such cells have a face, or an inner diagonal, with the signs of a chessboard. Crumbs beside the solid
    and voids within it, which the lattice makes of thin walls, go too.
    """
    from scipy import ndimage

    for _ in range(ROUNDS):
        inside = values < 0
        bad = _beside_largest(inside)
        values = np.where(bad, 0.5, values)
        voids = _beside_largest(~inside)
        values = np.where(voids, -0.5, values)
        bad |= voids
        for axis in range(3):
            face = np.moveaxis(inside, axis, 2)
            a, b, c, d = face[:-1, :-1], face[1:, :-1], face[:-1, 1:], face[1:, 1:]
            np.moveaxis(bad, axis, 2)[:-1, :-1] |= (a == d) & (b == c) & (a != b)
        corners = [inside[i : i - 1 or None, j : j - 1 or None, k : k - 1 or None] for i, j, k in np.ndindex(2, 2, 2)]
        count = sum(corner.astype(np.int8) for corner in corners)
        for corner, opposite in zip(corners[:4], corners[:3:-1], strict=True):
            same = corner == opposite
            bad[:-1, :-1, :-1] |= same & (count == np.where(corner, 2, 6))
        if not bad.any():
            break
        near = ndimage.binary_dilation(bad, iterations=3)
        values = np.where(near, ndimage.gaussian_filter(values, 0.7) - 0.05, values)
    return values


def _beside_largest(mask):
    from scipy import ndimage

    labels, count = ndimage.label(mask)
    if count < 2:
        return np.zeros_like(mask)
    return mask & (labels != 1 + np.argmax(np.bincount(labels.ravel())[1:]))


def _nets(values):
    """Return the nodes, in lattice coordinates, and the quadrilaterals about lattice edges that the surface crosses."""
    counts, inside = np.array(values.shape), values < 0
    if any(inside.take(end, axis).any() for axis in range(3) for end in (0, -1)):
        raise ValueError("the box does not hold the surface")
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    total = np.zeros((4, inside.size))
    flat, quads = values.ravel(), []
    for axis in range(3):
        change = np.diff(inside.astype(np.int8), axis=axis, append=0).ravel()
        first = np.flatnonzero(change)
        where = flat[first] / (flat[first] - flat[first + strides[axis]])
        position = np.stack(np.unravel_index(first, counts)).astype(float)
        position[axis] += where
        u, v = strides[(axis + 1) % 3], strides[(axis + 2) % 3]
        around = np.stack((first, first - u, first - u - v, first - v), axis=1)  # the cells about the edge, in turn
        for column in around.T:
            for component, weights in enumerate((*position, np.ones(len(first)))):
                total[component] += np.bincount(column, weights=weights, minlength=inside.size)
        entering = change[first] > 0
        around[entering] = around[entering, ::-1]
        quads.append(around)
    used = np.flatnonzero(total[3])
    number = np.zeros(inside.size, dtype=np.int32)
    number[used] = np.arange(len(used))
    return (total[:3, used] / total[3, used]).T, number[np.concatenate(quads)]


def _closed(quads):
    """Return whether each edge has one quadrilateral on either side, in opposite directions."""
    count = int(quads.max()) + 1
    tails, heads = quads.ravel().astype(np.int64), quads[:, [1, 2, 3, 0]].ravel().astype(np.int64)
    forward, backward = np.sort(tails * count + heads), np.sort(heads * count + tails)
    return not (forward[1:] == forward[:-1]).any() and np.array_equal(forward, backward)


def _split(nodes, quads):
    """Cut each quadrilateral along its shorter diagonal."""
    a, b, c, d = (nodes[quads[:, i]] for i in range(4))
    first = ((a - c) ** 2).sum(axis=1) <= ((b - d) ** 2).sum(axis=1)
    triangles = np.where(first[:, None, None], quads[:, [[0, 1, 2], [0, 2, 3]]], quads[:, [[0, 1, 3], [1, 2, 3]]])
    return triangles.reshape(-1, 3).astype(np.int32)


def _smoothed(field, nodes, faces, weight):
    """Move nodes along the surface to the area-weighted middle of the triangles about them, then onto the surface."""
    corners = nodes[faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    columns = (*(corners.mean(axis=1) * area[:, None]).T, area)
    sums = [np.bincount(faces.ravel(), weights=np.repeat(column, 3), minlength=len(nodes)) for column in columns]
    shift = np.stack(sums[:3], axis=1) / sums[3][:, None] - nodes
    unit = field.gradient(nodes)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    nodes = nodes + weight * (shift - (shift * unit).sum(axis=1, keepdims=True) * unit)
    gradient = field.gradient(nodes)
    squares = np.maximum((gradient**2).sum(axis=1), 1e-4)
    for _ in range(2):
        step = np.clip(field.value(nodes) / squares, -0.5, 0.5)
        nodes = nodes - step[:, None] * gradient
    return nodes
