"""The problem that every assembler solves, what it must move at least, and what an assembler gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from repro import Work

# Multiplications and additions of tetrahedron.h and the right-hand side, and the additions of 16 + 4 entries.
FLOPS_PER_ELEMENT = 144


@dataclass(frozen=True)
class Problem:
    """Find A and b with A_ij = (∇φ_i, σ ∇φ_j) + λ (φ_i, φ_j) and b_i = (φ_i, f), on P1 tetrahedra (fu2014, equation 3).

    Attributes
    ----------
    points : (nodes, 3) float64 array
    cells : (elements, 4) int32 array
        None of them flat: nothing checks that, and the rows of its nodes become NaN.
    conductivity : (elements,) float64 array or None
        σ of each element; None is 1 everywhere.
    mass : float
        λ.
    source : (nodes,) float64 array or None
        Nodal values of f, interpolated linearly; None is 1 everywhere.
    """

    points: np.ndarray
    cells: np.ndarray
    conductivity: np.ndarray | None = None
    mass: float = 1.0
    source: np.ndarray | None = None

    @property
    def nodes(self) -> int:
        return self.points.shape[0]

    @property
    def elements(self) -> int:
        return self.cells.shape[0]

    def source_values(self) -> np.ndarray:
        return np.ones(self.nodes) if self.source is None else self.source

    def least_work(self, nonzeros: int) -> Work:
        """Cells, points, and f and σ where given, read once; `nonzeros` values and the right-hand side written once."""
        given = sum(8 * array.size for array in (self.conductivity, self.source) if array is not None)
        moved = 16 * self.elements + 24 * self.nodes + given + 8 * nonzeros + 8 * self.nodes
        return Work(bytes=moved, flops=FLOPS_PER_ELEMENT * self.elements)


@dataclass(frozen=True)
class Assembler:
    """A prepared assembly: everything that depends on the mesh's topology alone is done.

    Attributes
    ----------
    launch : callable
        Assembles: enqueues everything from the coordinates to the finished values and right-hand side.
    result : callable
        Returns the last assembly as (full CSR matrix, right-hand side) in the mesh's numbering, on the host.
    nonzeros : int
        Values that it stores: all of the matrix, or its upper half.
    facts : dict
        Sizes worth a row: patches, redundancy, bytes of the plan.
    """

    launch: Callable[[], Any]
    result: Callable[[], tuple[scipy.sparse.csr_array, np.ndarray]]
    nonzeros: int
    facts: dict[str, float]


def pool_values(needed) -> int:
    """Return the values of shared memory to ask for, in steps of 2 KiB: meshes then share built kernels."""
    return -(-int(needed) // 256) * 256


def fitted(plan_of: Callable[[int], tuple], size: int, shrinks: bool, shared_bytes: int) -> tuple:
    """Return the plan for patches of `size` nodes, or of fewer until a block's shared memory holds the largest.

    Parameters
    ----------
    plan_of : callable
        From nodes a patch to a tuple that ends with the values of shared memory a block needs.
    size : int
    shrinks : bool
        Whether fewer nodes are tried: not where the caller has asked for that size.
    shared_bytes : int
        Bytes that a block may use.
    """
    plan = plan_of(size)
    while shrinks and size > 1 and 8 * plan[-1] > shared_bytes:
        size = 3 * size // 4
        plan = plan_of(size)
    return plan


def to_mesh_numbering(values, column_indices, row_offsets, rhs, order, is_upper=False):
    """Bring a renumbered matrix and right-hand side back to the mesh's own numbering.

    Parameters
    ----------
    values, column_indices, row_offsets, rhs : NumPy arrays
    order : (nodes,) int array or None
        Mesh index of each new node; None when nothing was renumbered.
    is_upper : bool
        Whether only entries with column ≥ row are stored.
    """
    nodes = row_offsets.size - 1
    rows = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(row_offsets))
    if is_upper:
        strict = column_indices > rows
        rows, column_indices, values = (
            np.concatenate([values_of, mirrored[strict]])
            for values_of, mirrored in ((rows, column_indices), (column_indices, rows), (values, values))
        )
    if order is not None:
        rows, column_indices = order[rows], order[column_indices]
        rhs, renumbered = np.empty_like(rhs), rhs
        rhs[order] = renumbered
    # By way of triples, since sums and products of SciPy's matrices may drop entries that are zero.
    matrix = scipy.sparse.coo_array((values, (rows, column_indices)), shape=(nodes, nodes)).tocsr()
    matrix.sort_indices()
    return matrix, rhs
