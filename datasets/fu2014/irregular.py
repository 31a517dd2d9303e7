"""The Irregular mesh of fu2014: a cube of side 4 filled with tetrahedra by a Delaunay mesher.

The paper names no mesher and no size; the size here gives its number of nodes within 1 %.
"""

from datasets import mesher, ordering, refinement, structured, topology

TITLE = "Irregular"
# Greatest volume of an element.
SCALES = {"smoke": 0.0112296, "small": 0.00074864, "paper": 0.000109, "large": None}


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    corners, cube = structured.kuhn(1)
    faces = topology.boundary_faces(cube, len(corners))
    points, cells, _ = mesher.tetrahedralise(corners, faces, SCALES[scale], keep_surface=False)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
