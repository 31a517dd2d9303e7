"""The inverse of the coarsest matrix, and what it tells of matrices that have none."""

import numpy as np
import pytest

from kernels.amg.checks import UnsuitableMatrix
from kernels.amg.coarsest import TILE, factored, swept, symmetric_inverse
from kernels.amg.transfer import DenseSolve


def positive(n, seed=3):
    root = np.random.default_rng(seed).normal(size=(n, n))
    return root @ root.T / n + np.diag(np.linspace(0.1, 2, n))


@pytest.mark.parametrize("inverted", [swept, factored])
@pytest.mark.parametrize("n", [1, TILE - 1, TILE, 2 * TILE + 1])
def test_the_inverse_and_the_least_pivot_of_cholesky(device, n, inverted):
    matrix = positive(n)
    inverse, least = inverted(device, device.array(matrix))
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
    assert not swept(device, matrix)[1] > 1e-12 and not factored(device, matrix)[1] > 1e-12


@pytest.mark.parametrize("n", [1, 7, 8, 61, 138])  # eights, and what is left of them
@pytest.mark.parametrize(("dtype", "ends"), [
    ("float32", ("float32", "float32")), ("float32", ("float64", "float64")), ("float64", ("float64", "float64")),
])  # fmt: skip
def test_the_coarsest_solve_is_a_dense_product(device, dtype, ends, n):
    random = np.random.default_rng(n)
    inverse, b = random.normal(size=(n, n)).astype(dtype), random.normal(size=n).astype(ends[0])
    x = device.array(np.full(n, np.nan), ends[1])
    DenseSolve(device, device.xp.asarray(inverse), dtype, ends).solve(device.array(b), x)
    error = np.array(device.to_host(x)) - inverse.astype(float) @ b.astype(float)
    size = abs(inverse.astype(float)) @ abs(b.astype(float))
    assert (abs(error) <= 4 * np.sqrt(n) * np.finfo(dtype).eps * size).all()
