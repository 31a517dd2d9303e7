"""Heart 5K: near 4,563 nodes and 16 thousand elements."""

from datasets.wong2015 import _heart

TITLE = "Heart 5K"
STAND_IN_FOR = _heart.STAND_IN_FOR
FIDELITY = "does not"  # as a matrix: its longest rows, and the padding that sorting saves
SCALES = {"smoke": (0.5, 0.2), "small": (0.38, 0.3), "paper": (0.38, 0.3), "large": None}


def build(scale):
    """Return points and cells."""
    return _heart.mesh(scale, SCALES)
