"""The assembled spectral matrix against the einsum operator, the low-order one, and the solver with both."""

import numpy as np
import pytest

from baselines.sem import low_order as rivals
from baselines.sem.assembled import low_order, matrix
from baselines.sem.sums import CORNERS, Sums
from repro import Skip

SIDE = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1)[..., ::-1].reshape(-1, 3)


@pytest.fixture(scope="module")
def system():
    """3 × 3 × 3 distorted hexahedra at n = 3: numbers of the nodes by place, and which are inside the cube."""
    points = SIDE + np.where((SIDE == 0) | (SIDE == 3), 0, np.random.default_rng(0).uniform(-0.2, 0.2, SIDE.shape))
    lower = np.array(list(np.ndindex(3, 3, 3)))
    cells = (lower[:, None] + CORNERS) @ [1, 4, 16]
    t = (Sums(points, cells, 3).t + 1) / 2
    inner = np.stack(np.meshgrid(t, t, t, indexing="ij"), axis=-1)[..., ::-1].reshape(-1, 3)
    places, table = np.unique(np.round(lower[:, None] + inner, 9).reshape(-1, 3), axis=0, return_inverse=True)
    return points, cells, 3, table.reshape(27, 64), ((places > 0) & (places < 3)).all(axis=1)


def test_matrix_is_the_operator(system):
    points, cells, order, table, free = system
    x = np.random.default_rng(1).normal(size=len(free)) * free
    parts = Sums(points, cells, order).multiply(x[table])
    expected = np.bincount(table.ravel(), weights=parts.ravel())[free]
    found = matrix(*system)
    assert found.shape == (8**3, 8**3)
    np.testing.assert_allclose(found @ x[free], expected, atol=1e-12 * np.abs(expected).max())


def test_low_order_elements_lie_between_neighbouring_nodes(system):
    """The matrix has few entries, is symmetric, and its energies are near the operator's."""
    low, high = low_order(*system), matrix(*system)
    assert low.nnz < 27 * 8**3 and abs(low - low.T).max() < 1e-13
    eigenvalues = np.linalg.eigvals(np.linalg.solve(low.toarray(), high.toarray())).real
    assert 0.3 < eigenvalues.min() and eigenvalues.max() < 4


@pytest.mark.parametrize("library", rivals.LIBRARIES_OF)
def test_solver(system, library, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    high, low = matrix(*system), low_order(*system)
    rhs = np.random.default_rng(2).normal(size=high.shape[0])
    try:
        rival = rivals.prepare(library, high, low, rhs, 1e-9, 100)
        rival.set_up()
    except Skip as missing:
        pytest.skip(str(missing))
    rival.solve()
    assert rival.threads == (1 if library == "pyamg" else 2)
    assert rival.residual() <= 1.01e-9 and 5 < rival.iterations < 60
    np.testing.assert_allclose(rival.x, np.linalg.solve(high.toarray(), rhs), atol=1e-7)
    rival.close()
