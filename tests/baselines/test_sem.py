"""The einsum operator against scikit-fem's element matrices, of order 1 and 2."""

import numpy as np
import pytest

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
