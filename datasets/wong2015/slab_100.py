"""The N-version benchmark's slab in cubes of 100 micrometres, the benchmark's own."""

from datasets.wong2015 import _slab

TITLE = "Slab 100"
SCALES = {"smoke": 1.0, "paper": 0.1, "large": 0.1}  # of the cubes, millimetres


def build(scale):
    """Return points and cells."""
    return _slab.mesh(SCALES[scale])
