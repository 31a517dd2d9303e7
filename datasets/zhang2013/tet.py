"""The tet mesh of zhang2013: a bar of 4 by 1 by 1, unstructured, of the paper's 208,193 nodes.

Table 2's padding of ELLPACK says that the longest row has 28 blocks, so that a node has 27 neighbours. The mesher
makes somewhat fewer nodes and neighbours, and edges are split until both are the paper's; non-zeros are then near
Table 1's. The paper gives no geometry and no mesher.
"""

import numpy as np

from datasets import connectivity, grids, mesher, ordering, refinement, splitting
from datasets.cells import TYPES

TITLE = "tet"
STAND_IN_FOR = "the tet mesh of zhang2013, whose geometry is not printed"
# Divisions of the long and of the short edges, greatest volume of an element over the cube of the short ones' spacing,
# and nodes.
SCALES = {
    "smoke": (36, 9, 0.55, 2_700), "small": (80, 20, 0.55, 23_600), "paper": (166, 43, 0.542, 208_193), "large": None,
}  # fmt: skip
LENGTH = 4.0
MOST = 27


def surface(along, across):
    """Return points and triangles of the bar's sides, their diagonals alternating as in `structured.box_surface`."""
    counts = (along, across, across)
    points, cells = grids.hexes(counts, (LENGTH, 1.0, 1.0))
    squares = connectivity.boundary_facets(cells, len(points), TYPES["hexahedron"])
    place = np.stack(np.unravel_index(squares[:, 0], [count + 1 for count in counts]))
    odd = place.sum(axis=0) % 2 == 1
    squares[odd] = np.roll(squares[odd], 1, axis=1)
    used, faces = np.unique(squares[:, [[0, 1, 2], [0, 2, 3]]], return_inverse=True)
    return points[used], faces.reshape(-1, 3)


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    along, across, volume, nodes = SCALES[scale]
    points, cells, _ = mesher.tetrahedralise(*surface(along, across), volume / across**3)
    while len(points) > nodes:  # another mesher's version may make more
        volume *= 1.01
        points, cells, _ = mesher.tetrahedralise(*surface(along, across), volume / across**3)
    points, cells = splitting.completed(points, cells, nodes, MOST)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
