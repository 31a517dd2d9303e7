"""Heart 50K: near 50 thousand nodes and 218 thousand elements."""

from datasets.wong2015 import _heart

TITLE = "Heart 50K"
STAND_IN_FOR = _heart.STAND_IN_FOR
SCALES = {"smoke": (0.5, 0.2), "small": (0.22, 0.02), "paper": (0.131, 0.0065), "large": None}


def build(scale):
    """Return points and cells."""
    return _heart.mesh(scale, SCALES)
