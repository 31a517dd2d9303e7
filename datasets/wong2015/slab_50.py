"""The N-version benchmark's slab in cubes of 50 micrometres, finer than the benchmark's own."""

from datasets.wong2015 import _slab

TITLE = "Slab 50"
SCALES = {"smoke": 1.0, "large": 0.05}  # of the cubes, millimetres


def build(scale):
    """Return points and cells."""
    return _slab.mesh(SCALES[scale])
