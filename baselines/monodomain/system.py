"""Data that the processors' codes set up once for a mesh: conduction, volumes, and the matrix's pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse


@dataclass(frozen=True)
class System:
    """A mesh with its fibres and constants.

    Attributes
    ----------
    cells : ndarray of int32, shape (elements, 4)
    stiffness : ndarray of float64, shape (elements, 4, 4)
        V ∇N_i · D ∇N_j.
    volumes : ndarray of float64, shape (elements,)
    nodes : int
    model : object
        With the attributes of `kernels.monodomain.Model`.
    dt : float
    unit : float
        The norm of the residual that a change of the potential by one everywhere makes.
    """

    cells: np.ndarray
    stiffness: np.ndarray
    volumes: np.ndarray
    nodes: int
    model: Any
    dt: float
    unit: float


def system(points, cells, fibres, model, dt: float) -> System:
    """Set up a mesh; arguments as of `kernels.monodomain.Heart`."""
    corners = points[cells]
    jacobians = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    volumes = np.linalg.det(jacobians) / 6
    reference = np.array([[-1.0, -1.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    gradients = reference @ np.linalg.inv(jacobians)
    tensor = model.isotropic * np.eye(3) + model.along * fibres[:, :, None] * fibres[:, None, :]
    stiffness = volumes[:, None, None] * (gradients @ tensor @ np.swapaxes(gradients, 1, 2))
    lumped = np.bincount(cells.ravel(), np.repeat(volumes / 4, 4), len(points))
    unit = float(np.linalg.norm(lumped)) / dt
    return System(np.ascontiguousarray(cells, np.int32), stiffness, volumes, len(points), model, float(dt), unit)


def pattern(cells: np.ndarray, nodes: int):
    """Return row offsets and columns of the matrix, and where the entries of each element's matrix stand in it.

    Returns
    -------
    row_offsets, columns : ndarray of int32
    places : ndarray of int64, shape (elements, 16)
    """
    rows, columns = np.repeat(cells, 4, axis=1).ravel(), np.tile(cells, (1, 4)).ravel()
    matrix = scipy.sparse.coo_array((np.ones(rows.size), (rows, columns)), (nodes, nodes)).tocsr()
    matrix.sort_indices()
    keys = np.repeat(np.arange(nodes, dtype=np.int64), np.diff(matrix.indptr)) * nodes + matrix.indices
    places = np.searchsorted(keys, rows.astype(np.int64) * nodes + columns)
    return matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32), places.reshape(-1, 16)
