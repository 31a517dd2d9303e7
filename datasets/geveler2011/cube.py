"""CUBE, beyond geveler2011, whose solver is blind to the dimension but is shown in the plane alone: eight hexahedra.

Vertices inside, and in the middle of faces and edges, lie off centre, so that no element is a box, nor any two alike.
"""

import numpy as np

from datasets import grids

TITLE = "CUBE"
CELL_TYPE = "hexahedron"
SCALES = {"smoke": 1, "small": 1, "paper": 1, "large": 1}  # the coarse mesh is level 1 of every scale
SOURCE = 1.0  # -Δu
SHIFT, SEED = 0.08, 2011


def dirichlet(points):
    """Return u on the boundary: 0."""
    return 0 * points[:, 0]


def build(scale):
    """Return points and cells of level 1."""
    points, cells = grids.hexes(2)
    moves = np.random.default_rng(SEED).uniform(-SHIFT, SHIFT, points.shape)
    return points + np.where((points == 0) | (points == 1), 0, moves), cells
