"""FEMShip of wong2015, a ship's section: shells, 6 unknowns a node; all of its blocks are full."""

import numpy as np

from datasets.wong2015 import _nodes

KIND = "matrix"
TITLE = "FEMShip"
COLLECTION = "DNVS/shipsec1"
STAND_IN_FOR = "DNVS/shipsec1 of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 140_874, "nonzeros": 7_813_404, "row_length_min": 24, "row_length_max": 102}
MAKE = "shells of 6 unknowns a node, all blocks full"
BLOCK = 6
# The lattice of nodes, how many of its positions are taken, and non-zeros.
SCALES = {
    "smoke": ((33, 15, 3), 1_485, 420_054),
    "small": ((66, 30, 3), 5_940, 1_877_892),
    "paper": ((131, 60, 3), 23_479, 7_813_404),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, nonzeros = SCALES[scale]
    return _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        reach=5, seed=6
    )  # fmt: skip
