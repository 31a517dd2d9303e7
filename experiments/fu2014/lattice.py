"""Matrices of the series of regular meshes, without the meshes: the one of 17 million nodes has 100 million elements.

All nodes lie on a lattice, where the midpoint of an edge has the mean of its ends' numbers, and all elements are of few
shapes. So the elements are refined by arithmetic, a part of them at a time, and their matrices summed up where they
belong: a field for each distance of two nodes.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.assembly import coordinates
from datasets import refinement, structured
from kernels.assembly.problem import Problem

CUBES, SIZE = 8, 4.0  # of the coarsest mesh, and its edge (section 6)
ELEMENTS = 1 << 22  # refined at a time
CHILDREN = refinement.CORNERS + refinement.OCTAHEDRON[4, 9]


def series_matrix(nodes: int, xp=np, sparse=scipy.sparse):
    """Return the Helmholtz matrix of the regular mesh with `nodes` nodes along an edge, λ = 1, nodes numbered x, y, z.

    Parameters
    ----------
    nodes : int
        8 · 2ᵏ + 1.
    xp, sparse : modules
        NumPy and scipy.sparse, or CuPy and cupyx.scipy.sparse.

    Returns
    -------
    sparse CSR matrix, (nodes³, nodes³) float64, columns sorted
    """
    times = ((nodes - 1) // CUBES).bit_length() - 1
    if nodes != CUBES * 2**times + 1:
        raise ValueError(f"{nodes} nodes along an edge are not those of {CUBES} cubes, refined")
    if 2 * nodes**3 > np.iinfo(np.int32).max:
        raise ValueError(f"{nodes} nodes along an edge are too many for 32-bit sums of two numbers")
    _, cells = structured.prisms(CUBES)
    places = np.stack(np.unravel_index(cells, (CUBES + 1,) * 3)) * 2**times
    coarse = np.ravel_multi_index(tuple(places), (nodes,) * 3).astype(np.int32)
    fields: dict[int, object] = {}
    for part in np.array_split(coarse, max(1, len(coarse) * 8**times // ELEMENTS)):
        _add(fields, refined(xp.asarray(part), times, xp), nodes, xp)
    return _compressed(fields, nodes**3, xp, sparse)


def refined(cells, times: int, xp=np):
    """Return the descendants of elements, whose nodes are numbers of a lattice that has all midpoints."""
    for _ in range(times):
        a, b, c, d = (cells[:, corner] for corner in range(4))
        nodes = (a, b, c, d, (a + b) // 2, (a + c) // 2, (a + d) // 2, (b + c) // 2, (b + d) // 2, (c + d) // 2)
        children = [xp.stack([nodes[i] for i in child], axis=1) for child in CHILDREN]
        cells = xp.stack(children, axis=1).reshape(-1, 4)
    return cells


def _add(fields, cells, nodes, xp):
    """Add the matrices of elements to the fields of their distances."""
    steps = cells[:, 1:] - cells[:, :1]
    width = 4 * nodes**2 + 1  # distances are less than two layers
    keys = (steps[:, 0].astype(xp.int64) * width + steps[:, 1]) * width + steps[:, 2]
    _, first, which = xp.unique(keys, return_index=True, return_inverse=True)
    ones = cells[first].get() if hasattr(cells, "get") else cells[first]
    matrices = _matrices(ones, nodes)
    for shape, one in enumerate(ones):
        chosen = cells[which == shape]
        for i in range(4):
            rows = xp.ascontiguousarray(chosen[:, i])
            for j in range(4):
                distance = int(one[j] - one[i])
                if distance not in fields:
                    fields[distance] = xp.zeros(nodes**3)
                xp.add.at(fields[distance], rows, float(matrices[shape, i, j]))


def _matrices(cells, nodes):
    """Return the element matrices of one element of each shape."""
    points = np.stack(np.unravel_index(cells.ravel(), (nodes,) * 3), axis=1) * (SIZE / (nodes - 1))
    problem = Problem(points, np.arange(cells.size, dtype=np.int32).reshape(-1, 4), mass=1.0)
    return coordinates.element_arrays(problem)[0]


def _compressed(fields, count, xp, sparse):
    """Return the CSR matrix whose diagonals the fields are; zeros, of nodes that no element joins, are left out."""
    distances = sorted(fields)
    lengths = sum((fields[distance] != 0).astype(xp.int32) for distance in distances)
    offsets = xp.zeros(count + 1, dtype=xp.int32)
    xp.cumsum(lengths, out=offsets[1:])
    entries = int(offsets[-1])
    columns, values = xp.empty(entries, dtype=xp.int32), xp.empty(entries)
    place = offsets[:-1].copy()
    for distance in distances:
        field = fields.pop(distance)
        rows = xp.flatnonzero(field)
        columns[place[rows]] = rows + distance
        values[place[rows]] = field[rows]
        place[rows] += 1
    return sparse.csr_matrix((values, columns, offsets), shape=(count, count))
