"""Conjugate gradients against SciPy's and dense solutions, and the answer to every system that has none."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from kernels import spmv
from kernels.krylov import ConjugateGradient, whole
from kernels.krylov.graph import missing


def spd(n, seed=0, condition=1e3):
    """Return a dense symmetric positive definite matrix with eigenvalues from 1 to `condition`."""
    random = np.random.default_rng(seed)
    basis = np.linalg.qr(random.standard_normal((n, n)))[0]
    matrix = (basis * np.geomspace(1, condition, n)) @ basis.T
    return (matrix + matrix.T) / 2


def laplacian(n, shift=0.0):
    """Return the one-dimensional Laplacian with natural ends: its null space is the constants where shift is 0."""
    off = np.full(n - 1, -1.0)
    ends = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    return scipy.sparse.diags_array([off, ends + shift, off], offsets=[-1, 0, 1]).tocsr()


def operator(device, matrix):
    """Return what multiplies by `matrix`: through the host, and on a GPU, whose memory that is not, by a kernel."""
    if device.is_gpu:
        return spmv.pack("csr_vector", device, scipy.sparse.csr_array(matrix)).multiply

    def multiply(x, y):
        device.to_host(y)[:] = matrix @ device.to_host(x)

    return multiply


def solve(device, matrix, b, precondition=None, **options):
    n = len(b)
    x = device.array(np.full(n, np.nan))  # what was there before does not matter
    m = None if precondition is None else operator(device, precondition)
    solver = ConjugateGradient(device, operator(device, matrix), n, m)
    outcome = solver.solve(device.array(b), x, **options)
    return outcome, np.array(device.to_host(x)), solver


@pytest.mark.parametrize("n", [1, 2, 7, 300, 1025])
def test_random_systems(device, n):
    matrix = spd(n, seed=n)
    b = np.random.default_rng(n).standard_normal(n)
    outcome, x, solver = solve(device, matrix, b, tolerance=1e-12)
    expected = np.linalg.solve(matrix, b)
    assert outcome.status == "converged" and outcome.converged
    assert np.linalg.norm(x - expected) <= 1e-9 * np.linalg.norm(expected)
    assert outcome.residual == outcome.history[-1] <= 1e-12
    assert len(outcome.history) == outcome.iterations + 1 and outcome.history[0] == 1
    residual = solver.true_residual(device.array(b), device.array(x))
    assert np.isclose(residual, np.linalg.norm(b - matrix @ x) / np.linalg.norm(b), rtol=1e-2, atol=1e-14)


def test_a_gpus_own_loop_does_what_the_hosts_does(device):
    """Under CUDA a graph repeats the iteration, where the driver has such graphs, and the host reads nothing."""
    b, found = device.array(np.random.default_rng(5).standard_normal(300)), []
    for graph in (None, False):
        x = device.array(np.full(300, np.nan))
        solver = ConjugateGradient(device, operator(device, spd(300, seed=5)), 300, graph=graph)
        found.append((solver.solve(b, x), np.array(device.to_host(x)), solver.loop))
    (ours, x, loop), (theirs, y, other) = found
    assert other == "host" and loop == ("graph" if device.backend == "cuda" and not missing() else "host")
    assert ours.status == theirs.status == "converged" and ours.iterations == theirs.iterations
    assert np.array_equal(x, y) and np.array_equal(ours.history, theirs.history)


@pytest.mark.parametrize("preconditioned", [False, True])
def test_iterations_and_residuals_are_those_of_scipy(device, preconditioned):
    """SciPy's has the same recurrences, so that iterates agree until rounding has grown."""
    n = 20_011
    random = np.random.default_rng(5)
    matrix = laplacian(n, 0.01) + scipy.sparse.diags_array(random.uniform(0, 3, n))
    b = random.standard_normal(n)
    m = scipy.sparse.diags_array(1 / matrix.diagonal()).tocsr() if preconditioned else None
    outcome, x, _ = solve(device, matrix.tocsr(), b, m, tolerance=1e-8)
    norms = []
    theirs, _ = scipy.sparse.linalg.cg(
        matrix, b, rtol=1e-8, M=m, callback=lambda x: norms.append(np.linalg.norm(b - matrix @ x) / np.linalg.norm(b))
    )
    assert outcome.converged and outcome.iterations == len(norms)
    assert np.allclose(outcome.history[1:], norms, rtol=1e-4)
    assert np.linalg.norm(x - theirs) <= 1e-9 * np.linalg.norm(theirs)


def test_a_solve_gives_the_same_bits_again(device):
    matrix, b = spd(500, 2), np.random.default_rng(1).standard_normal(500)
    solver = ConjugateGradient(device, operator(device, matrix), 500)
    found = []
    for scale in (1.0, 3.0, 1.0):
        x = device.zeros(500, np.float64)
        outcome = solver.solve(device.array(scale * b), x, tolerance=1e-10)
        found.append((outcome, np.array(device.to_host(x))))
    assert np.array_equal(found[0][1], found[2][1])
    assert np.array_equal(found[0][0].history, found[2][0].history)
    assert np.allclose(found[1][1], 3 * found[0][1], rtol=1e-9)


def test_longer_histories_than_before(device):
    matrix, b = laplacian(1500, 1e-7), np.random.default_rng(0).standard_normal(1500)
    solver = ConjugateGradient(device, operator(device, matrix), 1500)
    x, rhs = device.zeros(1500, np.float64), device.array(b)
    short = solver.solve(rhs, x, max_iterations=5)
    long = solver.solve(rhs, x, max_iterations=1400, tolerance=1e-14)
    assert short.status == "iteration limit" and short.iterations == 5
    assert len(long.history) > 1002 and np.array_equal(long.history[:6], short.history)
    # Whether the limit or the tolerance ends it, the last residual is the last of the history.
    assert long.residual == long.history[-1]


def test_zero_right_hand_side(device):
    outcome, x, _ = solve(device, spd(50), np.zeros(50))
    assert outcome.status == "converged" and outcome.iterations == 0 and outcome.residual == 0
    assert np.array_equal(x, np.zeros(50))


@pytest.mark.parametrize("where", ["matrix", "right-hand side", "preconditioner"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_not_a_number(device, where, value):
    matrix, m, b = spd(40), np.eye(40), np.ones(40)
    {"matrix": matrix, "preconditioner": m}.get(where, b[None])[0, 3] = value
    outcome, _, _ = solve(device, matrix, b, m)
    assert outcome.status == "not a number"
    assert outcome.iterations <= 1


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-400, 2.0**1000])
def test_right_hand_sides_far_from_one(device, scale):
    matrix, b = spd(40), np.ones(40)
    plain, expected, _ = solve(device, matrix, b)
    outcome, x, _ = solve(device, matrix, b * scale)
    assert outcome.converged and outcome.iterations == plain.iterations
    assert np.array_equal(x, expected * scale)  # a power of two changes no digit


def test_iteration_limit(device):
    matrix, b = spd(200, condition=1e6), np.ones(200)
    outcome, x, _ = solve(device, matrix, b, max_iterations=3)
    assert outcome.status == "iteration limit" and outcome.iterations == 3 and outcome.residual > 1e-8
    assert np.isclose(outcome.residual, np.linalg.norm(b - matrix @ x) / np.linalg.norm(b), rtol=1e-6)
    outcome, x, _ = solve(device, matrix, b, max_iterations=0)
    assert outcome.status == "iteration limit" and outcome.iterations == 0 and np.array_equal(x, np.zeros(200))


@pytest.mark.parametrize("where", ["matrix", "preconditioner"])
def test_indefinite(device, where):
    matrix, m = spd(60), np.eye(60)
    values, vectors = np.linalg.eigh(matrix)
    values[::2] *= -1
    flipped = (vectors * values) @ vectors.T
    if where == "matrix":
        matrix = (flipped + flipped.T) / 2
    else:
        m = (flipped + flipped.T) / 2
    outcome, x, _ = solve(device, matrix, np.random.default_rng(3).standard_normal(60), m)
    assert outcome.status == "indefinite"
    assert np.isfinite(x).all()


def test_a_negative_definite_matrix_is_indefinite(device):
    outcome, x, _ = solve(device, -spd(30), np.ones(30))
    assert outcome.status == "indefinite" and outcome.iterations == 0 and np.array_equal(x, np.zeros(30))


@pytest.mark.parametrize("rhs", ["null space", "random"])
def test_a_singular_matrix_with_a_right_hand_side_out_of_its_range(device, rhs):
    n = 900
    b = np.ones(n) if rhs == "null space" else np.random.default_rng(8).standard_normal(n) + 1
    outcome, _, _ = solve(device, laplacian(n), b, max_iterations=5000)
    assert outcome.status in ("indefinite", "iteration limit")  # and never 'converged': there is no solution


def test_a_singular_matrix_with_a_right_hand_side_in_its_range(device):
    n = 400
    b = np.random.default_rng(8).standard_normal(n)
    b -= b.mean()
    outcome, x, _ = solve(device, laplacian(n), b, tolerance=1e-9)
    assert outcome.converged
    assert np.linalg.norm(b - laplacian(n) @ x) <= 1e-8 * np.linalg.norm(b)


def test_a_processor_does_all_iterations_in_one_kernel(device):
    """Without a preconditioner, for slices whose rows are sorted or not, a last slice that is not full among them."""
    n, random = 20_011, np.random.default_rng(5)
    matrix = scipy.sparse.csr_array(laplacian(n, 0.01) + scipy.sparse.diags_array(random.uniform(0, 3, n)))
    far = random.permutation(n)[:900]  # rows of other lengths
    links = scipy.sparse.csr_array((np.full(900, 0.1), (far, far[::-1])), shape=matrix.shape)
    matrix, b = matrix + links + scipy.sparse.diags_array(np.full(n, 0.2)), random.standard_normal(n)
    for window in (1, 1024):
        packed = spmv.pack("sell", device, matrix, window=window)
        at_once = whole.solver(device, packed)
        assert (at_once is None) == (device.backend != "openmp")
        found = []
        for each in (at_once, None):
            x = device.array(np.full(n, np.nan))
            solver = ConjugateGradient(device, packed.multiply, n, whole=each)
            outcomes = [solver.solve(device.array(rhs), x, **limit) for rhs, limit in
                        ((b, {}), (np.zeros(n), {}), (b, {"max_iterations": 3}), (b, {}))]  # fmt: skip
            found.append((outcomes, np.array(device.to_host(x))))
            assert not each or solver.loop == "kernel"
        (ours, x), (theirs, y) = found
        assert [one.status for one in ours] == ["converged", "converged", "iteration limit", "converged"]
        assert [one.iterations for one in ours] == [one.iterations for one in theirs]
        assert np.allclose(ours[0].history, theirs[0].history, rtol=1e-6)
        assert np.array_equal(ours[0].history, ours[3].history)
        assert np.linalg.norm(x - y) <= 1e-10 * np.linalg.norm(y)
    packed = spmv.pack("sell", device, -matrix)
    outcome = ConjugateGradient(device, packed.multiply, n, whole=whole.solver(device, packed)).solve(
        device.array(b), device.array(x)
    )
    assert outcome.status == "indefinite" and outcome.iterations == 0


def test_by_narrow_vectors(narrow):
    test_a_processor_does_all_iterations_in_one_kernel(narrow)


def test_what_is_asked_for_must_make_sense(device):
    solver = ConjugateGradient(device, operator(device, np.eye(3)), 3)
    x, b = device.zeros(3, np.float64), device.array(np.ones(3))
    for wrong in ({"tolerance": -1.0}, {"tolerance": np.nan}, {"max_iterations": -1}):
        with pytest.raises(ValueError, match="negative or no number"):
            solver.solve(b, x, **wrong)
    with pytest.raises(ValueError, match="0 unknowns"):
        ConjugateGradient(device, operator(device, np.eye(3)), 0)


def test_vector_work(device):
    plain = ConjugateGradient(device, lambda x, y: None, 1000).vector_work()
    preconditioned = ConjugateGradient(device, lambda x, y: None, 1000, lambda r, z: None).vector_work()
    assert plain.bytes == 8 * 11 * 1000 and preconditioned.bytes == 8 * 13 * 1000
    assert preconditioned.flops > plain.flops > 0
