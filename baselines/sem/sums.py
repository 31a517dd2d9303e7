"""The operator of spectral elements by NumPy: what a user would write without a kernel, in double precision.

Derivatives come from Legendre series and the metric from the inverse of each Jacobian: it can vouch for kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import Legendre

CHUNK = 1 << 16  # nodes of the elements that are computed at once: their arrays stay in a cache
PAIRS = [(r, s) for r in range(3) for s in range(r, 3)]  # of axes: components of the metric, which is symmetric
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])


class Sums:
    """c u - ∇·(κ∇u), tested with every basis function of each element by itself.

    Parameters
    ----------
    points : (vertices, 3) float64
    cells : (elements, 8) int
        Trilinear hexahedra in meshio's order.
    order : int
    kappa, mass : float
        The coefficients κ and c.
    """

    def __init__(self, points, cells, order: int, kappa: float = 1.0, mass: float = 0.0):
        self.points, self.cells, self.order = points, cells, order
        self.kappa, self.mass = kappa, mass
        legendre = Legendre.basis(order)
        self.t = np.sort(np.concatenate([[-1.0, 1.0], legendre.deriv().roots().real if order > 1 else []]))
        self.weights = 2 / (order * (order + 1) * legendre(self.t) ** 2)
        series = [Legendre.basis(k) for k in range(order + 1)]
        values = np.stack([p(self.t) for p in series], axis=1)
        slopes = np.stack([p.deriv()(self.t) for p in series], axis=1)
        self.derivative = slopes @ np.linalg.inv(values)
        self._shapes = self._slopes_of_shapes()
        #: Elements of which products were asked for, and their metric by where they begin.
        self._some: tuple = (None, {})

    def _slopes_of_shapes(self):
        """Return the slopes of the vertices' functions along each axis, three of ((n + 1)³, 8)."""
        half = (1 + np.outer([-1, 1], self.t)) / 2  # value of the linear function of either end, [end, node]
        slope = np.outer([-0.5, 0.5], np.ones_like(self.t))
        found = []
        for axis in range(3):
            one = [slope if a == axis else half for a in range(3)]
            shape = [np.einsum("i,j,k->kji", *(one[a][c[a]] for a in range(3))).ravel() for c in CORNERS]
            found.append(np.stack(shape, axis=1))
        return found

    def _jacobians(self, cells):
        """Return dx/dξ at the GLL nodes, lists by coordinate and reference axis, ((n + 1)³, elements) each."""
        corners = np.ascontiguousarray(self.points[cells].transpose(2, 1, 0))
        return [[shape @ coordinate for shape in self._shapes] for coordinate in corners]

    def metric(self, cells):
        """Return κ |J| J⁻¹ J⁻ᵀ by rows and columns, and |J|, each with the weights: ((n + 1)³, elements) arrays."""
        j = self._jacobians(cells)
        # Cramer's rule: an entry of the inverse is the minor that its row and column leave, over the determinant.
        adjugate = [[_minor(j, r, x) for x in range(3)] for r in range(3)]
        determinant = sum(j[x][0] * adjugate[0][x] for x in range(3))
        weights = np.einsum("k,j,i->kji", self.weights, self.weights, self.weights).reshape(-1, 1)
        scale = self.kappa * weights / determinant
        found = {pair: scale * sum(a * b for a, b in zip(*(adjugate[r] for r in pair), strict=True)) for pair in PAIRS}
        return [[found[min(r, s), max(r, s)] for s in range(3)] for r in range(3)], weights * determinant

    def multiply(self, u, elements=None):
        """Return the products with element vectors.

        Parameters
        ----------
        u : (elements, (n + 1)³) float64
            The node of ξ runs fastest.
        elements : int array, optional
            Which elements these are; by default all. The metric of some is kept while the same array is given.
        """
        if elements is None or elements is not self._some[0]:
            self._some = elements, {}
        kept, is_kept = self._some[1], elements is not None
        elements = np.arange(len(self.cells)) if elements is None else elements
        q, out = self.order + 1, np.empty(u.shape)
        step = max(1, CHUNK // q**3)
        for begin in range(0, len(elements), step):
            some = slice(begin, begin + step)
            metric = kept.get(begin)
            if metric is None:
                metric = self.metric(self.cells[elements[some]])
                if is_kept:
                    kept[begin] = metric
            # Elements run fastest, so that each sum along an axis is a product with long rows.
            v = np.ascontiguousarray(np.asarray(u[some], dtype=np.float64).T)
            gradient = [self._along(axis, self.derivative, v) for axis in range(3)]
            g, volume = metric
            part = self.mass * volume * v
            for r in range(3):
                part += self._along(r, self.derivative.T, sum(g[r][s] * gradient[s] for s in range(3)))
            out[some] = part.T
        return out

    def _along(self, axis: int, matrix, v):
        """Apply a matrix along an axis of fields, ((n + 1)³, elements)."""
        q = self.order + 1
        return (matrix @ v.reshape(q ** (2 - axis), q, -1)).reshape(v.shape)


def _minor(j, r: int, x: int):
    """Return the cofactor of an entry of a 3 × 3 matrix, of which rows and columns follow one another in a circle."""
    (a, b), (c, d) = ((x + 1) % 3, (x + 2) % 3), ((r + 1) % 3, (r + 2) % 3)
    return j[a][c] * j[b][d] - j[a][d] * j[b][c]
