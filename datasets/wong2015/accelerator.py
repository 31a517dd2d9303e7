"""FEMAccelerator of wong2015, a cavity design: one unknown a node."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "FEMAccelerator"
COLLECTION = "Williams/cop20k_A"
STAND_IN_FOR = "Williams/cop20k_A of the SuiteSparse collection"
COUNTS = {"rows": 121_192, "nonzeros": 2_624_331, "row_length_min": 8, "row_length_max": 81}
BLOCK = 1
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((40, 7, 7), 1_960, 36_075),
    "small": ((80, 14, 14), 15_680, 322_561),
    "paper": ((160, 28, 28), 121_192, 2_624_331),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        reach=5, spread=60, seed=4
    )  # fmt: skip
