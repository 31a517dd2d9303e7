"""The quad mesh of zhang2013: a unit square of 400 x 400 quadrilaterals.

Table 1's 321,602 unknowns and 5,769,604 non-zeros leave no other grid: (m + 1)(n + 1) nodes and (3 m + 1)(3 n + 1)
pairs. The paper gives no sizes.
"""

from datasets import grids

TITLE = "quad"
CELL_TYPE = "quad"
SCALES = {"smoke": 24, "small": 150, "paper": 400, "large": 1700}


def build(scale):
    """Return points and cells."""
    return grids.quads(SCALES[scale])
