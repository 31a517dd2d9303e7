"""fu2014's algorithm 3.1, compiled by Numba: one loop over elements, a binary search for every entry, one thread."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numba import njit

LIBRARIES = ("numba",)


def prepare(problem):
    """Prepare the empty full CSR matrix; return a function that assembles, and one that returns (matrix, rhs).

    Parameters
    ----------
    problem : object
        With `points`, `cells`, `conductivity`, `mass` and `source` as in kernels.assembly.problem.Problem.
    """
    nodes = problem.points.shape[0]
    cells = np.ascontiguousarray(problem.cells)
    row_offsets, column_indices = pattern(cells, nodes)
    values, rhs = np.zeros(column_indices.size), np.zeros(nodes)
    conductivity = np.ones(0) if problem.conductivity is None else problem.conductivity
    source = np.ones(nodes) if problem.source is None else problem.source

    def launch():
        _assemble(problem.points, cells, conductivity, problem.mass, source, row_offsets, column_indices, values, rhs)

    def result():
        return scipy.sparse.csr_array((values, column_indices, row_offsets), shape=(nodes, nodes)), rhs

    return launch, result


def pattern(cells, nodes):
    """CSR pattern by SciPy: node-to-element incidence times its transpose; independent of the kernels' own."""
    rows = cells.ravel()
    elements = np.repeat(np.arange(cells.shape[0]), cells.shape[1])
    incidence = scipy.sparse.csr_array((np.ones(rows.size, dtype=np.int32), (rows, elements)), (nodes, len(cells)))
    graph = (incidence @ incidence.T + scipy.sparse.eye_array(nodes, dtype=np.int32)).tocsr()
    graph.sort_indices()
    return graph.indptr.astype(np.int32), graph.indices.astype(np.int32)


@njit(cache=True)
def _assemble(points, cells, conductivity, mass, source, row_offsets, column_indices, values, rhs):
    values[:] = 0.0
    rhs[:] = 0.0
    # Made once: expressions of whole vectors, as points[b] - points[a], would allocate an array for every element.
    edge, gradient = np.empty((3, 3)), np.empty((4, 3))
    for e in range(cells.shape[0]):
        a, b, c, d = cells[e, 0], cells[e, 1], cells[e, 2], cells[e, 3]
        for axis in range(3):
            edge[0, axis] = points[b, axis] - points[a, axis]
            edge[1, axis] = points[c, axis] - points[a, axis]
            edge[2, axis] = points[d, axis] - points[a, axis]
        for axis in range(3):
            j, k = (axis + 1) % 3, (axis + 2) % 3
            gradient[1, axis] = edge[1, j] * edge[2, k] - edge[1, k] * edge[2, j]
            gradient[2, axis] = edge[2, j] * edge[0, k] - edge[2, k] * edge[0, j]
            gradient[3, axis] = edge[0, j] * edge[1, k] - edge[0, k] * edge[1, j]
            gradient[0, axis] = -gradient[1, axis] - gradient[2, axis] - gradient[3, axis]
        volume6 = edge[0, 0] * gradient[1, 0] + edge[0, 1] * gradient[1, 1] + edge[0, 2] * gradient[1, 2]
        sigma = conductivity[e] if conductivity.size else 1.0
        stiffness = sigma / (6.0 * volume6)
        lumped = mass * volume6 / 120.0
        total = source[a] + source[b] + source[c] + source[d]
        for k in range(4):
            i = cells[e, k]
            rhs[i] += volume6 / 120.0 * (total + source[i])
            for m in range(4):
                j = cells[e, m]
                entry = stiffness * (
                    gradient[k, 0] * gradient[m, 0] + gradient[k, 1] * gradient[m, 1] + gradient[k, 2] * gradient[m, 2]
                ) + lumped * (2.0 if k == m else 1.0)
                low, high = row_offsets[i], row_offsets[i + 1]
                while high - low > 1:
                    middle = (low + high) // 2
                    if column_indices[middle] <= j:
                        low = middle
                    else:
                        high = middle
                values[low] += entry
