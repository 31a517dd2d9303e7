"""Types of elements: their local edges, faces and corners, numbered as meshio and VTK do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CellType:
    """A linear or multilinear element.

    Attributes
    ----------
    name : str
        meshio's.
    singular, plural : str
        For messages.
    dimension : int
        Of the element and of its points: plane elements have two coordinates.
    edges : tuple of (int, int)
        Local nodes of the edges.
    facets : tuple of tuple of int
        Local nodes of the sides, edges of a plane element and faces of a solid one; seen from outside they run
        anticlockwise, and along an edge the element lies to the left.
    corners : tuple of tuple of int
        For each corner its node and its neighbours along edges, in positive order; simplices, whose Jacobian is
        constant, have one.
    mirrored : tuple of int
        An order of the nodes that turns the element's orientation.
    """

    name: str
    singular: str
    plural: str
    dimension: int
    edges: tuple[tuple[int, int], ...]
    facets: tuple[tuple[int, ...], ...]
    corners: tuple[tuple[int, ...], ...]
    mirrored: tuple[int, ...]

    @property
    def nodes(self) -> int:
        return len(self.mirrored)

    @property
    def is_simplex(self) -> bool:
        return self.nodes == self.dimension + 1


TYPES = {
    kind.name: kind
    for kind in (
        CellType(
            "triangle", "triangle", "triangles", 2,
            edges=((0, 1), (1, 2), (2, 0)), facets=((0, 1), (1, 2), (2, 0)), corners=((0, 1, 2),), mirrored=(0, 2, 1),
        ),
        CellType(
            "quad", "quadrilateral", "quadrilaterals", 2,
            edges=((0, 1), (1, 2), (2, 3), (3, 0)), facets=((0, 1), (1, 2), (2, 3), (3, 0)),
            corners=((0, 1, 3), (1, 2, 0), (2, 3, 1), (3, 0, 2)), mirrored=(0, 3, 2, 1),
        ),
        CellType(
            "tetra", "tetrahedron", "tetrahedra", 3,
            edges=((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
            facets=((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)), corners=((0, 1, 2, 3),), mirrored=(0, 1, 3, 2),
        ),
        CellType(
            "hexahedron", "hexahedron", "hexahedra", 3,
            edges=((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)),
            facets=((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
            corners=((0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7),
                     (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3)),
            mirrored=(4, 5, 6, 7, 0, 1, 2, 3),
        ),
    )
}  # fmt: skip


def cell_type(name: str) -> CellType:
    """Return the type of a name; ValueError when there is none."""
    if name not in TYPES:
        raise ValueError(f"cell type {name!r} is none of {', '.join(TYPES)}")
    return TYPES[name]
