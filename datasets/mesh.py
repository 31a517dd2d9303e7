"""A mesh: points, elements and, where there are any, the regions that the elements belong to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets import connectivity, shapes
from datasets.cells import cell_type


@dataclass(frozen=True, eq=False)
class Mesh:
    """An unstructured mesh whose arrays are read-only, so that no caller changes it for the next.

    Attributes
    ----------
    points : ndarray of float64, shape (n, 3), or (n, 2) of plane elements
        Coordinates of the nodes.
    cells : ndarray of int32, shape (m, k)
        Nodes of each element, in meshio's order, positively oriented: the Jacobian is positive at every corner, as in
        det(p1 - p0, p2 - p0, p3 - p0) > 0 for a tetrahedron; `Mesh.oriented` makes them so.
    cell_type : {'tetra', 'triangle', 'quad', 'hexahedron'}
        meshio's name of the element; see `datasets.cells`.
    regions : ndarray of int32, shape (m,), or None
        Label of each element's region.
    name : str
        As in ``fu2014/heart``.
    title : str
        Its name in tables and plots; of a stand-in it says that it is one.
    stand_in_for : str
        The geometry that this one stands in for; empty when it is the paper's own.
    """

    points: np.ndarray
    cells: np.ndarray
    cell_type: str = "tetra"
    regions: np.ndarray | None = None
    name: str = ""
    title: str = ""
    stand_in_for: str = ""
    _remembered: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        kind = cell_type(self.cell_type)
        layout = (
            ("points", np.float64, (kind.dimension,)), ("cells", np.int32, (kind.nodes,)), ("regions", np.int32, ()),
        )  # fmt: skip
        for attribute, dtype, tail in layout:
            given = getattr(self, attribute)
            if given is None and attribute == "regions":
                continue
            array = np.ascontiguousarray(given, dtype=dtype).view()
            if array.ndim != 1 + len(tail) or array.shape[1:] != tail:
                raise ValueError(f"{attribute} must have shape (*, {', '.join(map(str, tail))}), not {array.shape}")
            array.flags.writeable = False
            object.__setattr__(self, attribute, array)
        if self.regions is not None and len(self.regions) != len(self.cells):
            raise ValueError(f"{len(self.regions)} region labels for {len(self.cells)} cells")

    @classmethod
    def oriented(cls, points: np.ndarray, cells: np.ndarray, **attributes: Any) -> Mesh:
        """Return the mesh with each element positively oriented: its nodes in mirrored order where it was not."""
        kind = cell_type(attributes.get("cell_type", "tetra"))
        return cls(points, shapes.oriented(np.asarray(points, dtype=np.float64), cells, kind), **attributes)

    def __repr__(self):
        return f"Mesh({self.name!r}, {len(self.points):,} nodes, {len(self.cells):,} {self.cell_type})"

    def digest(self) -> str:
        """Return the SHA-256 of points, cells and regions, in hexadecimal; names do not count."""
        if "digest" not in self._remembered:
            state = hashlib.sha256()
            for array, dtype in ((self.points, "<f8"), (self.cells, "<i4"), (self.regions, "<i4")):
                state.update(f"{self.cell_type} {None if array is None else array.shape} {dtype}\n".encode())
                if array is not None:
                    state.update(np.ascontiguousarray(array, dtype=dtype).data)
            self._remembered["digest"] = state.hexdigest()
        return self._remembered["digest"]

    def facts(self) -> dict[str, Any]:
        """Return counts, valence, non-zeros and quality as plain numbers.

        Returns
        -------
        dict
            ``nodes``, ``elements``, ``boundary_nodes``, ``boundary_faces`` (edges, of a plane mesh), ``edges``;
            ``valence_min``, ``valence_max`` (nodes that share an element with a node, itself not counted);
            ``nonzeros_full`` and ``nonzeros_upper`` of the matrix with one unknown a node, for simplices nodes + 2
            edges and nodes + edges; ``nonzeros_euler``, the same as ``nonzeros_full`` by Euler's formula from nodes,
            elements and boundary alone, and ``euler_agrees``; ``euler_characteristic``; ``volume``, or ``area``;
            ``region_shares``, the share of it by label, where there are regions. Of shape, for tetrahedra
            ``dihedral_min``, ``dihedral_max`` in degrees; for plane elements ``angle_min``, ``angle_max``; for
            simplices ``radius_ratio_min``, ``radius_ratio_mean`` (inscribed over circumscribed radius: 1 is regular, 0
            flat); for the others ``scaled_jacobian_min``, ``scaled_jacobian_mean`` (least of an element's corners: 1 is
            a box, 0 flat).
        """
        if "facts" not in self._remembered:
            kind = cell_type(self.cell_type)
            facts = connectivity.facts(self.cells, len(self.points), kind)
            facts |= shapes.facts(self.points, self.cells, kind)
            if self.regions is not None:
                sizes = shapes.sizes(self.points, self.cells, kind)
                labels, index = np.unique(self.regions, return_inverse=True)
                shares = np.bincount(index, weights=sizes) / sizes.sum()
                facts["region_shares"] = {str(label): float(share) for label, share in zip(labels, shares, strict=True)}
            self._remembered["facts"] = facts
        return dict(self._remembered["facts"])
