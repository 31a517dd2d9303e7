"""Where rounding has stopped conjugate gradients, a correction goes on from there."""

import numpy as np
import pytest

from kernels.polynomial import Solver
from tests.kernels.polynomial.test_solver import on_host


@pytest.mark.parametrize("polynomial", ["least-squares", None])
def test_a_correction_goes_on_from_where_rounding_stopped(device, elasticity, polynomial):
    matrix, rhs = elasticity
    factors = 1 / np.sqrt(matrix.diagonal())
    solver = Solver(device, matrix, form="sell", polynomial=polynomial)
    solver.load(rhs)

    def recursion(tolerance):
        iterations = solver._iteration.solve(solver._b, solver._x, tolerance, 20000).iterations
        return iterations, solver._iteration.true_residual(solver._b, solver._x)

    floor = recursion(1e-16)[1]  # which rounding leaves, however long it goes on
    tolerance = 0.6 * floor
    iterations, left = recursion(tolerance)
    assert left > tolerance
    outcome = solver.run(tolerance)
    assert outcome.converged and outcome.residual <= tolerance
    assert iterations < outcome.iterations < 1.3 * iterations, "it does not begin anew"
    found = np.linalg.norm(factors * (rhs - matrix @ on_host(device, solver.solution())))
    assert found <= floor * np.linalg.norm(factors * rhs)  # x is rounded once more when unscaled
