"""Directions of the muscle's fibres in the biventricular shell of `datasets.fu2014.heart`, by rule.

Fibres lie in the wall, and turn from one surface to the other: by so many degrees from the circumference on the inside,
by as many the other way on the outside, linearly with depth between them, as in dissected hearts.
"""

from __future__ import annotations

import numpy as np

from datasets import recipes, surfaces

HELIX = 60.0  # degrees from the circumference, at the inner surface; the negative at the outer
# Ellipsoids of the shell: centre and radii of outer and inner surface.
LEFT = ((0.0, 0.0, 0.0), (3.1, 3.1, 6.2)), ((0.0, 0.0, 0.4), (1.8, 1.8, 5.1))
RIGHT_OUTER = (2.4, 0.3, 0.9), (3.8, 3.0, 5.4)


def fibres(points: np.ndarray, wall: float = 0.6, helix: float = HELIX) -> np.ndarray:
    """Return unit vectors along the fibres.

    Parameters
    ----------
    points : ndarray of float64, shape (n, 3)
        In the heart, centimetres; nodes or centres of elements.
    wall : float
        Thickness of the right ventricle, centimetres.
    helix : float
        Degrees.

    Returns
    -------
    ndarray of float64, shape (n, 3)
    """
    x, y, z = np.asarray(points, dtype=np.float64).T
    left, cavity = surfaces.ellipsoid(x, y, z, *LEFT[0]), surfaces.ellipsoid(x, y, z, *LEFT[1])
    right = surfaces.ellipsoid(x, y, z, *RIGHT_OUTER)
    is_left = left < 0.02  # the septum among it
    outer, inner = np.where(is_left, -left, -right), np.where(is_left, cavity, right + wall)
    depth = np.clip(outer, 0, None) / np.maximum(np.clip(outer, 0, None) + np.clip(inner, 0, None), 1e-12)
    angle = np.radians(helix) * (2 * depth - 1)

    middle = [np.where(is_left, a, b) for a, b in zip(LEFT[0][0], RIGHT_OUTER[0])]
    radii = [np.where(is_left, a, b) for a, b in zip(LEFT[0][1], RIGHT_OUTER[1])]
    normal = np.stack([(c - m) / r**2 for c, m, r in zip((x, y, z), middle, radii)], axis=1)
    normal = _unit(normal, [1.0, 0.0, 0.0])
    around = _unit(np.cross([0.0, 0.0, 1.0], normal), [0.0, 1.0, 0.0])
    upwards = np.cross(normal, around)
    return np.cos(angle)[:, None] * around + np.sin(angle)[:, None] * upwards


def of_mesh(name: str, scale: str, points: np.ndarray) -> np.ndarray:
    """Return unit vectors along the fibres at points of one of the hearts of wong2015.

    Parameters
    ----------
    name : str
        As in ``wong2015/heart_5k``.
    scale : str
    points : ndarray of float64, shape (n, 3)
        Nodes or centres of elements of that mesh.

    Returns
    -------
    ndarray of float64, shape (n, 3)
    """
    scales = recipes.entry(name).recipe.SCALES
    spacing, *_ = scales[scale] or scales["paper"]  # the large mesh is the paper's, refined
    return fibres(points, max(0.6, 2.4 * spacing))  # as `datasets.fu2014.heart.surface` makes the wall


def _unit(vectors, otherwise):
    """Return vectors of length 1, another in the place of one that has no direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > 1e-9, vectors / np.maximum(lengths, 1e-300), otherwise)
