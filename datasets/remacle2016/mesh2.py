"""Mesh 2 of Figure 3: nearly uniform elements in a distorted cube. By elements along an edge; see `_cubes`."""

from datasets.remacle2016 import _cubes

TITLE = "Mesh 2"
CELL_TYPE = "hexahedron"
VARIANTS = _cubes.VARIANTS | dict.fromkeys(("24", "40", "48", "56", "72", "96"), ("large",))


def build(scale, variant):
    """Return points and cells of the mesh with that many elements along an edge."""
    return _cubes.refined(_cubes.bent(_cubes.lattice()), int(variant))
