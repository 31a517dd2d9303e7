"""Jacobi's preconditioner within the kernels of conjugate gradients: SciPy's iterates, and every way to end."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from kernels import spmv
from kernels.krylov import jacobi, whole
from kernels.krylov.jacobi import JacobiConjugateGradient

FORMS = {"apart": False, "together": True, "whole": True}


@pytest.fixture(params=FORMS, autouse=True)
def form(request, monkeypatch):
    """Everything is so of both forms of an iteration, and of all iterations in one kernel."""
    clusters, together = jacobi.has_clusters, FORMS[request.param]

    def wanted(device):
        if request.param == "whole" and device.backend not in ("cuda", "openmp"):
            pytest.skip("threads that meet within a launch are CUDA's and the pool's")
        if together and device.backend == "cuda" and not clusters(device):
            pytest.skip("a GPU without clusters")
        return together

    monkeypatch.setattr(jacobi, "has_clusters", wanted)
    solver = whole.solver
    monkeypatch.setattr(whole, "solver", lambda *asked: solver(*asked) if request.param == "whole" else None)


@pytest.fixture(scope="module")
def system():
    """A matrix whose diagonal spans four orders of magnitude, and a right-hand side."""
    n, random = 20_011, np.random.default_rng(5)
    off = np.full(n - 1, -1.0)
    laplacian = scipy.sparse.diags_array([off, np.full(n, 2.01), off], offsets=[-1, 0, 1])
    scale = scipy.sparse.diags_array(10.0 ** random.uniform(-1, 1, n))
    return scipy.sparse.csr_array(scale @ laplacian @ scale), random.standard_normal(n)


def solver_of(device, matrix, inverse=None, dtype="float64"):
    packed = spmv.pack("ellwarp", device, matrix, dtype)
    inverse = 1 / matrix.diagonal() if inverse is None else inverse
    inverse = device.array(inverse.astype(dtype))
    return JacobiConjugateGradient(device, packed.multiply, inverse, dtype=dtype, matrix=packed)


def solved(device, solver, b, **options):
    x = device.array(np.full(len(b), np.nan, solver.dtype))
    outcome = solver.solve(device.array(b.astype(solver.dtype)), x, **options)
    return outcome, np.array(device.to_host(x))


def test_iterations_and_residuals_are_those_of_scipy(device, system):
    matrix, b = system
    outcome, x = solved(device, solver_of(device, matrix), b, tolerance=1e-8)
    norms = []
    theirs, _ = scipy.sparse.linalg.cg(
        matrix, b, rtol=1e-8, M=scipy.sparse.diags_array(1 / matrix.diagonal()),
        callback=lambda x: norms.append(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b)),
    )  # fmt: skip
    assert outcome.converged and 10 < outcome.iterations == len(norms)
    assert np.allclose(outcome.history[1:], norms, rtol=1e-4)
    assert np.linalg.norm(x - theirs) <= 1e-9 * np.linalg.norm(theirs)


def test_a_new_diagonal_counts_from_the_next_solve(device, system):
    """As a heart's does, whose matrix changes in place."""
    matrix, b = system
    solver = solver_of(device, matrix, np.ones(len(b)))
    plain, _ = solved(device, solver, b, tolerance=1e-6, max_iterations=400)
    if device.is_gpu:
        solver._inverse[...] = device.array(1 / matrix.diagonal())
    else:
        device.to_host(solver._inverse)[:] = 1 / matrix.diagonal()
    first, x = solved(device, solver, b, tolerance=1e-6)
    again, same = solved(device, solver, b, tolerance=1e-6)
    assert first.iterations < plain.iterations / 2
    assert np.array_equal(x, same) and np.array_equal(first.history, again.history)


def test_single_precision(device, system):
    matrix, b = system
    solver = solver_of(device, matrix, dtype="float32")
    outcome, x = solved(device, solver, b, tolerance=1e-5)
    assert outcome.converged and x.dtype == np.float32
    assert np.linalg.norm(b - matrix @ x.astype(float)) <= 5e-4 * np.linalg.norm(b)  # rounding in A x alone is 1e-4


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**1000])
def test_right_hand_sides_far_from_one(device, system, scale):
    matrix, b = (part[:500, :500] if part.ndim == 2 else part[:500] for part in system)
    solver = solver_of(device, scipy.sparse.csr_array(matrix))
    ones = np.ones_like(b)
    plain, expected = solved(device, solver, ones)
    outcome, x = solved(device, solver, scale * ones)
    assert outcome.converged and outcome.iterations == plain.iterations and np.array_equal(x, scale * expected)


@pytest.mark.parametrize(
    ("value", "status"), [(np.nan, "not a number"), (np.inf, "not a number"), (-1e9, "indefinite")]
)
def test_a_diagonal_that_is_none(device, system, value, status):
    matrix, b = system
    inverse = 1 / matrix.diagonal()
    inverse[7] = value
    outcome, x = solved(device, solver_of(device, matrix, inverse), b)
    assert outcome.status == status and outcome.iterations <= 1 and np.isfinite(x).all()


def test_what_ends_it(device, system):
    matrix, b = system
    solver = solver_of(device, matrix)
    outcome, x = solved(device, solver, np.zeros_like(b))
    assert outcome.converged and outcome.iterations == 0 and not x.any()
    outcome, x = solved(device, solver, b, max_iterations=3)
    assert outcome.status == "iteration limit" and outcome.iterations == 3
    assert np.isclose(outcome.residual, np.linalg.norm(b - matrix @ x) / np.linalg.norm(b), rtol=1e-6)
    outcome, _ = solved(device, solver_of(device, -matrix, 1 / matrix.diagonal()), b)
    assert outcome.status == "indefinite"
    assert solver.vector_work().bytes == 8 * 13 * len(b)
