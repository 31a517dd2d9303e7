"""The hex mesh of zhang2013: a unit cube of 54 x 54 x 54 hexahedra.

Its 499,125 unknowns and 38,976,723 non-zeros are Table 1's. The paper gives no sizes.
"""

from datasets import grids

TITLE = "hex"
CELL_TYPE = "hexahedron"
SCALES = {"smoke": 8, "small": 24, "paper": 54, "large": 100}


def build(scale):
    """Return points and cells."""
    return grids.hexes(SCALES[scale])
