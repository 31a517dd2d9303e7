"""The series of meshes that fu2014's Regular mesh comes from, by nodes along an edge, and two refinements on.

Section 6.2.2 refines the coarse cubes three times, and solves on each mesh: 9, 17, 33 and 65 nodes along an edge. The
meshes with 129 and 257 go on in the same way.
"""

from datasets.fu2014 import regular

TITLE = "Regular series"
_EVERY = ("smoke", "small", "paper", "large")
VARIANTS = {"9": _EVERY, "17": _EVERY, "33": _EVERY[1:], "65": _EVERY[2:], "129": _EVERY[3:], "257": _EVERY[3:]}


def build(scale, variant):
    """Return points and cells of the mesh with that many nodes along an edge; the scales have the same."""
    refinements = ((int(variant) - 1) // 8).bit_length() - 1
    return regular.refined(8, refinements)
