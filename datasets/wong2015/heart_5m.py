"""Heart 5M: near 5 million nodes and 28 million elements, which the paper's devices could not hold."""

from datasets import mesher, ordering, refinement
from datasets.fu2014 import heart
from datasets.wong2015 import _heart

TITLE = "Heart 5M"
STAND_IN_FOR = _heart.STAND_IN_FOR
# Spacing of the surface, greatest volume of an element, and how often all of it is refined.
SCALES = {"smoke": (0.5, 0.2, 0), "large": (0.0975, 0.0028, 2)}


def build(scale):
    """Return points and cells, what is near in space near in memory too."""
    spacing, volume, refinements = SCALES[scale]
    points, cells, _ = mesher.tetrahedralise(*heart.surface(spacing), volume)
    for _ in range(refinements):
        points, cells = refinement.red(points, cells, diagonal="shortest")
    return ordering.reordered(points, cells, None, ordering.morton(points))[:2]
