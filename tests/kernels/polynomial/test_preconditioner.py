"""The preconditioner on a device against the polynomial of a dense eigendecomposition."""

import numpy as np
import pytest
import scipy.sparse

from kernels import spmv
from kernels.polynomial import POLYNOMIALS, Bounds, Preconditioner, fitted

EPSILON = {"float64": 1e-13, "float32": 1e-5}


def apply(device, preconditioner, r):
    z = device.array(np.full(r.size, np.nan))
    preconditioner.apply(device.array(r.copy()), z)
    return np.array(device.to_host(z))


@pytest.fixture
def spectrum(scaled_dense):
    values = scaled_dense[1]
    return Bounds(values[0], 1.01 * values[-1], 0.02, values[-1], 20)


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("dtype", EPSILON)
def test_closed_form_on_the_eigendecomposition(device, by_scipy, scaled_dense, spectrum, name, order, dtype):
    matrix, values, vectors = scaled_dense
    a = by_scipy(device, matrix, dtype)
    preconditioner = Preconditioner(device, a, fitted(name, order, spectrum))
    b = spectrum.upper
    if name == "neumann":
        of_values = (1 - (1 - values / b) ** (order + 1)) / values
    elif name == "chebyshev":
        t = (2 * np.append(values, 0) - b - spectrum.smallest_ritz) / (b - spectrum.smallest_ritz)
        terms = np.cosh((order + 1) * np.arccosh(t.astype(complex))).real
        of_values = (1 - terms[:-1] / terms[-1]) / values
    else:
        half = np.arcsin(np.sqrt(values / b))
        of_values = (1 - np.sin((2 * order + 3) * half) / ((2 * order + 3) * np.sin(half))) / values
    r = np.random.default_rng(order).normal(size=len(values))
    expected = vectors @ (of_values * (vectors.T @ r))
    found = apply(device, preconditioner, r)
    assert np.linalg.norm(found - expected) <= EPSILON[dtype] * np.linalg.norm(expected) * (order + 1)
    assert a.products == order
    assert np.array_equal(apply(device, preconditioner, r), found)  # nothing is left of the first time


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("order", [2, 5, 6])
def test_symmetric_positive_definite(device, by_scipy, scaled_dense, spectrum, name, order):
    matrix = scaled_dense[0]
    preconditioner = Preconditioner(device, by_scipy(device, matrix, "float64"), fitted(name, order, spectrum))
    columns = np.column_stack([apply(device, preconditioner, unit) for unit in np.eye(matrix.shape[0])[:120]])[:120]
    assert abs(columns - columns.T).max() <= 1e-13 * abs(columns).max()
    assert np.linalg.eigvalsh(columns)[0] > 0


@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("dtype", EPSILON)
def test_a_format_that_combines_gives_the_same(device, by_scipy, scaled_dense, spectrum, order, dtype):
    matrix, polynomial = scaled_dense[0], fitted("chebyshev", order, spectrum)
    packed = spmv.pack("sbell", device, matrix, dtype)
    assert hasattr(packed, "combine")
    r = np.random.default_rng(order).normal(size=matrix.shape[0])
    expected = apply(device, Preconditioner(device, by_scipy(device, matrix, dtype), polynomial), r)
    preconditioner = Preconditioner(device, packed, polynomial)
    for fused in (None, packed.combine):  # GPUs take the one, processors the other
        preconditioner._fused = fused
        found = apply(device, preconditioner, r)
        assert np.linalg.norm(found - expected) <= EPSILON[dtype] * np.linalg.norm(expected)


def test_combination(device, scaled_dense):
    matrix = scaled_dense[0]
    packed = spmv.pack("sbell", device, matrix)
    x, y, z = np.random.default_rng(0).normal(size=(3, matrix.shape[0]))
    for factors in ((2.0, -1.0, 0.5, 3.0), (1.5, 0.0, 0.5, 0.0), (1.0, 0.0, 0.0, 2.0)):
        alpha, beta, gamma, delta = factors
        given = [device.array(np.where(factor == 0, np.nan, v)) for factor, v in ((1, x), (beta, y), (delta, z))]
        packed.combine(given[0], given[1], *factors, given[2])
        expected = alpha * (matrix @ x) + beta * y + gamma * x + delta * z
        assert np.array(device.to_host(given[1])) == pytest.approx(expected, abs=1e-13)


def test_single_precision_is_rounded_once(device, by_scipy, scaled_dense, spectrum):
    """r is rounded, z is not rounded again on the way to double precision."""
    matrix = scaled_dense[0]
    r = np.random.default_rng(1).normal(size=matrix.shape[0])
    polynomial = fitted("least-squares", 4, spectrum)
    single = apply(device, Preconditioner(device, by_scipy(device, matrix, "float32"), polynomial), r)
    double = apply(device, Preconditioner(device, by_scipy(device, matrix, "float64"), polynomial), r)
    assert 1e-9 < np.linalg.norm(single - double) / np.linalg.norm(double) < 1e-5
    assert np.array_equal(single, single.astype(np.float32))


def test_refusals(device, by_scipy, scaled_dense, spectrum):
    polynomial = fitted("least-squares", 2, spectrum)
    with pytest.raises(ValueError, match="int32"):
        Preconditioner(device, by_scipy(device, scaled_dense[0], "int32"), polynomial)
    with pytest.raises(ValueError, match="2 x 3"):
        Preconditioner(device, by_scipy(device, scipy.sparse.csr_array((2, 3)), "float64"), polynomial)
