"""Whole solves of a cantilever, every format, against a direct solver."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from kernels.polynomial import Solver, scaled


def on_host(device, x):
    return x.get() if device.backend == "cuda" else np.asarray(x)


@pytest.fixture(scope="module")
def exact(elasticity):
    return scipy.sparse.linalg.spsolve(elasticity[0].tocsc(), elasticity[1])


@pytest.mark.parametrize("precision", ["mixed", "double"])
@pytest.mark.parametrize("polynomial", ["neumann", "least-squares", "chebyshev", None])
def test_solution(device, elasticity, exact, polynomial, precision):
    matrix, rhs = elasticity
    solver = Solver(device, matrix, form="sell", polynomial=polynomial, precision=precision)
    x, outcome = solver.solve(device.array(rhs.copy()), tolerance=1e-10)
    assert outcome.converged
    assert np.linalg.norm(on_host(device, x) - exact) <= 1e-6 * np.linalg.norm(exact)
    assert np.linalg.norm(rhs - matrix @ on_host(device, x)) <= 1e-9 * np.linalg.norm(rhs)


@pytest.mark.parametrize("form", ["csr_scalar", "csr_merge", "bell", "sbell"])
def test_formats(device, elasticity, exact, form):
    matrix, rhs = elasticity
    solver = Solver(device, matrix, form=form)
    x, outcome = solver.solve(rhs, tolerance=1e-10)
    assert outcome.converged
    assert np.linalg.norm(on_host(device, x) - exact) <= 1e-6 * np.linalg.norm(exact)


def test_order_and_precision_in_iterations(device, elasticity):
    """More products, fewer iterations; single precision costs none; Jacobi is the scaled system's plain method."""
    matrix, rhs = elasticity
    system = scaled(device, matrix)
    count = {}
    for polynomial, order in ((None, 0), ("least-squares", 2), ("least-squares", 6)):
        for precision in ("double", "mixed"):
            solver = Solver(device, system, form="sell", polynomial=polynomial, order=order, precision=precision)
            count[order, precision] = solver.solve(rhs)[1].iterations
    assert count[0, "double"] > 2 * count[2, "double"] > 3 * count[6, "double"]
    assert all(abs(count[order, "mixed"] - count[order, "double"]) <= 1 for order in (0, 2, 6))
    factors = 1 / np.sqrt(matrix.diagonal())
    by_scipy = scipy.sparse.diags_array(factors) @ matrix @ scipy.sparse.diags_array(factors)
    steps = []
    scipy.sparse.linalg.cg(by_scipy, factors * rhs, rtol=1e-6, callback=steps.append)
    assert abs(count[0, "double"] - len(steps)) <= 1


@pytest.mark.parametrize("scale", [1e-60, 1e60, 0.0])
def test_right_hand_sides_of_any_size(device, elasticity, exact, scale):
    """Beyond the range of single precision, and zero."""
    matrix, rhs = elasticity
    x, outcome = Solver(device, matrix, form="sell").solve(scale * rhs, tolerance=1e-10)
    assert outcome.converged and (outcome.iterations > 0) == (scale > 0)
    assert np.linalg.norm(on_host(device, x) - scale * exact) <= 1e-6 * scale * np.linalg.norm(exact)


@pytest.mark.parametrize("polynomial", ["least-squares", None])
def test_the_true_residual_ends_a_solve(device, elasticity, polynomial):
    """Where rounding has parted the recursive one from it, a correction follows; where nothing helps, it is said."""
    matrix, rhs = elasticity
    factors = 1 / np.sqrt(matrix.diagonal())
    solver = Solver(device, matrix, form="sell", polynomial=polynomial)
    solver.load(rhs)
    statuses = set()
    for tolerance in 10.0 ** -np.arange(6, 17):
        recursion = solver._iteration.solve(solver._b, solver._x, tolerance, 20000)
        parted = solver._iteration.true_residual(solver._b, solver._x) > tolerance
        outcome = solver.run(tolerance)
        found = np.linalg.norm(factors * (rhs - matrix @ on_host(device, solver.solution())))
        found /= np.linalg.norm(factors * rhs)
        assert outcome.residual == pytest.approx(found, rel=0.05, abs=3e-12)  # x is rounded once more when unscaled
        assert outcome.converged == (outcome.residual <= tolerance)
        assert (outcome.iterations > recursion.iterations) == parted and len(outcome.history) == outcome.iterations + 1
        statuses.add((parted, outcome.status))
    assert (
        {(False, "converged"), (True, "rounding")}
        <= statuses
        <= {(False, "converged"), (True, "converged"), (True, "rounding")}
    )


def test_scaling(device, elasticity):
    matrix = (elasticity[0] + elasticity[0].T) / 2  # symmetric to the last bit
    system = scaled(device, matrix)
    values, columns = on_host(device, system.csr.values), on_host(device, system.csr.columns)
    made = scipy.sparse.csr_array((values, columns, on_host(device, system.csr.row_offsets)), shape=matrix.shape)
    root = np.sqrt(matrix.diagonal())
    assert abs(made.toarray() * np.outer(root, root) - matrix.toarray()).max() <= 1e-14 * abs(matrix).max()
    assert abs(made.diagonal() - 1).max() <= 1e-15 and (made != made.T).nnz == 0
    assert system.row_sum == pytest.approx(abs(made).sum(axis=1).max())


def test_refusals(device, elasticity):
    with pytest.raises(ValueError, match="precision"):
        Solver(device, elasticity[0], precision="half")
    with pytest.raises(ValueError, match="diagonal"):
        scaled(device, scipy.sparse.csr_array(np.array([[1.0, 0.5], [0.5, 0.0]])))
    with pytest.raises(ValueError, match="not symmetric"):
        scaled(device, scipy.sparse.csr_array(np.ones((2, 3))))
