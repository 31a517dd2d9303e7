"""Mass and stiffness of spectral elements integrated at points of Gauss, one more than nodes, by NumPy's einsum.

Derivatives come from Legendre series and the metric from the inverse of each Jacobian: it can vouch for kernels.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import Legendre, leggauss

from baselines.sem.sums import CHUNK, CORNERS, Sums


def multiply(points, cells, order: int, u, kind: str):
    """Return the products with element vectors.

    Parameters
    ----------
    points : (vertices, 3) float64
    cells : (elements, 8) int
        Of the elements whose vectors these are, in meshio's order.
    order : int
    u : (elements, (n + 1)³) float64
        The node of ξ runs fastest.
    kind : {'mass', 'stiffness'}
    """
    nodes, (at, weights), q = Sums(points, cells, order).t, leggauss(order + 2), order + 1
    series = [Legendre.basis(k) for k in range(q)]
    inverse = np.linalg.inv(np.stack([p(nodes) for p in series], axis=1))
    b = np.stack([p(at) for p in series], axis=1) @ inverse
    d = np.stack([p.deriv()(at) for p in series], axis=1) @ inverse
    w = np.einsum("k,j,i->kji", weights, weights, weights)
    half, slope = (1 + np.outer([-1, 1], at)) / 2, np.outer([-0.5, 0.5], np.ones_like(at))
    axes = [[slope if a == axis else half for a in range(3)] for axis in range(3)]
    shape = np.stack(
        [np.stack([np.einsum("i,j,k->kji", *(one[a][c[a]] for a in range(3))) for c in CORNERS]) for one in axes],
        axis=-1,
    )
    out, step = np.empty(u.shape), max(1, CHUNK // q**3)
    for begin in range(0, len(cells), step):
        some = slice(begin, begin + step)
        v = np.asarray(u[some], dtype=np.float64).reshape(-1, q, q, q)
        jacobian = np.einsum("evx,vkjir->ekjixr", points[cells[some]], shape)
        volume = w * np.linalg.det(jacobian)
        if kind == "mass":
            inside = volume * np.einsum("ecba,kc,jb,ia->ekji", v, b, b, b, optimize=True)
            out[some] = np.einsum("ekji,kc,jb,ia->ecba", inside, b, b, b, optimize=True).reshape(-1, q**3)
            continue
        back = np.linalg.inv(jacobian)
        ways = ((b, b, d), (b, d, b), (d, b, b))
        gradient = np.stack([np.einsum("ecba,kc,jb,ia->ekji", v, *way, optimize=True) for way in ways], axis=-1)
        in_space = np.einsum("ekjirx,ekjir->ekjix", back, gradient)
        flux = np.einsum("ekjirx,ekjix,ekji->rekji", back, in_space, volume)
        out[some] = sum(
            np.einsum("ekji,kc,jb,ia->ecba", f, *way, optimize=True) for f, way in zip(flux, ways, strict=True)
        ).reshape(-1, q**3)
    return out
