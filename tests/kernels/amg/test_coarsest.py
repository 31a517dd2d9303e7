"""The inverse of the coarsest matrix, and what it tells of matrices that have none."""

import numpy as np
import pytest

from kernels.amg.checks import UnsuitableMatrix
from kernels.amg.coarsest import TILE, swept, symmetric_inverse


def positive(n, seed=3):
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T / n + np.diag(np.linspace(0.1, 2, n))


@pytest.mark.parametrize("n", [1, TILE - 1, TILE, 2 * TILE + 1])
def test_steps_over_tiles_give_the_inverse_and_the_least_pivot_of_cholesky(device, n):
    matrix = positive(n)
    inverse, least = swept(device, device.array(matrix))
    found = np.array(device.to_host(inverse))
    assert np.allclose(found, np.linalg.inv(matrix), rtol=1e-9, atol=1e-11) and (found == found.T).all()
    pivots = np.diagonal(np.linalg.cholesky(matrix)) ** 2 / np.diagonal(matrix)
    assert least == pytest.approx(pivots.min(), rel=1e-9)


@pytest.mark.parametrize("shift, what", [(0, "singular to rounding"), (-0.5, "indefinite")])
def test_what_has_no_positive_definite_inverse_is_refused(device, shift, what):
    n = TILE + 3
    path = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    path[0, 0] = path[-1, -1] = 1  # the Laplacian of a path, whose null space are the constants
    matrix = device.array(path + shift * np.eye(n))
    with pytest.raises(UnsuitableMatrix, match=what):
        symmetric_inverse(device, matrix)
    assert not swept(device, matrix)[1] > 1e-12
