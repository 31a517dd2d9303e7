"""The solver's input for each level: matrix, right-hand side and transfer, in any numbering."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernels.amg import primitives
from kernels.amg.arrays import Csr
from kernels.multigrid import assembly, transfer


@dataclass(frozen=True)
class Grid:
    """One level's linear algebra, in the set-up arrays of a device.

    Attributes
    ----------
    matrix : CSR matrix, (n, n)
        Rows of boundary nodes are unit rows.
    prolongator : CSR matrix, (n, n of the level below), or None on the coarsest
        Rows and columns of boundary nodes are empty. The restriction is its transpose.
    rhs, start : (n,) float64
        Of the problem on this level; only the finest level's are used.
    direct : kernels.multigrid.direct.Places, or None
        Data that transfer without a matrix needs.
    """

    matrix: Any
    prolongator: Any
    rhs: Any
    start: Any
    direct: Any = field(default=None, repr=False)


def grids(spaces, source=0.0, dirichlet=None, xp=np, sparse=None, with_direct: bool = False, device=None) -> list[Grid]:
    """Assemble -Δu = source on every level of a hierarchy.

    Parameters
    ----------
    spaces : sequence of spaces
        The coarsest first, each the refinement of the one before; see `assembly.poisson`.
    source, dirichlet : see `assembly.poisson`
    xp, sparse : modules, optional
        NumPy and scipy.sparse, or CuPy's.
    with_direct : bool, optional
        Keep what transfer without matrices needs.
    device : see `assembly.poisson`
    """
    made = []
    for level, space in enumerate(spaces):
        system = assembly.poisson(space, source, dirichlet, xp, sparse, device)
        prolongator = places = None
        if level:
            below, owner = spaces[level - 1], transfer.owners(space.nodes, len(space.points), xp)
            prolongator = transfer.prolongation(below, space, xp, sparse, device, owner)
            places = transfer.places(below, space, xp, owner) if with_direct else None
        made.append(Grid(system.matrix, prolongator, system.rhs, system.start, places))
    return made


def renumbered(levels: list[Grid], orders, xp=np, device=None) -> list[Grid]:
    """Return the same levels in other numberings.

    Parameters
    ----------
    orders : sequence of (n,) int32 arrays
        For each level, the old number of each new one. Levels that keep their numbers are returned as they are.
    device : kernels.device.Device, optional
        A processor, which permutes matrices in compiled code.
    """
    numbers = [xp.arange(len(order), dtype=order.dtype) for order in orders]
    if all(bool((order == each).all()) for order, each in zip(orders, numbers, strict=True)):
        return list(levels)
    made, below = [], None
    for grid, order, each in zip(levels, orders, numbers, strict=True):
        rank = xp.empty_like(order)
        rank[order] = each
        prolongator = None if grid.prolongator is None else _permuted(grid.prolongator, order, below, device)
        places = None if grid.direct is None else grid.direct.renumbered(order, below, xp)
        matrix = _permuted(grid.matrix, order, rank, device)
        made.append(Grid(matrix, prolongator, grid.rhs[order], grid.start[order], places))
        below = rank
    return made


def _permuted(matrix, order, rank, device):
    """Return the rows in a new order, columns by their new numbers, sorted."""
    parts = matrix.indptr, matrix.indices, matrix.data
    if device is not None and matrix.indptr.dtype == np.int32:
        found = primitives.rearranged(device, Csr(matrix.shape, *map(device.array, parts)), order, rank)
        return type(matrix)((found.values, found.columns, found.offsets), shape=matrix.shape)
    picked = matrix[order]
    made = type(picked)((picked.data, rank[picked.indices], picked.indptr), shape=picked.shape)
    made.sort_indices()
    return made
