"""The tri mesh of zhang2013: a rectangle, unstructured, of the paper's 530,056 nodes with 3,500 edges on the boundary.

By Euler's formula Table 1's unknowns and non-zeros leave 3,500 boundary edges to a mesh without holes, and these two
numbers fix the rest. With triangles of one size they belong to a rectangle of 1430 by 320 edges. Table 2's padding
of ELLPACK says that the longest row has 10 blocks, so at most 9 neighbours. The paper gives no geometry and no mesher.
"""

import numpy as np

from datasets import ordering, triangles

TITLE = "tri"
STAND_IN_FOR = "the tri mesh of zhang2013, whose geometry is not printed"
CELL_TYPE = "triangle"
# Edges along the sides, and nodes.
SCALES = {"smoke": (67, 15, 1_242), "small": (430, 96, 48_192), "paper": (1430, 320, 530_056), "large": None}
MOST = 9


def build(scale):
    """Return points and cells, the short side of length 1; the large mesh is the paper's, refined twice."""
    if scale == "large":
        points, cells = triangles.refined(*triangles.refined(*build("paper")))
    else:
        m, n, nodes = SCALES[scale]
        points, cells = triangles.scattered((m, n), nodes, most=MOST)
        points /= n
    order = ordering.morton(np.column_stack((points, np.zeros(len(points)))))
    return ordering.reordered(points, cells, None, order)[:2]
