"""Local Fourier analysis against the eigenvalues of a two-level cycle on a periodic mesh, built entry by entry."""

import numpy as np
import pytest

from kernels.multigrid import fourier

SHAPES = {
    "square": [(0, 0), (1, 0), (0, 1), (1, 1)],
    "flat": [(0, 0), (3, 0), (0, 0.5), (3, 0.5)],
    "sheared": [(0, 0), (1, 0.3), (-0.8, 1), (0.2, 1.3)],
}


def torus(corners, n):
    """The matrix of -Δ on a torus of n × n such elements, by Gauss's rule with three points."""
    p = np.array(corners, float)
    t, w = np.polynomial.legendre.leggauss(3)
    local = np.zeros((4, 4))
    jacobian = np.stack([p[1] - p[0], p[2] - p[0]], axis=1)
    for x, wx in zip((t + 1) / 2, w / 2, strict=True):
        for y, wy in zip((t + 1) / 2, w / 2, strict=True):
            reference = np.array([[y - 1, x - 1], [1 - y, -x], [-y, 1 - x], [y, x]])
            slopes = reference @ np.linalg.inv(jacobian)
            local += wx * wy * abs(np.linalg.det(jacobian)) * slopes @ slopes.T
    matrix = np.zeros((n * n, n * n))
    for i in range(n):
        for j in range(n):
            nodes = [(i + a) % n + n * ((j + b) % n) for b in (0, 1) for a in (0, 1)]
            matrix[np.ix_(nodes, nodes)] += local
    return matrix


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("steps", "damping"), [(2, 0.7), (8, 0.7), (3, 0.5)])
def test_factors_are_those_of_a_torus(shape, steps, damping, n=8):
    fine, coarse = torus(SHAPES[shape], n), torus(SHAPES[shape], n // 2)
    weights = np.zeros((n, n // 2))
    for i in range(n // 2):
        for step, weight in ((-1, 0.5), (0, 1.0), (1, 0.5)):
            weights[(2 * i + step) % n, i] += weight
    prolongation = np.kron(weights, weights)
    correct = np.eye(n * n) - prolongation @ np.linalg.pinv(coarse) @ prolongation.T @ fine
    smooth = np.linalg.matrix_power(np.eye(n * n) - damping * fine / fine[0, 0], steps)
    # Waves of whole numbers of periods: the constant is no error, and the coarse grid does not see its partners.
    waves = 2 * np.pi * np.arange(-n // 4, n // 4) / n
    found = np.sort(np.abs(np.linalg.eigvals(smooth @ correct)))[::-1]
    expected = largest_but_constant(SHAPES[shape], waves, steps, damping)
    assert found[np.abs(found - 1) > 1e-9][0] == pytest.approx(expected, rel=1e-6)


def largest_but_constant(corners, waves, steps, damping):
    """The module's factor at these waves; of the constant only its partners, which are smoothed alone, count."""
    matrices = fourier._stiffness(np.array([corners], float))
    grid = np.array([(x, y) for x in waves for y in waves])
    partners = fourier._symbol(matrices, fourier.SHIFTS[1:])[0] / np.trace(matrices[0])
    others = grid[np.abs(grid).max(axis=1) > 1e-12]
    return max(fourier._radii(matrices, others, steps, damping).max(), np.abs((1 - damping * partners) ** steps).max())


def test_stretched_elements_are_slower_and_the_worst_is_found():
    square, flat = (np.array(SHAPES[name], float) for name in ("square", "flat"))
    factors = fourier.two_grid_factors(np.stack([square, flat]), 8, 0.5)
    assert factors[0] < 0.1 < 0.5 < factors[1] < 1
    assert fourier.worst_factor(np.stack([square] * 9 + [flat]), 8, 0.5) == pytest.approx(factors[1], rel=1e-12)


def test_size_and_place_do_not_matter():
    sheared = np.array(SHAPES["sheared"], float)
    turned = sheared @ np.array([[0.6, -0.8], [0.8, 0.6]])
    factors = fourier.two_grid_factors(np.stack([sheared, 7 * sheared + 3, turned]), 8, 0.7, 16)
    assert factors == pytest.approx(factors[0] * np.ones(3), rel=1e-9)
