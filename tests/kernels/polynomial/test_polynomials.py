"""The polynomials against Saad's table, closed forms, and optimisation by other means."""

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

from kernels.polynomial import POLYNOMIALS, Bounds, fitted
from kernels.polynomial.polynomials import Polynomial, chebyshev, least_squares, neumann

# Table 12.1 of Saad, up to a factor: least-squares polynomials on [0, 4] with weights μ = 1/2, ν = -1/2.
SAAD = {
    1: [5, -1],
    2: [14, -7, 1],
    3: [30, -27, 9, -1],
    4: [55, -77, 44, -11, 1],
    5: [91, -182, 156, -65, 13, -1],
    6: [140, -378, 450, -275, 90, -15, 1],
    7: [204, -714, 1122, -935, 442, -119, 17, -1],
    8: [285, -1254, 2508, -2717, 1729, -665, 152, -19, 1],
}
ORDERS = range(1, 9)


@pytest.mark.parametrize("order", SAAD)
def test_least_squares_is_saads(order):
    made, x = least_squares(order, (0, 4)), np.linspace(0.01, 4, 50)
    expected = np.polynomial.polynomial.polyval(x, SAAD[order])
    ratios = made(x) / expected
    assert np.ptp(ratios) <= 1e-9 * abs(ratios[0])
    angle = 2 * np.arcsin(np.sqrt(x / 4))
    n = order + 1
    closed = np.sin((2 * n + 1) * angle / 2) / ((2 * n + 1) * np.sin(angle / 2))
    assert made.residual(x) == pytest.approx(closed, abs=1e-12)


@pytest.mark.parametrize("order", [2, 3, 6])
@pytest.mark.parametrize("interval", [(0, 2.3), (0.2, 3), (1, 1.5)])
@pytest.mark.parametrize("weights", [(0.5, -0.5), (1, 0), (1.5, 0.5)])
def test_no_other_residual_is_smaller_in_the_weighted_norm(order, interval, weights):
    (a, b), (mu, nu) = interval, weights
    made = least_squares(order, interval, weights)

    def products(p, q):  # ∫ p q (λ - a)^(μ-1) (b - λ)^ν, by a quadrature that knows algebraic ends
        return scipy.integrate.quad(
            lambda x: p(x) * q(x), a, b, weight="alg", wvar=(mu - 1, nu), epsabs=1e-13, epsrel=1e-12
        )[0]

    size = products(lambda x: 1.0, lambda x: 1.0)
    for k in range(order + 1):  # optimal: the residual is orthogonal to all that s can change in it
        change = np.polynomial.Chebyshev.basis(k, domain=[a, b])
        assert abs(products(made.residual, lambda x, change=change: x * change(x))) <= 1e-10 * size * b


@pytest.mark.parametrize("order", range(1, 7))
@pytest.mark.parametrize("interval", [(0.01, 2.2), (0.5, 1.5)])
def test_chebyshev_is_the_minimax_of_a_linear_programme(order, interval):
    a, b = interval
    x = a + (b - a) * (1 - np.cos(np.pi * np.linspace(0, 1, 600))) / 2
    t = (2 * x - a - b) / (b - a)
    basis = x[:, None] * np.polynomial.chebyshev.chebvander(t, order)
    ones = np.ones((x.size, 1))
    best = scipy.optimize.linprog(
        np.append(np.zeros(order + 1), 1),
        A_ub=np.block([[-basis, -ones], [basis, -ones]]), b_ub=np.append(-ones, ones),
        bounds=[(None, None)] * (order + 1) + [(0, None)],
    )  # fmt: skip
    made = chebyshev(order, interval)
    assert abs(made.residual(x)).max() == pytest.approx(best.fun, rel=1e-4, abs=1e-7)
    signs = np.sign(made.residual(x)[abs(made.residual(x)) > 0.999 * best.fun])
    assert np.count_nonzero(np.diff(signs)) == order + 1  # equioscillation, which has one more extremum


@pytest.mark.parametrize("order", ORDERS)
def test_neumann_sums_the_series(order):
    made, x = neumann(order, (0, 3)), np.linspace(0.05, 3, 40)
    assert made.residual(x) == pytest.approx((1 - x / 3) ** (order + 1), abs=1e-13)


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("order", ORDERS)
def test_positive_where_the_matrix_has_eigenvalues(name, order):
    spectrum = Bounds(0.0, 2.26, 0.009, 2.2, 20)
    made = fitted(name, order, spectrum)
    x = np.concatenate([np.geomspace(1e-9, 2.26, 4000), np.linspace(1e-6, 2.26, 4000)])
    assert made(x).min() > 0
    assert abs(made.residual(x)).max() < 1
    assert made.residual(0.0) == pytest.approx(1)
    assert made.coefficients.shape == (order + 1,) and made.order == order


def test_published_iterations_fall_as_these_polynomials_let_expect():
    """κ of the preconditioned spectrum ~ 1 / (n (n + 1)) and 1 / n, n = order + 1, as the paper's Table 3 has it."""
    small = 1e-6  # λ s(λ) there is the smallest eigenvalue
    for name, first, last, printed in (("least-squares", 2, 6, 898 / 413), ("neumann", 2, 6, 1321 / 862)):
        spectrum = Bounds(0.0, 1.0, 0.01, 1.0, 20)
        x = np.linspace(1e-3, 1, 5000)
        kappa = {}
        for order in (first, last):
            made = fitted(name, order, spectrum)
            kappa[order] = (x * made(x)).max() / (small * made(small))
        assert np.sqrt(kappa[first] / kappa[last]) == pytest.approx(printed, rel=0.05)


@pytest.mark.parametrize("interval", [(-0.1, 1), (1, 1), (2, 1), (0, np.inf), (0, np.nan)])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_intervals_that_are_none(name, interval):
    with pytest.raises(ValueError):
        POLYNOMIALS[name](3, interval)


def test_refusals():
    spectrum = Bounds(0.0, 1.0, 0.01, 1.0, 20)
    with pytest.raises(ValueError, match="taylor"):
        fitted("taylor", 2, spectrum)
    for name in POLYNOMIALS:
        with pytest.raises(ValueError, match="order 0"):
            fitted(name, 0, spectrum)
    with pytest.raises(ValueError, match="away from 0"):
        chebyshev(3, (0, 1))
    with pytest.raises(ValueError, match="not positive"):  # 1 - λ on (0, 2]
        Polynomial("linear", 1, (0.0, 2.0), np.array([0.0, -1.0]))
