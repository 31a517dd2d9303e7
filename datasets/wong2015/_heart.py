"""The hearts of wong2015, patients' own: in their place the shell of fu2014's heart, at four sizes."""

from datasets import mesher, ordering, refinement
from datasets.fu2014 import heart

STAND_IN_FOR = "a patient's heart of wong2015, a private geometry"


def mesh(scale, scales):
    """Return points and cells; the large mesh is the paper's, refined once.

    Parameters
    ----------
    scale : str
    scales : mapping of str to two floats
        Spacing of the surface, centimetres, and greatest volume of an element, cubic centimetres.
    """
    if scale == "large":
        return refinement.red(*mesh("paper", scales), diagonal="shortest")
    spacing, volume = scales[scale]
    points, cells, _ = mesher.tetrahedralise(*heart.surface(spacing), volume)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
