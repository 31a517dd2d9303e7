"""The spectral operator as an assembled matrix, and the matrix of low-order elements on the same nodes.

The matrix of trilinear elements between neighbouring GLL nodes is spectrally near the operator's own and has far fewer
entries (Orszag 1980; Deville and Mund 1985): what libraries' multigrid makes a preconditioner of.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.sem.sums import CORNERS, PAIRS, Sums

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
    pattern, coefficients = _entries(sums, q3)
    number = np.where(free, np.cumsum(free) - 1, -1).astype(np.int32)
    count, parts = int(free.sum()), []
    step = max(1, CHUNK // len(pattern))
    for begin in range(0, len(cells), step):
        some = slice(begin, begin + step)
        metric, _ = sums.metric(cells[some])
        local = coefficients @ np.concatenate([metric[r][s] for r, s in PAIRS])
        own = number[table[some]].T
        row, column = (np.take(own, places, axis=0) for places in np.divmod(pattern, q3))
        kept = (row >= 0) & (column >= 0)
        entries = (local[kept], (row[kept], column[kept]))
        parts.append(scipy.sparse.coo_matrix(entries, shape=(count, count)).tocsr())
    while len(parts) > 1:  # two and two, so that few of the entries are added to many times
        parts = [sum(parts[k + 1 : k + 2], parts[k]) for k in range(0, len(parts), 2)]
    return parts[0]


def _entries(sums, q3: int):
    """Return which entries an element's matrix has, row · (n + 1)³ + column, and what of the metric each one takes.

    The metric's components follow one another in the order of `PAIRS`, each at all nodes.
    """
    at, along, q = np.arange(q3)[:, None], np.arange(sums.order + 1), sums.order + 1
    own = [at // q**r % q for r in range(3)]
    columns = [at + q**r * (along - own[r]) for r in range(3)]  # of the slope along an axis at each node
    slopes = [sums.derivative[own[r][:, 0]] for r in range(3)]
    found = []
    for component, (r, s) in enumerate(PAIRS):
        values = slopes[r][:, :, None] * slopes[s][:, None]
        source = np.broadcast_to(component * q3 + at[:, None], values.shape)
        one, other = columns[r][:, :, None], columns[s][:, None]
        for row, column in ((one, other),) if r == s else ((one, other), (other, one)):
            found.append([each.ravel() for each in (row * q3 + column, source, values)])
    place, source, values = (np.concatenate(each) for each in zip(*found, strict=True))
    pattern, place = np.unique(place, return_inverse=True)
    shape = len(pattern), len(PAIRS) * q3
    return pattern, scipy.sparse.csr_array((values, (place, source)), shape=shape)


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
