"""The operator of spectral elements by NumPy's einsum: what a user would write without a kernel, in double precision.

Derivatives come from Legendre series and the metric from the inverse of each Jacobian: it can vouch for kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import Legendre

CHUNK = 1 << 19  # nodes of the elements that are computed at once
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
        self._some: tuple = (
            None,
            {},
        )  # elements of which products were asked for, and their metric by where they begin

    def jacobians(self, cells):
        """Return dx/dξ at the GLL nodes, (elements, k, j, i, coordinate, reference axis)."""
        half = (1 + np.outer([-1, 1], self.t)) / 2  # value of the linear function of either end, [end, node]
        slope = np.outer([-0.5, 0.5], np.ones_like(self.t))
        found = []
        for axis in range(3):
            one = [slope if a == axis else half for a in range(3)]
            shape = np.stack([np.einsum("i,j,k->kji", *(one[a][c[a]] for a in range(3))) for c in CORNERS])
            found.append(np.einsum("evx,vkji->ekjix", self.points[cells], shape))
        return np.stack(found, axis=-1)

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
        w = np.einsum("k,j,i->kji", self.weights, self.weights, self.weights)
        d = self.derivative
        for begin in range(0, len(elements), step):
            some = slice(begin, begin + step)
            v = np.asarray(u[some], dtype=np.float64).reshape(-1, q, q, q)
            metric = kept.get(begin)
            if metric is None:
                jacobian = self.jacobians(self.cells[elements[some]])
                metric = np.linalg.inv(jacobian), w * np.linalg.det(jacobian)
                if is_kept:
                    kept[begin] = metric
            inverse, volume = metric
            gradient = np.stack([
                np.einsum("im,ekjm->ekji", d, v), np.einsum("jm,ekmi->ekji", d, v), np.einsum("km,emji->ekji", d, v),
            ], axis=-1)  # fmt: skip
            in_space = np.einsum("ekjirx,ekjir->ekjix", inverse, gradient)
            flux = np.einsum("ekjirx,ekjix,ekji->rekji", inverse, in_space, self.kappa * volume)
            part = self.mass * volume * v
            part += np.einsum("mi,ekjm->ekji", d, flux[0])
            part += np.einsum("mj,ekmi->ekji", d, flux[1])
            part += np.einsum("mk,emji->ekji", d, flux[2])
            out[some] = part.reshape(-1, q**3)
        return out
