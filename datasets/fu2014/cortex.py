"""Both hemispheres of `datasets.cortex` at the size of fu2014's Brain, whose own geometry is not public.

They touch, and are two bodies: each is meshed by itself. TetGen fills them by its own defaults, and nothing is
smoothed: docs/notes/meshes.md has the counts and iterations by quality. Volumes are chosen for the nodes of Table 1's
Brain; the surface has nodes enough for the smaller scales.
"""

import numpy as np

from datasets import cortex, mesher, ordering, refinement

TITLE = "Cortex"
SOURCE = cortex.SOURCE
# Greatest volume of an element.
SCALES = {"smoke": 1.0, "small": 1.0, "paper": 0.00107, "large": None}


def build(scale):
    """Return points and cells; the large mesh is the paper's, refined once."""
    if scale == "large":
        return refinement.red(*build("paper"), diagonal="shortest")
    parts = [
        mesher.tetrahedralise(*cortex.surface(side), SCALES[scale], dihedral=0, keep_surface=False)[:2]
        for side in ("left", "right")
    ]
    (left, cells), (right, more) = parts
    points, cells = np.concatenate((left, right)), np.concatenate((cells, more + len(left)))
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
