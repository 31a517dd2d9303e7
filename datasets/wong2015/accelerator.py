"""FEMAccelerator of wong2015, a cavity design: one unknown a node; fixed unknowns have empty rows and columns.

The nodes that lie at even places of the lattice come first, then those between them, as where a mesh is refined after
it was numbered: neighbours are in up to eight parts of the matrix.
"""

import numpy as np

from datasets.wong2015 import _nodes, _values

KIND = "matrix"
TITLE = "FEMAccelerator"
COLLECTION = "Williams/cop20k_A"
STAND_IN_FOR = "Williams/cop20k_A of the SuiteSparse collection"
FIDELITY = "does not"
COUNTS = {"rows": 121_192, "nonzeros": 2_624_331, "row_length_min": 8, "row_length_max": 81}  # of rows not empty
BLOCK = 1
# The lattice of nodes, how many of its positions are taken, rows and non-zeros.
SCALES = {
    "smoke": ((34, 7, 7), 1_615, 1_960, 36_075),
    "small": ((67, 14, 14), 12_918, 15_680, 322_561),
    "paper": ((128, 28, 28), 99_843, 121_192, 2_624_331),
}


def build(scale):
    """Return the matrix."""
    shape, nodes, rows, nonzeros = SCALES[scale]
    lattice = _nodes.matrix(
        np.full(nodes, BLOCK), shape, nonzeros, COUNTS["row_length_min"], COUNTS["row_length_max"],
        reach=9, spread=200, alike=4, seed=4
    )  # fmt: skip
    place = np.stack(np.unravel_index(np.arange(nodes), shape)) % 2
    taken = np.floor(np.arange(nodes) * (rows / nodes)).astype(np.int64)  # rows in order, empty ones between them
    number = np.empty(nodes, dtype=np.int64)
    number[np.argsort(place.T @ (4, 2, 1), kind="stable")] = taken
    first = number[np.repeat(np.arange(nodes), np.diff(lattice.indptr))]
    second = number[lattice.indices]
    order = np.lexsort((second, first))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(first, minlength=rows))))
    return _values.filled(offsets, second[order])
