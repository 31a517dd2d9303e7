"""Heart 30K: near 28,639 nodes and 123 thousand elements."""

from datasets.wong2015 import _heart

TITLE = "Heart 30K"
STAND_IN_FOR = _heart.STAND_IN_FOR
FIDELITY = "does not"  # as a matrix: its longest rows, and the padding that sorting saves
SCALES = {"smoke": (0.5, 0.2), "small": (0.25, 0.1), "paper": (0.168, 0.0195), "large": None}


def build(scale):
    """Return points and cells."""
    return _heart.mesh(scale, SCALES)
