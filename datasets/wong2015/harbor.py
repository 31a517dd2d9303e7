"""FEMHarbor of wong2015, a harbour's flow: nodes of 3 and of 2 unknowns in turn, as where pressure has fewer nodes."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "FEMHarbor"
COLLECTION = "Bova/rma10"
STAND_IN_FOR = "Bova/rma10 of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 46_835, "nonzeros": 2_374_001, "row_length_min": 4, "row_length_max": 145}
BLOCK = 1
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((28, 14, 3), 1_176, 126_670),
    "small": ((56, 28, 3), 4_704, 566_292),
    "paper": ((112, 56, 3), 18_734, 2_374_001),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.resize([3, 2], nodes), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        reach=12, spread=300, alike=14, seed=5
    )  # fmt: skip
