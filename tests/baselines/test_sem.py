"""The einsum operator against scikit-fem's element matrices; dense local solves against the operator."""

import numpy as np
import pytest

from baselines.sem import boxes
from baselines.sem.sums import CORNERS, Sums


@pytest.mark.parametrize("order", [1, 2])
def test_equals_scikit_fem(order):
    from skfem import Basis, BilinearForm, ElementHex1, ElementHex2, MeshHex
    from skfem.helpers import dot, grad

    points = CORNERS + np.random.default_rng(0).uniform(-0.2, 0.2, (8, 3))
    sums = Sums(points, np.arange(8)[None], order, kappa=1.7, mass=0.6)
    unit = MeshHex.init_tensor(*[np.array([0.0, 1.0])] * 3)
    place = [int(np.flatnonzero((CORNERS == corner).all(axis=1))[0]) for corner in unit.p[:, unit.t[:, 0]].T]
    mesh = MeshHex(points[place].T.copy(), np.arange(8)[:, None])
    t, w = (sums.t + 1) / 2, sums.weights / 2
    at = np.stack([axis.ravel() for axis in np.meshgrid(t, t, t, indexing="ij")])
    basis = Basis(
        mesh, (ElementHex1, ElementHex2)[order - 1](), quadrature=(at, np.einsum("i,j,k->ijk", w, w, w).ravel())
    )
    form = BilinearForm(lambda u, v, _: 1.7 * dot(grad(u), grad(v)) + 0.6 * u * v)
    expected = form.assemble(basis).toarray()
    ours = sums.multiply(
        np.eye((order + 1) ** 3)[:, None].reshape(-1, (order + 1) ** 3), np.zeros(27 if order == 2 else 8, int)
    )
    # Their unknowns by place: the trilinear map of our nodes.
    shape = np.stack(
        [
            np.prod([(1 + (2 * c[a] - 1) * x[a]) / 2 for a in range(3)], axis=0)
            for c in CORNERS
            for x in [np.stack([axis.ravel() for axis in np.meshgrid(*[sums.t] * 3, indexing="ij")][::-1])]
        ]
    )
    nodes = shape.T @ points
    match = [int(np.argmin(((basis.doflocs.T - node) ** 2).sum(axis=1))) for node in nodes]
    assert sorted(match) == list(range(len(match)))
    np.testing.assert_allclose(ours, expected[np.ix_(match, match)], atol=1e-14)


def test_some_elements_have_their_own_products_each_time():
    """Their metric is kept, and is not taken for the metric of others."""
    rng = np.random.default_rng(3)
    points = (CORNERS + rng.uniform(-0.2, 0.2, (6, 8, 3))).reshape(-1, 3)
    sums, u = Sums(points, np.arange(48).reshape(6, 8), 2), rng.normal(size=(6, 27))
    every = sums.multiply(u)
    for some in (np.array([1, 4]), np.array([0, 5])):
        for factor in (1, 2):
            np.testing.assert_allclose(sums.multiply(factor * u[some], some), factor * every[some], rtol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_boxes_solve_what_the_operator_of_a_grid_has_between_their_nodes(order):
    """In a grid of equal boxes a subdomain's matrix is the operator's, with zero at all other nodes."""
    count, sides = (5 if order == 1 else 3), np.array([1.0, 0.7, 1.6])
    cells = np.array(list(np.ndindex(count, count, count)))
    points = ((cells[:, None] + CORNERS) * sides).reshape(-1, 3)
    sums = Sums(points, np.arange(len(points)).reshape(-1, 8), order, kappa=1.3, mass=0.4)
    along, one = count * order + 1, np.arange(order + 1)
    k, j, i = np.meshgrid(one, one, one, indexing="ij")
    x, y, z = (cells[:, axis, None] * order + local.ravel() for axis, local in enumerate((i, j, k)))
    numbers = x + along * (y + along * z)
    kept = np.arange(count // 2 * order - 1, count // 2 * order + order + 2)
    inside = (kept + along * (kept[:, None] + along * kept[:, None, None])).ravel()
    u = np.random.default_rng(order).normal(size=inside.size)
    whole = np.zeros(along**3)
    whole[inside] = u
    product = np.bincount(numbers.ravel(), sums.multiply(whole[numbers]).ravel(), along**3)
    middle = sums.points[sums.cells[len(cells) // 2]]
    np.testing.assert_allclose(boxes.solve(middle, order, product[inside], 1.3, 0.4), u, atol=1e-12)
