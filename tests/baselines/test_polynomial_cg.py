"""The host's conjugate gradients against a direct solver, and against one another."""

import numba
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from baselines.polynomial_cg import library, loops


class Series:
    """The least-squares polynomial of order 2 on [0, 4]: (14 - 7 λ + λ²) / 7, as a Chebyshev series."""

    interval = (0.0, 4.0)
    coefficients = np.polynomial.Polynomial([2, -1, 1 / 7]).convert(
        kind=np.polynomial.Chebyshev, domain=[0, 4]
    ).coef  # fmt: skip


class Given:
    """Any Chebyshev series."""

    def __init__(self, series):
        self.coefficients, self.interval = series.coef, tuple(series.domain)


@pytest.fixture(scope="module")
def system():
    one = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(40, 40))
    matrix = scipy.sparse.kronsum(one, one, format="csr")
    weights = scipy.sparse.diags_array(np.random.default_rng(0).uniform(0.1, 9, matrix.shape[0]))
    matrix = scipy.sparse.csr_array(weights @ matrix @ weights)
    rhs = np.random.default_rng(1).normal(size=matrix.shape[0])
    return matrix, rhs, scipy.sparse.linalg.spsolve(matrix.tocsc(), rhs)


@pytest.fixture(scope="module")
def scaled(system):
    """The eigenvalues and eigenvectors of the matrix scaled to a diagonal of one, and the factors of its rows."""
    matrix = system[0]
    factors = 1 / np.sqrt(matrix.diagonal())
    return factors, *np.linalg.eigh(factors[:, None] * matrix.toarray() * factors)


MAKERS = {
    "one thread": lambda *arguments: loops.Solver(*arguments, threads=1),
    "all threads": loops.Solver,
    "library": library.Solver,
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("polynomial", [None, Series])
def test_solution(system, maker, polynomial):
    matrix, rhs, exact = system
    solver = MAKERS[maker](matrix, polynomial)
    solver.load(rhs)
    outcome = solver.run(1e-10)
    assert outcome.status == "converged" and outcome.residual <= 1e-10
    assert np.linalg.norm(solver.solution() - exact) <= 1e-7 * np.linalg.norm(exact)
    again = solver.run(1e-10)
    assert again.iterations == outcome.iterations
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS


def test_all_take_the_same_iterations(system):
    matrix, rhs, _ = system
    median = {}
    for polynomial in (None, Series):
        counts = []
        for maker in MAKERS.values():
            solver = maker(matrix, polynomial)
            solver.load(rhs)
            counts.append(solver.run(1e-8).iterations)
        assert max(counts) - min(counts) <= 1
        median[polynomial] = sorted(counts)[1]
    # An iteration of order 2 has three products with the matrix.
    assert 3 * median[Series] > median[None] > 1.5 * median[Series] > 0


def test_limits(system):
    matrix, rhs, _ = system
    for maker in MAKERS.values():
        solver = maker(matrix, Series)
        solver.load(rhs)
        outcome = solver.run(1e-10, max_iterations=3)
        assert outcome.status == "iteration limit" and outcome.iterations == 3 and outcome.residual > 1e-10
        solver.load(0 * rhs)
        assert solver.run(1e-10)[:2] == ("converged", 0)
        assert not solver.solution().any()


@pytest.mark.parametrize("threads", [1, None])
@pytest.mark.parametrize("order", range(6))
def test_first_step(system, scaled, order, threads):
    """After one iteration x is (b·z / z·A z) z, z = s(A) b of the scaled system, here by its eigenvectors."""
    (matrix, rhs, _), (factors, values, vectors) = system, scaled
    chosen = np.polynomial.Chebyshev(np.random.default_rng(order).uniform(0.5, 1, order + 1), domain=[-0.5, 2.5])
    solver = loops.Solver(matrix, Given(chosen), threads=threads)
    solver.load(rhs)
    solver.run(0.0, 1)
    b = vectors.T @ (factors * rhs)
    z = chosen(values) * b
    exact = factors * (vectors @ (z * (b @ z) / (z @ (values * z))))
    assert np.linalg.norm(solver.solution() - exact) <= 1e-10 * np.linalg.norm(exact)
