"""Sparsity pattern of a nodal finite element matrix, and the place of every edge in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

# The six edges of a tetrahedron as pairs of local nodes, in the order of the kernels' off-diagonal entries.
EDGE_NODES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True)
class Pattern:
    """CSR pattern of the full symmetric matrix, sorted columns, with the edges that it came from.

    Arrays live where the mesh lives: NumPy's on the host, CuPy's on the device.

    Attributes
    ----------
    row_offsets : (nodes + 1,) int32
    column_indices : (nonzeros,) int32
    edges : (edges, 2) int32
        Node pairs, lower index first, in lexicographic order.
    element_edges : (elements, 6) int32
        Edge of each local edge of `EDGE_NODES`.
    upper, lower : (edges,) int32
        Where the entries (low, high) and (high, low) of an edge stand in `column_indices`.
    diagonal : (nodes,) int32
        Where the diagonal entries stand.
    """

    row_offsets: Any
    column_indices: Any
    edges: Any
    element_edges: Any
    upper: Any
    lower: Any
    diagonal: Any

    @property
    def nodes(self) -> int:
        return self.row_offsets.size - 1

    @property
    def nonzeros(self) -> int:
        return self.column_indices.size


def csr_pattern(cells, nodes: int, xp=np) -> Pattern:
    """Derive the pattern of a P1 matrix from the cells of a mesh.

    Parameters
    ----------
    cells : (elements, 4) int array of `xp`
    nodes : int
        Number of nodes; rows of unused nodes hold their diagonal only.
    xp : module
        NumPy or CuPy.
    """
    cells = cells.astype(xp.int64)
    first, second = cells[:, EDGE_NODES[:, 0]], cells[:, EDGE_NODES[:, 1]]
    keys = xp.minimum(first, second) * nodes + xp.maximum(first, second)
    keys, element_edges = xp.unique(keys.ravel(), return_inverse=True)
    low, high = keys // nodes, keys % nodes
    count = keys.size
    entries = xp.concatenate([keys, high * nodes + low, xp.arange(nodes, dtype=xp.int64) * (nodes + 1)])
    order = xp.argsort(entries)
    entries = entries[order]
    place = xp.empty(entries.size, dtype=xp.int32)
    place[order] = xp.arange(entries.size, dtype=xp.int32)
    starts = xp.searchsorted(entries, xp.arange(nodes + 1, dtype=xp.int64) * nodes)
    return Pattern(
        row_offsets=starts.astype(xp.int32),
        column_indices=(entries % nodes).astype(xp.int32),
        edges=xp.stack([low, high], axis=1).astype(xp.int32),
        element_edges=element_edges.reshape(-1, 6).astype(xp.int32),
        upper=place[:count],
        lower=place[count : 2 * count],
        diagonal=place[2 * count :],
    )


def entry_map(pattern: Pattern, cells, xp=np):
    """Return where each entry of each element matrix adds to the matrix: (elements, 16) int32, row-major 4 × 4."""
    places = xp.empty((cells.shape[0], 4, 4), dtype=xp.int32)
    for local in range(4):
        places[:, local, local] = pattern.diagonal[cells[:, local]]
    for edge, (i, j) in enumerate(EDGE_NODES):
        edges = pattern.element_edges[:, edge]
        ascending = cells[:, i] < cells[:, j]
        upper, lower = pattern.upper[edges], pattern.lower[edges]
        places[:, i, j] = xp.where(ascending, upper, lower)
        places[:, j, i] = xp.where(ascending, lower, upper)
    return places.reshape(-1, 16)
