"""Protein of wong2015, a protein's atoms, each coupled with those near it: 3 unknowns an atom."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "Protein"
COLLECTION = "Williams/pdb1HYS"
STAND_IN_FOR = "Williams/pdb1HYS of the SuiteSparse collection"
FIDELITY = "does not"
COUNTS = {"rows": 36_417, "nonzeros": 4_344_765, "row_length_min": 18, "row_length_max": 204}
BLOCK = 3
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((6, 6, 6), 216, 65_712),
    "small": ((12, 12, 11), 1_584, 538_594),
    "paper": ((24, 23, 22), 12_139, 4_344_765),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        reach=12, spread=50, seed=8
    )  # fmt: skip
