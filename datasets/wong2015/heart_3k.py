"""Heart 3K: near 3,129 nodes and 11 thousand elements."""

from datasets.wong2015 import _heart

TITLE = "Heart 3K"
STAND_IN_FOR = _heart.STAND_IN_FOR
FIDELITY = "does not"  # as a matrix: its longest rows, and the padding that sorting saves
SCALES = {"smoke": (0.5, 0.2), "small": (0.449, 0.3), "paper": (0.449, 0.3), "large": None}


def build(scale):
    """Return points and cells."""
    return _heart.mesh(scale, SCALES)
