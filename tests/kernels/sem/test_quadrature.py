"""Mass and stiffness at points of Gauss against sums by NumPy, and against what they integrate exactly."""

import numpy as np
import pytest

from baselines.sem import gauss
from kernels.sem.quadrature import KINDS, Quadrature, derivative

from .conftest import MESHES, disturbed, grid


def host(device, array):
    return np.array(device.to_host(array), dtype="float64")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("order", "dtype"), [(1, "float64"), (3, "float64"), (4, "float32"), (7, "float64")])
def test_equals_sums(device, mesh, order, kind, dtype):
    points, cells = mesh
    operator = Quadrature(device, points, cells, order, kind, dtype)
    x = np.random.default_rng(order).normal(size=operator.nodes).astype(dtype)
    y = device.zeros(operator.nodes, dtype)
    operator.multiply(device.array(x), y)
    table = host(device, device.array(operator.numbering.table)).astype(int)
    parts = gauss.multiply(points, cells, order, x[table], kind)
    expected = np.bincount(table.ravel(), weights=parts.ravel())
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(host(device, y), expected, atol=tolerance * np.abs(expected).max())


def test_mass_is_the_volume_and_constants_have_no_stiffness(device):
    points, cells = disturbed(*grid((3, 2, 2)))
    for kind, total in (("mass", 12.0), ("stiffness", 0.0)):
        operator = Quadrature(device, points, cells, 2, kind)
        y = device.zeros(operator.nodes, "float64")
        operator.multiply(device.array(np.ones(operator.nodes)), y)
        assert host(device, y).sum() == pytest.approx(total, abs=1e-11)


def test_fixed_nodes_read_and_give_zero(device):
    operator = Quadrature(device, *MESHES["disturbed"](), 3, "stiffness", dirichlet="boundary")
    fixed = host(device, device.array(operator.numbering.boundary)) > 0
    x, y = np.random.default_rng(0).normal(size=operator.nodes), device.zeros(operator.nodes, "float64")
    found = []
    for vector in (x, np.where(fixed, 0, x)):
        operator.multiply(device.array(vector), y)
        found.append(host(device, y))
    assert (found[0] == found[1]).all() and (found[0][fixed] == 0).all()
    assert operator.least_work().bytes > 0


def test_derivative_is_exact_for_polynomials():
    points = np.polynomial.legendre.leggauss(5)[0]
    np.testing.assert_allclose(derivative(points) @ points**4, 4 * points**3, atol=1e-13)


def test_an_unknown_kind_is_refused(device):
    with pytest.raises(ValueError, match="none of mass, stiffness"):
        Quadrature(device, *grid((1, 1, 1)), 2, "both")
