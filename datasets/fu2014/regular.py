"""The Regular mesh of fu2014: a cube of side 4 in small cubes, each six tetrahedra, refined by the midpoints of edges.

Section 6 gives the construction, not the cuts of the small cubes and of the octahedra inside the refinement. Of the
cuts tried, this one has Table 1's counts and its valence of 3 to 18, and needs nearly the paper's iterations of
unpreconditioned conjugate gradients. Notes: docs/notes/harness.md.
"""

from datasets import ordering, refinement, structured

TITLE = "Regular"
# Small cubes along an edge, and refinements. The paper has 8 and 3.
SCALES = {"smoke": (6, 1), "small": (8, 2), "paper": (8, 3), "large": (8, 4)}


def build(scale):
    """Return points and cells."""
    return refined(*SCALES[scale])


def refined(cubes, times):
    """Return points and cells of the mesh that starts with `cubes` along an edge and is refined `times` times.

    ``refined(8, 0)`` to ``refined(8, 3)`` is the series of section 6.2.2, from 729 to 274,625 nodes.
    """
    points, cells = structured.prisms(cubes)
    for _ in range(times):
        points, cells = refinement.red(points, cells, diagonal="first")
    return ordering.reordered(points, cells, None, ordering.lexicographic(points))[:2]
