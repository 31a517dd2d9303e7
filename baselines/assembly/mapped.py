"""Assembly by a loop that knows the place of every entry beforehand, compiled by Numba: on one thread, or on all.

The choice of a user who assembles a matrix of the same pattern many times: algorithm 3.1 without its searches. Threads
have the rows of their own `ranges`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse
from numba import njit, prange

from baselines.assembly import ranges
from baselines.assembly.serial import pattern
from baselines.multigrid.loops import threads_there, use_threads

LIBRARIES = ("numba",)


def prepare(problem, threads: int | None = None):
    """Prepare pattern, places and ranges; return a function that assembles, and one that returns (matrix, rhs).

    Parameters
    ----------
    problem : object
        With `points`, `cells`, `conductivity`, `mass` and `source` as in kernels.assembly.problem.Problem.
    threads : int, optional
        By default as many as Numba has.
    """
    nodes = problem.points.shape[0]
    cells = np.ascontiguousarray(problem.cells)
    row_offsets, column_indices = pattern(cells, nodes)
    threads = threads or threads_there()
    places = np.empty((len(cells), 4, 4), dtype=np.int32)
    _find_places(cells, row_offsets, column_indices, places)
    bounds, starts, elements = ranges.cut(cells, nodes, threads)
    values, rhs = np.zeros(column_indices.size), np.zeros(nodes)
    conductivity = np.ones(0) if problem.conductivity is None else problem.conductivity
    source = np.ones(nodes) if problem.source is None else problem.source

    def launch():
        with use_threads(threads):
            _assemble(problem.points, cells, conductivity, problem.mass, source, places, row_offsets, bounds, starts,
                     elements, values, rhs)  # fmt: skip

    def result():
        return scipy.sparse.csr_array((values, column_indices, row_offsets), shape=(nodes, nodes)), rhs

    return launch, result


@njit(cache=True)
def _find_places(cells, row_offsets, column_indices, places):
    for e in range(cells.shape[0]):
        for k in range(4):
            i = cells[e, k]
            row = column_indices[row_offsets[i] : row_offsets[i + 1]]
            for m in range(4):
                places[e, k, m] = row_offsets[i] + np.searchsorted(row, cells[e, m])


@njit(cache=True, parallel=True)
def _assemble(points, cells, conductivity, mass, source, places, row_offsets, bounds, starts, elements, values, rhs):
    for part in prange(bounds.size - 1):
        low, high = bounds[part], bounds[part + 1]
        values[row_offsets[low] : row_offsets[high]] = 0.0
        rhs[low:high] = 0.0
        gradient = np.empty((4, 3))
        for at in range(starts[part], starts[part + 1]):
            e = elements[at]
            volume6 = _gradients(points, cells, e, gradient)
            sigma = conductivity[e] if conductivity.size else 1.0
            stiffness, lumped = sigma / (6.0 * volume6), mass * volume6 / 120.0
            total = source[cells[e, 0]] + source[cells[e, 1]] + source[cells[e, 2]] + source[cells[e, 3]]
            for k in range(4):
                i = cells[e, k]
                if low <= i < high:
                    rhs[i] += volume6 / 120.0 * (total + source[i])
                    for m in range(4):
                        values[places[e, k, m]] += stiffness * (
                            gradient[k, 0] * gradient[m, 0]
                            + gradient[k, 1] * gradient[m, 1]
                            + gradient[k, 2] * gradient[m, 2]
                        ) + lumped * (2.0 if k == m else 1.0)


@njit(inline="always")
def _gradients(points, cells, e, gradient):
    """Set six volumes times the gradients of an element's functions, and return six volumes."""
    a, b, c, d = cells[e, 0], cells[e, 1], cells[e, 2], cells[e, 3]
    ux, uy, uz = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    vx, vy, vz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    wx, wy, wz = points[d, 0] - points[a, 0], points[d, 1] - points[a, 1], points[d, 2] - points[a, 2]
    gradient[1, 0], gradient[1, 1], gradient[1, 2] = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx
    gradient[2, 0], gradient[2, 1], gradient[2, 2] = wy * uz - wz * uy, wz * ux - wx * uz, wx * uy - wy * ux
    gradient[3, 0], gradient[3, 1], gradient[3, 2] = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    for axis in range(3):
        gradient[0, axis] = -gradient[1, axis] - gradient[2, axis] - gradient[3, axis]
    return ux * gradient[1, 0] + uy * gradient[1, 1] + uz * gradient[1, 2]
