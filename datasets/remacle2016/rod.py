"""The connecting rod of Figure 4: 62,540 hexahedra, all there is printed of it.

A big and a small eye, each a ring around its bore, and a shank between them that is narrower and thinner. Elements are
finer towards the bores and the eyes. Seen from above, the rings and the shank are grids that share the arcs where they
meet; 20 layers of 3,127 quadrilaterals are the published count.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

TITLE = "Connecting rod"
CELL_TYPE = "hexahedron"
STAND_IN_FOR = "the connecting rod of Figure 4, whose geometry is not public"


@dataclass(frozen=True)
class Sizes:
    """Elements around and across the big and the small eye, across and along the shank, and layers."""

    big: tuple[int, int]
    small: tuple[int, int]
    across: int
    along: int
    layers: int


PAPER = Sizes((104, 11), (64, 10), 17, 79, 20)
SCALES = {
    "smoke": Sizes((26, 3), (16, 3), 5, 20, 5), "small": Sizes((52, 6), (32, 5), 9, 40, 10), "paper": PAPER,
    "large": PAPER,
}  # fmt: skip

LENGTH = 4.6  # between the axes of the bores
BIG, SMALL = (0.55, 1.0), (0.30, 0.62)  # radii of the bore and of the eye
WAIST, THICKNESS, THINNER = 0.30, 1.0, 0.45  # how much narrower and thinner the shank is in its middle
TOWARDS = 1.25  # exponent of the grading towards the bores


def _ring(sizes, radii, centre, start, turn):
    """Return the nodes of a ring, (across + 1, around, 2), from the eye to the bore, anticlockwise for turn = 1."""
    around, across = sizes
    angle = start + turn * 2 * np.pi * np.arange(around) / around
    radius = radii[0] + (radii[1] - radii[0]) * np.linspace(1, 0, across + 1) ** TOWARDS
    return centre + radius[:, None, None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _shank(left, right, along):
    """Return the nodes between two arcs, (along - 1, across + 1, 2), finer towards both."""
    t = 0.5 * (1 - np.cos(np.pi * np.arange(1, along) / along))
    share = (0.5 * (t + np.arange(1, along) / along))[:, None, None]
    nodes = (1 - share) * left + share * right
    nodes[..., 1] *= 1 - WAIST * np.sin(np.pi * share[..., 0]) ** 2
    return nodes


def _thinness(plane):
    """Return the height of the rod over points of the plane: whole on the eyes, less on the shank."""
    gaps = [np.hypot(plane[:, 0] - x, plane[:, 1]) - radii[1] for x, radii in ((0.0, BIG), (LENGTH, SMALL))]
    far = np.clip(np.minimum(*gaps) / 0.7, 0, 1)
    return THICKNESS * (1 - THINNER * far**2 * (3 - 2 * far))


def build(scale):
    """Return points and cells."""
    sizes = SCALES[scale]
    (around_big, across_big), (around_small, across_small) = sizes.big, sizes.small
    arc = np.pi * sizes.across  # half the arcs that the shank has, times the elements around
    big = _ring(sizes.big, BIG, np.zeros(2), -arc / around_big, 1)
    small = _ring(sizes.small, SMALL, np.array([LENGTH, 0.0]), np.pi + arc / around_small, -1)
    shank = _shank(big[0, : sizes.across + 1], small[0, : sizes.across + 1], sizes.along)
    parts = [part.reshape(-1, 2) for part in (big, small, shank)]
    offsets = np.cumsum([0, *map(len, parts)])
    numbers = [np.arange(a, b) for a, b in pairwise(offsets)]
    big_numbers = numbers[0].reshape(across_big + 1, around_big)
    small_numbers = numbers[1].reshape(across_small + 1, around_small)
    edge = slice(sizes.across + 1)
    lattice = np.concatenate([big_numbers[:1, edge], numbers[2].reshape(sizes.along - 1, -1), small_numbers[:1, edge]])
    grids = [lattice, *(np.concatenate([ring, ring[:, :1]], axis=1) for ring in (big_numbers, small_numbers))]
    quads = [np.stack([g[:-1, :-1], g[1:, :-1], g[1:, 1:], g[:-1, 1:]], axis=-1).reshape(-1, 4) for g in grids]
    plane, quads = np.concatenate(parts), np.concatenate(quads)
    corners = plane[quads]
    first, last = corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0]
    clockwise = first[:, 0] * last[:, 1] < first[:, 1] * last[:, 0]
    quads[clockwise] = quads[clockwise][:, ::-1]

    height = _thinness(plane)
    levels = np.linspace(-0.5, 0.5, sizes.layers + 1)
    points = np.concatenate([np.column_stack([plane, level * height]) for level in levels])
    below = quads + len(plane) * np.arange(sizes.layers)[:, None, None]
    return points, np.concatenate([below, below + len(plane)], axis=-1).reshape(-1, 8)
