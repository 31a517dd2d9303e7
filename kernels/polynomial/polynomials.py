"""The three polynomials of zhang2013's section 2.3, after Saad's Iterative methods for sparse linear systems, 12.3.

A preconditioner is z = s(A) r with a polynomial s such that the residual polynomial R(λ) = 1 - λ s(λ) is small on the
spectrum. With all of the spectrum in (0, b] and |R| < 1 there, s(A) is symmetric positive definite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev as series
from scipy.special import eval_jacobi, roots_jacobi

from kernels.polynomial.lanczos import Bounds

SAAD_WEIGHTS = (0.5, -0.5)  # (μ, ν) of his table 12.1
SAMPLES = 64  # for each degree, of the interval on which a polynomial is seen to be positive


@dataclass(frozen=True)
class Polynomial:
    """The polynomial s of a preconditioner, as a series of Chebyshev polynomials.

    Attributes
    ----------
    name : str
    order : int
        Degree of s, hence products with the matrix in one application.
    interval : (float, float)
        a and b of the series: s(λ) = Σ_k coefficients[k] T_k((2λ - a - b) / (b - a)).
    coefficients : (order + 1,) float64 array

    Raises
    ------
    ValueError
        When s is not positive on (0, b]: the preconditioner would be indefinite.
    """

    name: str
    order: int
    interval: tuple[float, float]
    coefficients: np.ndarray

    def __post_init__(self):
        b = self.interval[1]
        angles = np.arange(1, SAMPLES * (self.order + 1) + 1) / (SAMPLES * (self.order + 1))
        values = self(b * np.sin(np.pi / 2 * angles) ** 2)
        if not values.min() > 0:
            raise ValueError(f"the {self.name} polynomial of order {self.order} on {self.interval} is not positive")

    def __call__(self, values) -> np.ndarray:
        """Return s at `values`."""
        a, b = self.interval
        return series.chebval((2 * np.asarray(values, float) - a - b) / (b - a), self.coefficients)

    def residual(self, values) -> np.ndarray:
        """Return R = 1 - λ s(λ) at `values`."""
        return 1 - np.asarray(values, float) * self(values)


def neumann(order: int, interval: tuple[float, float]) -> Polynomial:
    """Return ω Σ_k (1 - ω λ)^k with ω = 1 / b: all powers are positive on the interval, of even and odd order.

    The published iterations fall as 1 / √(order + 1), which this ω gives; 2 / (a + b) would favour odd orders.
    """
    omega = 1 / _checked(interval)[1]
    return _series("neumann", order, interval, lambda x: omega * sum((1 - omega * x) ** k for k in range(order + 1)))


def least_squares(order: int, interval: tuple[float, float], weights: tuple[float, float] = SAAD_WEIGHTS) -> Polynomial:
    """Return the s whose residual is least in the norm of Jacobi weights, ∫ R(λ)² (λ - a)^(μ - 1) (b - λ)^ν dλ.

    R is the kernel polynomial Σ_k p_k(0) p_k(λ) / Σ_k p_k(0)² of the orthonormal polynomials p_0 to p_{order + 1}
    (Saad, section 12.3.3). With a = 0 and his weights |R| < 1 on (0, b].

    Parameters
    ----------
    order : int
    interval : (float, float)
    weights : (float, float)
        (μ, ν) with μ > 0 and ν > -1.
    """
    (a, b), (mu, nu) = _checked(interval), weights
    k = np.arange(order + 2)[:, None]
    nodes, mass = roots_jacobi(order + 2, nu, mu - 1)
    squares = (eval_jacobi(k, nu, mu - 1, nodes) ** 2) @ mass
    values = eval_jacobi(k[:, 0], nu, mu - 1, -(a + b) / (b - a))
    at_zero, total = values / squares, (values**2 / squares).sum()

    def value(x):
        residual = at_zero @ eval_jacobi(k, nu, mu - 1, (2 * x - a - b) / (b - a)) / total
        return (1 - residual) / x

    return _series("least-squares", order, interval, value)


def chebyshev(order: int, interval: tuple[float, float]) -> Polynomial:
    """Return the s whose residual is least in the maximum norm on [a, b], with a > 0 (Saad, section 12.3.2).

    R = T_{order + 1}(t(λ)) / T_{order + 1}(t(0)); it decreases from 1 on [0, a], so that s is positive even where
    eigenvalues lie below a.

    Raises
    ------
    ValueError
        For a = 0, where the residual would be 1 somewhere.
    """
    a, b = _checked(interval)
    if not a > 0:
        raise ValueError(f"a min-max polynomial needs an interval away from 0, not {interval}")
    top = [0.0] * (order + 1) + [1.0]
    scale = series.chebval(-(a + b) / (b - a), top)
    return _series(
        "chebyshev", order, interval, lambda x: (1 - series.chebval((2 * x - a - b) / (b - a), top) / scale) / x
    )


def _series(name: str, order: int, interval: tuple[float, float], value: Callable) -> Polynomial:
    """Interpolate a polynomial given by its values, which is exact at order + 1 points."""
    a, b = interval
    if order < 1:
        raise ValueError(f"a polynomial of order {order} is no preconditioner: take 1 or more")
    coefficients = series.chebinterpolate(lambda t: value(a + (b - a) * (t + 1) / 2), order)
    return Polynomial(name, order, (float(a), float(b)), coefficients)


def _checked(interval: tuple[float, float]) -> tuple[float, float]:
    a, b = interval
    if not (0 <= a < b and math.isfinite(b)):
        raise ValueError(f"({a:g}, {b:g}) is no interval that holds a positive definite matrix's spectrum")
    return a, b


POLYNOMIALS = {"neumann": neumann, "least-squares": least_squares, "chebyshev": chebyshev}


def fitted(name: str, order: int, spectrum: Bounds) -> Polynomial:
    """Return the polynomial of a name and an order for a spectrum of which bounds are known.

    Neumann and least-squares polynomials take [0, upper bound], so that no eigenvalue can lie below; the min-max
    polynomial takes the smallest Ritz value as the lower end.
    """
    if name not in POLYNOMIALS:
        raise ValueError(f"polynomial {name!r} is none of {', '.join(POLYNOMIALS)}")
    lower = spectrum.smallest_ritz if name == "chebyshev" else 0.0
    return POLYNOMIALS[name](order, (lower, spectrum.upper))
