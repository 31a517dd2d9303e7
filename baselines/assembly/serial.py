"""fu2014's algorithm 3.1, compiled by Numba: one loop over elements, a binary search for every entry, one thread.

On several threads it is the same loop with the same searches, over the elements of each of the threads' `ranges`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numba import njit, prange

from baselines.assembly import ranges
from baselines.multigrid.loops import threads_there, use_threads

LIBRARIES = ("numba",)


def prepare(problem, threads: int | None = 1):
    """Prepare the empty full CSR matrix; return a function that assembles, and one that returns (matrix, rhs).

    Parameters
    ----------
    problem : object
        With `points`, `cells`, `conductivity`, `mass` and `source` as in kernels.assembly.problem.Problem.
    threads : int, optional
        One, as in the paper; None for as many as Numba has.
    """
    threads = threads or threads_there()
    nodes = problem.points.shape[0]
    cells = np.ascontiguousarray(problem.cells)
    row_offsets, column_indices = pattern(cells, nodes)
    values, rhs = np.zeros(column_indices.size), np.zeros(nodes)
    conductivity = np.ones(0) if problem.conductivity is None else problem.conductivity
    source = np.ones(nodes) if problem.source is None else problem.source

    system = problem.points, cells, conductivity, problem.mass, source, row_offsets, column_indices, values, rhs
    parts = ranges.cut(cells, nodes, threads) if threads > 1 else ()

    def launch():
        if threads == 1:
            _assemble(*system)
            return
        with use_threads(threads):
            _assemble_parts(*parts, *system)

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
        factors = _factors(e, points, cells, conductivity, mass, source, edge, gradient)
        for k in range(4):
            _add_row(e, k, factors, gradient, cells, source, row_offsets, column_indices, values, rhs)


@njit(cache=True, parallel=True)
def _assemble_parts(bounds, starts, elements, points, cells, conductivity, mass, source, row_offsets, column_indices,
                    values, rhs):  # fmt: skip
    for part in prange(bounds.size - 1):
        first, end = bounds[part], bounds[part + 1]
        values[row_offsets[first] : row_offsets[end]] = 0.0
        rhs[first:end] = 0.0
        edge, gradient = np.empty((3, 3)), np.empty((4, 3))
        for at in range(starts[part], starts[part + 1]):
            e = elements[at]
            factors = _factors(e, points, cells, conductivity, mass, source, edge, gradient)
            for k in range(4):
                if first <= cells[e, k] < end:
                    _add_row(e, k, factors, gradient, cells, source, row_offsets, column_indices, values, rhs)


@njit(inline="always")
def _factors(e, points, cells, conductivity, mass, source, edge, gradient):
    """Set the gradients of an element's functions times six volumes; return the factors of what it adds."""
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
    total = source[a] + source[b] + source[c] + source[d]
    return sigma / (6.0 * volume6), mass * volume6 / 120.0, volume6 / 120.0, total


@njit(inline="always")
def _add_row(e, k, factors, gradient, cells, source, row_offsets, column_indices, values, rhs):
    """Add an element's part to the row of its node k, each entry at the place that a search finds."""
    stiffness, lumped, load, total = factors
    i = cells[e, k]
    rhs[i] += load * (total + source[i])
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
