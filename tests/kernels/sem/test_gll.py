"""GLL rules against NumPy's Legendre series and exact integrals and derivatives."""

import numpy as np
import pytest
from numpy.polynomial.legendre import Legendre

from kernels.sem.gll import rule

ORDERS = range(1, 16)


@pytest.mark.parametrize("n", ORDERS)
def test_points_are_the_ends_and_the_zeros_of_the_derivative(n):
    zeros = np.sort(Legendre.basis(n).deriv().roots().real) if n > 1 else []
    np.testing.assert_allclose(rule(n).points, [-1, *zeros, 1], atol=4e-15)


@pytest.mark.parametrize("n", ORDERS)
def test_weights_integrate_polynomials_of_degree_2n_minus_1(n):
    points, weights, _ = rule(n)
    for degree in range(2 * n):
        assert weights @ Legendre.basis(degree)(points) == pytest.approx(2.0 * (degree == 0), abs=1e-14)
    assert abs(weights @ Legendre.basis(2 * n)(points)) > 1e-3  # and no further


@pytest.mark.parametrize("n", ORDERS)
def test_derivative_is_exact_for_polynomials_of_degree_n(n):
    points, _, derivative = rule(n)
    for degree in range(n + 1):
        series = Legendre.basis(degree)
        np.testing.assert_allclose(derivative @ series(points), series.deriv()(points), atol=1e-12 * n)


@pytest.mark.parametrize("n", ORDERS)
def test_summation_by_parts(n):
    """The kernel rests on this: ρ_i D_im + ρ_m D_mi is 0 but in the corners."""
    _, weights, derivative = rule(n)
    ends = np.zeros((n + 1, n + 1))
    ends[0, 0], ends[-1, -1] = -1, 1
    q = weights[:, None] * derivative
    np.testing.assert_allclose(q + q.T, ends, atol=1e-13)


def test_order_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        rule(0)
