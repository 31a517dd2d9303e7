"""FEMCantilever of wong2015: a brick of 9 x 9 x 257 nodes with 3 unknowns each, fixed at one end.

Each node is coupled with the 26 about it, which makes rows of 81 entries; Table 2 has 78 at most, and 7 % fewer in
all. Three entries of every row go with the couplings between every other pair of layers of nodes straight above one
another, the rest out of the blocks on the diagonal.
"""

import numpy as np

from datasets.wong2015 import _nodes, _values

KIND = "matrix"
TITLE = "FEMCantilever"
COLLECTION = "Williams/cant"
STAND_IN_FOR = "Williams/cant of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 62_451, "nonzeros": 4_007_383, "row_length_min": 1, "row_length_max": 78}
MAKE = "a brick of 9 x 9 x 257 nodes, fixed at one end"
BLOCK = 3
# Nodes along each edge, the longest last, and how many pairs of entries of the blocks on the diagonal are left out.
SCALES = {"smoke": ((5, 5, 33), 2218), "small": ((7, 7, 129), 17386), "paper": ((9, 9, 257), 57493)}


def build(scale):
    """Return the matrix."""
    import scipy.sparse

    (wide, deep, tall), left_out = SCALES[scale]
    beside = [scipy.sparse.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)) for n in (tall, wide, deep)]
    graph = scipy.sparse.kron(beside[0], scipy.sparse.kron(beside[1], beside[2]), format="csr")
    graph.eliminate_zeros()  # which kron keeps where it takes a matrix for dense
    offsets, columns = _nodes.unknowns(graph, np.full(wide * deep * tall, BLOCK))
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    node, other = rows // BLOCK, columns // BLOCK
    layer, other_layer = node // (wide * deep), other // (wide * deep)
    # Layer 0 is fixed: unit rows and columns.
    keep = ((layer > 0) & (other_layer > 0)) | (rows == columns)
    above = (node % (wide * deep) == other % (wide * deep)) & (layer != other_layer)
    keep &= ~(above & ((layer - 1) // 2 == (other_layer - 1) // 2))
    # Of the blocks on the diagonal, from layer 1 on: the three pairs of each node in turn.
    low, high = np.minimum(rows, columns) % BLOCK, np.maximum(rows, columns) % BLOCK
    pair = 3 * (node - wide * deep) + low + high - 1
    keep &= ~((node == other) & (rows != columns) & (pair < left_out))
    return _values.filled(np.concatenate(([0], np.cumsum(keep)))[offsets], columns[keep])
