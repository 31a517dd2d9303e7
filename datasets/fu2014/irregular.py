"""The Irregular mesh of fu2014: a cube of side 4 filled with tetrahedra by a Delaunay mesher.

The paper names no mesher and no sizes; those here give nearly its counts.
"""

from datasets import mesher, ordering, refinement, structured

TITLE = "Irregular"
# Divisions of the cube's edges, and greatest volume of an element.
SCALES = {"smoke": (12, 0.013), "small": (34, 0.0008), "paper": (72, 0.000118), "large": None}


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    divisions, volume = SCALES[scale]
    points, cells, _ = mesher.tetrahedralise(*structured.box_surface(divisions), volume)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
