"""WindTunnel of wong2015, a pressurised tunnel: shells, 6 unknowns a node, and two nodes of 2 by themselves.

A node of a regular shell is coupled with 9 nodes, which makes rows of 54, and the mean row of Table 2 is little
shorter. So the stand-in is of square sheets, the first line of each welded to the middle of the one before.
"""

import numpy as np

from datasets.wong2015 import _nodes, _values

KIND = "matrix"
TITLE = "WindTunnel"
COLLECTION = "Boeing/pwtk"
STAND_IN_FOR = "Boeing/pwtk of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 217_918, "nonzeros": 11_634_424, "row_length_min": 2, "row_length_max": 180}
MAKE = "regular shells of 6 unknowns a node"
BLOCK, ALONE = 6, (2, 2)
# Nodes of a line, lines of a sheet, nodes in all, non-zeros.
SCALES = {
    "smoke": (15, 21, 2_295, 705_608), "small": (30, 42, 9_090, 2_872_808), "paper": (66, 84, 36_319, 11_634_424),
}  # fmt: skip


def build(scale):
    """Return the matrix."""
    wide, lines, nodes, nonzeros = SCALES[scale]
    node = np.arange(nodes)
    line, place = np.divmod(node, wide)
    pairs = []
    for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
        there = (place + across >= 0) & (place + across < wide) & ((down == 0) | (line % lines < lines - 1))
        pairs.append(np.stack((node, node + down * wide + across))[:, there])
    welded = node[(line % lines == 0) & (line > 0)]
    for across in (0, 1, -1):
        there = (welded % wide + across >= 0) & (welded % wide + across < wide)
        pairs.append(np.stack((welded - lines // 2 * wide + across, welded))[:, there])
    first, second = np.concatenate(pairs, axis=1)
    inside = second < nodes
    couplings = _nodes.Couplings(np.full(nodes, BLOCK), nonzeros - sum(size**2 for size in ALONE),
                                 COUNTS["row_length_max"])  # fmt: skip
    # The longest row belongs to a node which is coupled with the first nodes, as one that holds a bundle is.
    couplings.complete(2 * nodes // 3, list(range(nodes // 2)), COUNTS["row_length_max"])
    couplings.add(first[inside], second[inside])
    return _values.filled(*_nodes.expanded(couplings, ALONE, nonzeros))
