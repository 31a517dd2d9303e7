"""Mesh 3 of Figure 3: strongly distorted elements in the distorted cube, by elements along an edge; see `_cubes`."""

from datasets.remacle2016 import _cubes

TITLE = "Mesh 3"
CELL_TYPE = "hexahedron"
VARIANTS = _cubes.VARIANTS


def build(scale, variant):
    """Return points and cells of the mesh with that many elements along an edge."""
    return _cubes.refined(_cubes.bent(_cubes.shifted(_cubes.lattice())), int(variant))
