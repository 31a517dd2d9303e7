"""Anatomy 30K: the template of both ventricles with near 28,639 nodes, as Heart 30K has."""

from datasets import biventricular
from datasets.wong2015 import _anatomy

TITLE = "Anatomy 30K"
SOURCE = biventricular.SOURCE
SCALES = {"smoke": 0.02, "small": 0.01, "paper": 0.00175}  # greatest volume of an element


def build(scale):
    """Return points and cells."""
    return _anatomy.mesh(SCALES[scale])
