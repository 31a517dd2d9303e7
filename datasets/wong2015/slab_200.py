"""The N-version benchmark's slab in cubes of 200 micrometres, the benchmark's own."""

from datasets.wong2015 import _slab

TITLE = "Slab 200"
SCALES = {"smoke": 1.0, "paper": 0.2}  # of the cubes, millimetres


def build(scale):
    """Return points and cells."""
    return _slab.mesh(SCALES[scale])
