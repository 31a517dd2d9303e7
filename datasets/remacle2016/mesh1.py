"""Mesh 1 of Figure 3: the cube in equal cubes. By elements along an edge; see `_cubes`."""

from datasets.remacle2016 import _cubes

TITLE = "Mesh 1"
CELL_TYPE = "hexahedron"
VARIANTS = _cubes.VARIANTS


def build(scale, variant):
    """Return points and cells of the mesh with that many elements along an edge."""
    return _cubes.refined(_cubes.lattice(), int(variant))
