"""Red refinement: each tetrahedron into eight by the midpoints of its edges."""

from __future__ import annotations

import numpy as np

from datasets.topology import EDGES

# Local numbers: corners 0-3, then the midpoints of EDGES: 01 is 4, 02 is 5, 03 is 6, 12 is 7, 13 is 8, 23 is 9.
CORNERS = ((0, 4, 5, 6), (4, 1, 7, 8), (5, 7, 2, 9), (6, 8, 9, 3))
# The octahedron in the middle, cut in four about each of its three diagonals.
OCTAHEDRON = {
    (4, 9): ((4, 9, 5, 6), (4, 9, 6, 8), (4, 9, 8, 7), (4, 9, 7, 5)),
    (5, 8): ((5, 8, 4, 6), (5, 8, 6, 9), (5, 8, 9, 7), (5, 8, 7, 4)),
    (6, 7): ((6, 7, 4, 5), (6, 7, 5, 9), (6, 7, 9, 8), (6, 7, 8, 4)),
}


def red(points: np.ndarray, cells: np.ndarray, diagonal: str = "first"):
    """Refine a conforming mesh; the result conforms, as every edge is halved.

    Parameters
    ----------
    points : ndarray, shape (n, 3)
    cells : ndarray of int, shape (m, 4)
    diagonal : {'first', 'shortest'}
        Where the inner octahedron is cut: always between the midpoints of edges 01 and 23, so that the order of each
        element's nodes decides the family of shapes, or along its shortest diagonal, which keeps quality.

    Returns
    -------
    points : ndarray, shape (n + edges, 3)
        The old points, then the midpoints.
    cells : ndarray of int32, shape (8 m, 4)
        The children of element e are elements 8 e to 8 e + 7. Orientation is mixed.
    """
    count = len(points)
    keys = np.empty((len(cells), 6), dtype=np.int64)
    for column, (i, j) in enumerate(EDGES):
        a, b = cells[:, i].astype(np.int64), cells[:, j]
        keys[:, column] = np.minimum(a, b) * count + np.maximum(a, b)
    edges, number = np.unique(keys.ravel(), return_inverse=True)
    if count + len(edges) > np.iinfo(np.int32).max:
        raise ValueError(f"{count + len(edges)} nodes are too many for 32-bit node numbers")
    points = np.concatenate((points, 0.5 * (points[edges // count] + points[edges % count])))
    local = np.concatenate((cells, count + number.reshape(-1, 6)), axis=1).astype(np.int32)

    children = np.empty((len(cells), 8, 4), dtype=np.int32)
    children[:, :4] = local[:, np.array(CORNERS)]
    if diagonal == "first":
        children[:, 4:] = local[:, np.array(OCTAHEDRON[4, 9])]
    elif diagonal == "shortest":
        squares = [((points[local[:, i]] - points[local[:, j]]) ** 2).sum(axis=1) for i, j in OCTAHEDRON]
        shortest = np.argmin(squares, axis=0)
        for choice, four in enumerate(OCTAHEDRON.values()):
            chosen = shortest == choice
            children[chosen, 4:] = local[chosen][:, np.array(four)]
    else:
        raise ValueError(f"diagonal {diagonal!r} is neither 'first' nor 'shortest'")
    return points, children.reshape(-1, 4)
