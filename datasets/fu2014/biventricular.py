"""The ventricles of `datasets.biventricular` at the size of fu2014's Heart, whose own geometry is not public.

The template has its own size, about centimetres. TetGen fills it by its own defaults, and nothing is smoothed:
docs/notes/meshes.md has the counts and iterations by quality. Volumes are chosen for the nodes of Table 1's Heart.
"""

from datasets import biventricular, mesher, ordering, refinement

TITLE = "Biventricular"
SOURCE = biventricular.SOURCE
# Greatest volume of an element.
SCALES = {"smoke": 0.02, "small": 0.0016, "paper": 0.000087, "large": None}


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    points, faces, _ = biventricular.surface()
    points, cells, _ = mesher.tetrahedralise(points, faces, SCALES[scale], dihedral=0, keep_surface=False)
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
