"""Reference elements: shape functions and their gradients at the points of a quadrature rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GAUSS = (0.5 - 0.5 / np.sqrt(3), 0.5 + 0.5 / np.sqrt(3))  # on [0, 1], with weights 1/2: exact to degree 3


@dataclass(frozen=True)
class Element:
    """A linear or bi- or trilinear element on its reference simplex or unit cube, its nodes in meshio's order.

    Attributes
    ----------
    name : str
    values : (points, nodes) float64
        Shape functions at the quadrature points.
    gradients : (points, nodes, dimension) float64
        Their derivatives along the reference axes.
    weights : (points,) float64
    """

    name: str
    values: np.ndarray
    gradients: np.ndarray
    weights: np.ndarray

    @property
    def points(self) -> int:
        return self.values.shape[0]

    @property
    def nodes(self) -> int:
        return self.values.shape[1]

    @property
    def dimension(self) -> int:
        return self.gradients.shape[2]


def _simplex(name, dimension):
    """Return the linear element: constant gradients, so one point in the middle is exact."""
    nodes = dimension + 1
    gradients = np.vstack([-np.ones(dimension), np.eye(dimension)])[None]
    volume = 1 / (2 if dimension == 2 else 6)
    return Element(name, np.full((1, nodes), 1 / nodes), gradients, np.array([volume]))


def _cube(name, corners):
    """Return the product of linear functions, integrated by Gauss's rule of two points along each axis."""
    corners = np.array(corners)
    dimension = corners.shape[1]
    places = np.stack(np.meshgrid(*[GAUSS] * dimension, indexing="ij"), axis=-1).reshape(-1, 1, dimension)
    factors = np.where(corners == 1, places, 1 - places)
    slopes = np.where(corners == 1, 1.0, -1.0) * np.ones_like(factors)
    gradients = np.empty_like(factors)
    for axis in range(dimension):
        mixed = factors.copy()
        mixed[..., axis] = slopes[..., axis]
        gradients[..., axis] = mixed.prod(axis=-1)
    return Element(name, factors.prod(axis=-1), gradients, np.full(len(places), 0.5**dimension))


_SQUARE = ((0, 0), (1, 0), (1, 1), (0, 1))
# By nodes of an element and dimension of its points.
ELEMENTS = {
    (3, 2): _simplex("triangle", 2),
    (4, 2): _cube("quad", _SQUARE),
    (4, 3): _simplex("tetra", 3),
    (8, 3): _cube("hexahedron", [(*corner, z) for z in (0, 1) for corner in _SQUARE]),
}


def element(cells: np.ndarray, points: np.ndarray) -> Element:
    """Return the element that cells (m, k) of points (n, d) are; ValueError when there is none."""
    kind = ELEMENTS.get((cells.shape[1], points.shape[1]))
    if kind is None:
        known = ", ".join(f"{kind.name} {nodes} in {dimension}-D" for (nodes, dimension), kind in ELEMENTS.items())
        raise ValueError(f"no element has {cells.shape[1]} nodes in {points.shape[1]}-D; there are {known}")
    return kind
