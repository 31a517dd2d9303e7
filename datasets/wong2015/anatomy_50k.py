"""Anatomy 50K: the template of both ventricles with near 50 thousand nodes, as Heart 50K has."""

from datasets import biventricular
from datasets.wong2015 import _anatomy

TITLE = "Anatomy 50K"
SOURCE = biventricular.SOURCE
SCALES = {"smoke": 0.02, "small": 0.01, "paper": 0.0009}  # greatest volume of an element


def build(scale):
    """Return points and cells."""
    return _anatomy.mesh(SCALES[scale])
