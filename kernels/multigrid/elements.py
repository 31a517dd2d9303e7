"""Lagrange elements Qk on quadrilaterals and hexahedra: products of polynomials on [0, 1], and Gauss points.

Local unknowns and points are in lexicographic order, the first axis fastest.
"""

from __future__ import annotations

from itertools import product

import numpy as np


def line(degree: int, t) -> np.ndarray:
    """Return the values of the degree + 1 Lagrange polynomials on equidistant nodes of [0, 1].

    Parameters
    ----------
    t : (p,) array

    Returns
    -------
    (p, degree + 1) array
    """
    return np.stack([piece(np.asarray(t, float)) for piece in _polynomials(degree)], axis=1)


def slope(degree: int, t) -> np.ndarray:
    """Return the derivatives of those polynomials, likewise."""
    return np.stack([piece.deriv()(np.asarray(t, float)) for piece in _polynomials(degree)], axis=1)


def values(degree: int, points: np.ndarray) -> np.ndarray:
    """Return the basis functions of Qk at (p, d) points of [0, 1]^d, as (p, (degree + 1)^d)."""
    return _tensor([line(degree, t) for t in points.T])


def gradients(degree: int, points: np.ndarray) -> np.ndarray:
    """Return their gradients, (p, (degree + 1)^d, d)."""
    axes = range(points.shape[1])
    columns = [[(slope if axis == along else line)(degree, points[:, axis]) for axis in axes] for along in axes]
    return np.stack([_tensor(tables) for tables in columns], axis=-1)


def gauss(count: int, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points (p, d) and weights (p,) of Gauss's rule with `count` points an axis of [0, 1]^d."""
    t, w = np.polynomial.legendre.leggauss(count)
    t, w = (t + 1) / 2, w / 2
    points = np.array([place[::-1] for place in product(t, repeat=dimension)])
    return points, np.array([np.prod(place) for place in product(w, repeat=dimension)])


def _polynomials(degree):
    nodes = np.linspace(0, 1, degree + 1)
    found = []
    for i, node in enumerate(nodes):
        others = np.delete(nodes, i)
        found.append(np.polynomial.Polynomial.fromroots(others) / np.prod(node - others))
    return found


def _tensor(tables):
    """Return products over the axes, the first axis fastest."""
    total = tables[0]
    for table in tables[1:]:
        total = (table[:, :, None] * total[:, None, :]).reshape(len(total), -1)
    return total
