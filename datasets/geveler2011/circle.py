"""CIRCLE of geveler2011: a rectangle around a circle, a ring of eight quadrilaterals (Figure 1 a and b, Table 1).

Table 1 fixes the counts: eight vertices on either boundary, and none that belongs to a single quadrilateral. Sizes are
not printed; here the rectangle is the square of side 2 and the circle has radius 1/2.
"""

import numpy as np

TITLE = "CIRCLE"
CELL_TYPE = "quad"
SCALES = {"smoke": 1, "small": 1, "paper": 1, "large": 1}  # the coarse mesh is level 1 of every scale
RADIUS = 0.5
SOURCE = 1.0  # -Δu
CELLS = 8


def place(cells, local, xp=np):
    """Return points of coarse elements; lines of constant angle are straight, from the circle to the square.

    Parameters
    ----------
    cells : (p,) int array
    local : (p, 2) array
        In [0, 1]²: from the circle outwards, and anticlockwise.
    """
    square = xp.asarray([(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)], dtype=float)
    outwards, along = local[:, :1], local[:, 1:]
    angle = (2 * np.pi / CELLS) * (cells[:, None] + along)
    inner = RADIUS * xp.concatenate((xp.cos(angle), xp.sin(angle)), axis=1)
    outer = (1 - along) * square[cells] + along * square[(cells + 1) % CELLS]
    return (1 - outwards) * inner + outwards * outer


def dirichlet(points):
    """Return u on the boundary: 0 on the square, Γ1, and 1 on the circle, Γ2."""
    return ((points**2).sum(axis=1) < (0.5 * (1 + RADIUS)) ** 2).astype(float)


def build(scale):
    """Return points and cells of level 1."""
    cell = np.arange(CELLS)
    inner, outer = (place(cell, np.array([[t, 0.0]] * CELLS)) for t in (0.0, 1.0))
    after = (cell + 1) % CELLS
    return np.concatenate((inner, outer)), np.stack((cell, cell + CELLS, after + CELLS, after), axis=1)
