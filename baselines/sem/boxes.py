"""Local solves of remacle2016's preconditioner by dense matrices: what fast diagonalisation must come to."""

from __future__ import annotations

import numpy as np

from baselines.sem.sums import Sums

# Edges of a hexahedron in meshio's order, along ξ, η and ζ.
EDGES = (((0, 1), (3, 2), (4, 5), (7, 6)), ((0, 3), (1, 2), (4, 7), (5, 6)), ((0, 4), (1, 5), (2, 6), (3, 7)))


def pencil(order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return stiffness and mass, both (n + 3, n + 3), of a pencil of length 2 and one node of each of its neighbours.

    Three elements in a row are assembled, and the rows and columns of the other nodes left out. For order 1 there are
    five, as the neighbours' nodes have neighbours of their own.
    """
    sums = Sums(np.zeros((0, 3)), np.zeros((0, 8), int), order)
    count, q = (5, order + 1) if order == 1 else (3, order + 1)
    stiffness, mass = np.zeros((2, count * order + 1, count * order + 1))
    own = sums.derivative.T @ np.diag(sums.weights) @ sums.derivative
    for first in range(0, count * order, order):
        some = slice(first, first + q)
        stiffness[some, some] += own
        mass[some, some] += np.diag(sums.weights)
    middle = count // 2 * order
    kept = slice(middle - 1, middle + order + 2)
    return stiffness[kept, kept], mass[kept, kept]


def solve(corners, order: int, r, kappa: float = 1.0, mass: float = 0.0):
    """Return what solves a subdomain's problem on the box of the element's mean edges.

    Parameters
    ----------
    corners : (8, 3) float64
        Of the element, in meshio's order.
    order : int
    r : ((n + 3)³,) float64
        The first axis fastest.
    kappa, mass : float
        κ and c.
    """
    h = [np.mean([np.linalg.norm(corners[a] - corners[b]) for a, b in edges]) for edges in EDGES]
    stiff, weight = pencil(order)
    along = [(2 / length * stiff, length / 2 * weight) for length in h]
    (kx, mx), (ky, my), (kz, mz) = along
    # The last factor of a Kronecker product is the fastest axis.
    matrix = kappa * (
        np.kron(mz, np.kron(my, kx)) + np.kron(mz, np.kron(ky, mx)) + np.kron(kz, np.kron(my, mx))
    ) + mass * np.kron(mz, np.kron(my, mx))  # fmt: skip
    return np.linalg.solve(matrix, r)
