"""The spectral operator as an assembled matrix, and that of low-order elements on the same nodes.

The matrix of trilinear elements between neighbouring GLL nodes is spectrally near the operator's own and has far fewer
entries (Orszag 1980; Deville and Mund 1985): what libraries' multigrid makes a preconditioner of.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.sem.sums import CORNERS, Sums

CHUNK = 1 << 22  # entries of the element matrices that are made at once


def matrix(points, cells, order: int, table, free):
    """Return the stiffness matrix of the nodes that are free: (nodes, nodes) CSR, float64.

    Parameters
    ----------
    points : (vertices, 3) float64
    cells : (elements, 8) int
        Trilinear hexahedra in meshio's order.
    order : int
    table : (elements, (n + 1)³) int
        Global number of every local node.
    free : (global nodes,) bool
    """
    sums, q3 = Sums(points, cells, order), (order + 1) ** 3
    one, d = np.eye(order + 1), sums.derivative
    factors = ((one, one, d), (one, d, one), (d, one, one))
    slopes = [np.einsum("kc,jb,ia->kjicba", *axes).reshape(q3, q3) for axes in factors]
    weights = np.einsum("k,j,i->kji", *[sums.weights] * 3).ravel()
    number = np.where(free, np.cumsum(free) - 1, -1)
    count, found = int(free.sum()), 0
    step = max(1, CHUNK // q3**2)
    for begin in range(0, len(cells), step):
        some = slice(begin, begin + step)
        jacobian = sums.jacobians(cells[some]).reshape(-1, q3, 3, 3)
        inverse, volume = np.linalg.inv(jacobian), weights * np.linalg.det(jacobian)
        metric = np.einsum("enrx,ensx,en->ensr", inverse, inverse, volume)
        local = sum(slopes[r].T @ sum(metric[:, :, s, r, None] * slopes[s] for s in range(3)) for r in range(3))
        own = number[table[some]]
        row, column = np.repeat(own, q3, axis=1).ravel(), np.tile(own, (1, q3)).ravel()
        kept = (row >= 0) & (column >= 0) & (local.ravel() != 0)
        entries = (local.ravel()[kept], (row[kept], column[kept]))
        found = found + scipy.sparse.coo_matrix(entries, shape=(count, count)).tocsr()
    return found


def low_order(points, cells, order: int, table, free):
    """Return the matrix of trilinear elements between neighbouring GLL nodes, on the same unknowns."""
    sums, q = Sums(points, cells, order), order + 1
    half = (1 + np.outer([-1, 1], sums.t)) / 2
    shape = np.stack([np.einsum("i,j,k->kji", half[c[0]], half[c[1]], half[c[2]]) for c in CORNERS])
    at = np.empty((len(free), 3))
    at[table.ravel()] = np.einsum("evx,vkji->ekjix", sums.points[cells], shape).reshape(-1, 3)
    local = np.arange(q**3).reshape(q, q, q)
    corners = [local[c[2] : order + c[2], c[1] : order + c[1], c[0] : order + c[0]].ravel() for c in CORNERS]
    small = table[:, np.stack(corners, axis=1)].reshape(-1, 8)
    tensor = small[:, [0, 1, 3, 2, 4, 5, 7, 6]]  # a table at n = 1 has x fastest
    return matrix(at, small, 1, tensor, free)
