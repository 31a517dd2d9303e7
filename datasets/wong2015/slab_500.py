"""The N-version benchmark's slab in cubes of 500 micrometres, the coarsest."""

from datasets.wong2015 import _slab

TITLE = "Slab 500"
SCALES = {"smoke": 1.0, "small": 0.5, "paper": 0.5}  # of the cubes, millimetres


def build(scale):
    """Return points and cells."""
    return _slab.mesh(SCALES[scale])
