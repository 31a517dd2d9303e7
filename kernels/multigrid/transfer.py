"""Prolongation and restriction as matrices (geveler2011, section 2.3): values of coarse basis functions at fine nodes.

One function serves every degree and dimension: a fine node has a place in one of the 2^d children of a coarse element,
and its row holds the coarse element's basis functions there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kernels.multigrid import elements
from kernels.multigrid.compiled import parts_of

SOURCE = Path(__file__).with_name("prolong.c")
LEAST = 1e-14  # what is smaller is 0 but for rounding


def _defines(degree: int, dimension: int) -> dict:
    return {"LOCAL": (degree + 1) ** dimension, "CHILDREN": 2**dimension, "LEAST": repr(LEAST)}


BUILDS = [(SOURCE, 1, _defines(degree, dimension)) for dimension in (2, 3) for degree in (1, 2)]


def weights(degree: int, dimension: int) -> np.ndarray:
    """Return the coarse basis functions at the nodes of each child, as (children, nodes, functions), lexicographic."""
    children = np.array([bits[::-1] for bits in product((0, 1), repeat=dimension)])
    places = np.array([place[::-1] for place in product(range(degree + 1), repeat=dimension)]) / degree
    return np.stack([elements.values(degree, (child + places) / 2) for child in children])


def owners(nodes, count: int, xp=np):
    """Return for each node a place in the flattened `nodes` where it stands: the first."""
    flat = nodes.ravel()
    found = xp.empty(count, dtype=np.int64)
    if xp is np:
        found[flat[::-1]] = np.arange(flat.size - 1, -1, -1)
    else:  # of several writes to one place CuPy keeps any
        found[:] = xp.unique(flat, return_index=True)[1]
    return found


def prolongation(coarse, fine, xp=np, sparse=None, device=None, owner=None):
    """Return the matrix P of section 2.3 from a space to the same on the mesh refined once, Dirichlet rows empty.

    A correction is 0 on the boundary, so rows of fine boundary nodes, and columns of coarse ones, are left out.

    Parameters
    ----------
    coarse, fine : spaces
        Children of coarse element e are the fine elements 2^d e to 2^d e + 2^d - 1, lexicographic.
    xp, sparse : modules, optional
        NumPy and scipy.sparse, or CuPy's.
    device : kernels.device.Device, optional
        A processor, which does it in compiled code.
    owner : (fine nodes,) int64, optional
        `owners` of the fine nodes.

    Returns
    -------
    CSR matrix, (fine nodes, coarse nodes)
        Without stored zeros. The restriction is its transpose.
    """
    if sparse is None:
        import scipy.sparse as sparse
    rows, columns = len(fine.points), len(coarse.points)
    table = xp.asarray(weights(fine.degree, fine.points.shape[1]))
    children, local, _ = table.shape
    owner = owners(fine.nodes, rows, xp) if owner is None else owner
    if device is not None:
        return sparse.csr_matrix(_compiled(device, coarse, fine, table, owner), shape=(rows, columns))
    child = owner // local
    functions = coarse.nodes[child // children]
    entries = table[child % children, owner % local]
    keep = (xp.abs(entries) > LEAST) & ~fine.boundary[:, None] & ~coarse.boundary[functions]
    offsets = xp.zeros(rows + 1, dtype=np.int32)
    offsets[1:] = xp.cumsum(keep.sum(axis=1))
    matrix = sparse.csr_matrix((entries[keep], functions[keep], offsets), shape=(rows, columns))
    matrix.sort_indices()
    return matrix


def _compiled(device, coarse, fine, table, owner):
    """Return values, columns and offsets of the prolongation."""
    rows = len(fine.points)
    kernel = device.build(SOURCE, block=1, defines=_defines(fine.degree, fine.points.shape[1])).prolong_rows
    parts, lengths, offsets = parts_of(device, rows), device.empty(rows, np.int32), np.zeros(rows + 1, np.int32)
    given = rows, parts, device.array(owner, np.int32), device.array(fine.boundary, np.uint8)
    given += device.array(coarse.nodes, np.int32), device.array(coarse.boundary, np.uint8), device.array(table)
    kernel(parts, *given, lengths, None, None, None)
    np.cumsum(lengths, out=offsets[1:])
    columns, values = (device.empty(int(offsets[-1]), dtype) for dtype in (np.int32, np.float64))
    kernel(parts, *given, lengths, offsets, columns, values)
    return values, columns, offsets


@dataclass(frozen=True)
class Places:
    """Data that transfer without a matrix needs; see ``direct.c``.

    Attributes
    ----------
    owner : (fine nodes,) int32
        Coarse element times places, plus the place in it; -1 on the boundary.
    nodes : (coarse elements, functions) int32
        Coarse unknowns; -1 on the boundary.
    table : (places, functions) float64
        Coarse basis functions at the places.
    """

    owner: Any
    nodes: Any
    table: Any

    def renumbered(self, order, coarse_rank, xp=np) -> Places:
        """Return the same for fine nodes in another order and coarse nodes of other numbers."""
        nodes = xp.where(self.nodes < 0, -1, coarse_rank[xp.maximum(self.nodes, 0)]).astype(np.int32)
        return Places(self.owner[order], nodes, self.table)


def places(coarse, fine, xp=np, owner=None) -> Places:
    """Return what transfer between two spaces needs when it is no matrix; see `prolongation`."""
    table = weights(fine.degree, fine.points.shape[1])
    children, local, functions = table.shape
    owner = owners(fine.nodes, len(fine.points), xp) if owner is None else owner
    owner = owner // local // children * (children * local) + owner // local % children * local + owner % local
    return Places(
        xp.where(fine.boundary, -1, owner).astype(np.int32),
        xp.where(coarse.boundary[coarse.nodes], -1, coarse.nodes).astype(np.int32),
        xp.asarray(table.reshape(-1, functions)),
    )
