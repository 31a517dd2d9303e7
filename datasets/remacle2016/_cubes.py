"""The coarse cubes of Figure 3, 8 × 8 × 8 hexahedra, and their uniform refinement (section 6.1.1).

The paper prints neither the cube's size nor the distortions. Here the cube has edge 1. The domain of meshes 2 and 3
is bent by sines, as its picture is; the inner nodes of mesh 3 are moved at random, by up to a fifth of an edge.
Refinement halves the coarse trilinear elements, so the domain and the shape of elements stay what they are.
"""

import numpy as np

from datasets import grids

COARSE = 8
BEND, SHIFT, SEED = 0.08, 0.2, 2016
_EVERY = ("smoke", "small", "paper", "large")
VARIANTS = {"8": _EVERY, "16": _EVERY[1:], "32": _EVERY[1:], "64": _EVERY[2:], "128": _EVERY[2:]}


def lattice():
    """Return the nodes of the regular coarse cube, (9, 9, 9, 3)."""
    return np.stack(np.meshgrid(*[np.arange(COARSE + 1) / COARSE] * 3, indexing="ij"), axis=-1)


def bent(points):
    """Return the points of the unit cube in the distorted one: each face bulges along the other two axes."""
    x, y, z = np.moveaxis(points, -1, 0)
    moved = [
        x + BEND * np.sin(np.pi * (y + z)) * np.sin(np.pi * (y + 0.25)),
        y + BEND * np.sin(np.pi * (z + x)) * np.sin(np.pi * (z + 0.25)),
        z + BEND * np.sin(np.pi * (x + y)) * np.sin(np.pi * (x + 0.25)),
    ]
    return np.stack(moved, axis=-1)


def shifted(points):
    """Return the coarse nodes moved at random: inside in all directions, on the cube's faces and edges along them."""
    moves = np.random.default_rng(SEED).uniform(-SHIFT, SHIFT, points.shape) / COARSE
    on_face = (points == 0) | (points == 1)
    return points + np.where(on_face, 0, moves)


def refined(coarse, cells: int):
    """Return points and hexahedra of a coarse lattice whose elements are cut into equal parts.

    Parameters
    ----------
    coarse : (9, 9, 9, 3) float64
    cells : int
        Elements along an edge: a multiple of 8.
    """
    parts = cells // COARSE
    at = np.arange(cells + 1)
    below = np.minimum(at // parts, COARSE - 1)
    share = (at - parts * below) / parts
    points = coarse
    for axis in range(3):
        weight = share.reshape([-1 if k == axis else 1 for k in range(4)])
        points = (1 - weight) * points.take(below, axis) + weight * points.take(below + 1, axis)
    return points.reshape(-1, 3), grids.hexes(cells)[1]
