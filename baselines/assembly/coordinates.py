"""Assembly as a sum over coordinate triples: all element matrices as arrays, COO to CSR with duplicates summed.

The way of SciPy's and CuPy's users; NumPy or CuPy by the array namespace. Written apart from the kernels (gradients by
inverting Jacobians), it is also the reference that they are checked against.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import scipy.sparse

HOST = (np, scipy.sparse)


def element_arrays(problem, xp=np):
    """Return element matrices (elements, 4, 4) and load vectors (elements, 4) of a problem as arrays of `xp`."""
    points, cells = xp.asarray(problem.points), xp.asarray(problem.cells)
    corner = points[cells]
    jacobian = corner[:, 1:] - corner[:, :1]  # rows are edges from node 0
    volume = xp.abs(_determinant(jacobian, xp)) / 6
    inverse = _inverse(jacobian, xp)
    gradients = xp.concatenate([-inverse.sum(axis=2)[:, None, :], inverse.transpose(0, 2, 1)], axis=1)
    weight = volume if problem.conductivity is None else volume * xp.asarray(problem.conductivity)
    stiffness = weight[:, None, None] * (gradients @ gradients.transpose(0, 2, 1))
    mass = (1 + xp.eye(4)) / 20
    matrices = stiffness + problem.mass * volume[:, None, None] * mass
    source = xp.ones(points.shape[0]) if problem.source is None else xp.asarray(problem.source)
    return matrices, volume[:, None] * (source[cells] @ mass)


def _determinant(a, xp):
    return (a[:, 0] * xp.cross(a[:, 1], a[:, 2])).sum(axis=1)


def _inverse(a, xp):
    """Inverse of 3 × 3 matrices by their adjugates, columns from cross products of the rows."""
    columns = [xp.cross(a[:, (k + 1) % 3], a[:, (k + 2) % 3]) for k in range(3)]
    return xp.stack(columns, axis=2) / _determinant(a, xp)[:, None, None]


def placed(problem, xp=np):
    """Return the problem with its arrays in `xp`, so that `assemble` copies nothing."""
    arrays = {name: getattr(problem, name) for name in ("points", "cells", "conductivity", "source")}
    return dataclasses.replace(
        problem, **{name: None if array is None else xp.asarray(array) for name, array in arrays.items()}
    )


def assemble(problem, xp=np, sparse=scipy.sparse):
    """Return the full CSR matrix and the right-hand side, in the mesh's numbering, as arrays of `xp`.

    Parameters
    ----------
    problem : object
        With `points`, `cells`, `conductivity`, `mass` and `source` as in kernels.assembly.problem.Problem.
    xp, sparse : modules
        NumPy and scipy.sparse, or CuPy and cupyx.scipy.sparse.
    """
    cells = xp.asarray(problem.cells)
    nodes = problem.points.shape[0]
    matrices, loads = element_arrays(problem, xp)
    rows = xp.repeat(cells, 4, axis=1).ravel()
    columns = xp.tile(cells, (1, 4)).ravel()
    matrix = sparse.coo_matrix((matrices.ravel(), (rows, columns)), shape=(nodes, nodes)).tocsr()
    matrix.sum_duplicates()
    return matrix, xp.bincount(cells.ravel(), weights=loads.ravel(), minlength=nodes)
