"""WindTunnel of wong2015, a pressurised tunnel: shells, 6 unknowns a node, and two nodes of 2 by themselves."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "WindTunnel"
COLLECTION = "Boeing/pwtk"
STAND_IN_FOR = "Boeing/pwtk of the SuiteSparse collection"
COUNTS = {"rows": 217_918, "nonzeros": 11_634_424, "row_length_min": 2, "row_length_max": 180}
BLOCK = 6
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((51, 15, 3), 2_295, 625_072),
    "small": ((101, 30, 3), 9_090, 2_766_446),
    "paper": ((202, 60, 3), 36_319, 11_634_424),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        alone=(2, 2), reach=5, spread=30, seed=9
    )  # fmt: skip
