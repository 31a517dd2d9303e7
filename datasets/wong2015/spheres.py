"""FEMSpheres of wong2015, concentric spheres: 3 unknowns a node, the last three of them fixed."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "FEMSpheres"
COLLECTION = "Williams/consph"
STAND_IN_FOR = "Williams/consph of the SuiteSparse collection"
FIDELITY = "does not"
COUNTS = {"rows": 83_334, "nonzeros": 6_010_480, "row_length_min": 1, "row_length_max": 81}
BLOCK = 3
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((8, 8, 8), 512, 94_349),
    "small": ((16, 15, 15), 3_600, 740_209),
    "paper": ((31, 30, 30), 27_777, 6_010_480),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        alone=(1, 1, 1), reach=5, spread=20, seed=7
    )  # fmt: skip
