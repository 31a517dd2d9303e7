"""The V-cycle against a dense one, and what makes it a preconditioner: symmetry and positive definiteness."""

import numpy as np
import pytest
import scipy.sparse

from kernels import amg
from kernels.amg.cycle import Cycle
from kernels.amg.patch_matrix import fastest


def helmholtz(n=9, seed=0):
    """Return a seven-point operator with coefficients between 1 and 20, its rows shuffled."""
    random = np.random.default_rng(seed)
    index = random.permutation(n**3).reshape(n, n, n)
    pairs = np.hstack([
        [index[1:].ravel(), index[:-1].ravel()],
        [index[:, 1:].ravel(), index[:, :-1].ravel()],
        [index[:, :, 1:].ravel(), index[:, :, :-1].ravel()],
    ])  # fmt: skip
    weights = random.uniform(1, 20, pairs.shape[1])
    half = scipy.sparse.coo_matrix((weights, pairs), (n**3, n**3))
    edges = (half + half.T).tocsr()
    return (scipy.sparse.diags(np.asarray(edges.sum(axis=1)).ravel() + 0.1) - edges).tocsr()


def hierarchy(device, **options):
    matrix = device.sparse.csr_matrix(helmholtz())
    return amg.set_up(device, matrix, **{"patch_size": 60, "coarsest": 12} | options)


def host(device, value):
    """Return a matrix of the device as a dense array."""
    return np.array((value.get() if hasattr(value, "get") else value).toarray())


def dense_cycle(device, built, cycle, relaxation, iterations):
    """Return the matrix of the V-cycle from dense arrays and the weights alone (fu2014, algorithm 5.2)."""

    def inverse(k):
        level = built.levels[k]
        if k == len(built.levels) - 1:
            return np.linalg.inv(host(device, level.matrix))
        a, p = host(device, level.matrix), host(device, level.prolongator)
        n, weights = len(a), cycle.relaxations[k].weights
        offsets = np.array(level.patch_offsets.get() if hasattr(level.patch_offsets, "get") else level.patch_offsets)
        patch = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
        within = np.where(patch[:, None] == patch, a, 0) if relaxation == "patch" else a
        step = np.eye(n) - weights.inner / np.diag(a)[:, None] * within
        b = weights.outer * sum(np.linalg.matrix_power(step, i) for i in range(iterations))
        b = b @ np.diag(weights.inner / np.diag(a))
        smoothed = np.eye(n) - b @ a
        corrected = np.eye(n) - p @ inverse(k + 1) @ p.T @ a
        return (np.eye(n) - smoothed @ corrected @ smoothed) @ np.linalg.inv(a)

    return inverse(0)


def as_matrix(device, cycle, n):
    """Return the matrix of a cycle from what it makes of unit vectors."""
    columns, z = [], device.array(np.full(n, np.nan))
    for unit in np.eye(n):
        cycle.apply(device.array(unit), z)
        columns.append(np.array(device.to_host(z)))
    return np.array(columns).T


@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("relaxation", ["patch", "jacobi", "jacobi-merged"])
def test_is_the_dense_cycle(device, relaxation, iterations):
    built = hierarchy(device)
    assert len(built.levels) >= 3
    layout = "sell" if relaxation == "jacobi-merged" else "hyb"
    cycle = Cycle(device, built, relaxation, iterations, "half", "float64", layout)
    wanted = dense_cycle(device, built, cycle, relaxation, iterations if relaxation == "patch" else 1)
    found = as_matrix(device, cycle, len(wanted))
    assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
    assert np.abs(found - found.T).max() <= 1e-13 * np.abs(found).max()
    values = np.linalg.eigvals(found @ host(device, built.levels[0].matrix))
    assert np.abs(values.imag).max() < 1e-9 and 0.05 < values.real.min() and values.real.max() <= 1 + 1e-9


@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_is_symmetric_and_positive_definite_in_single_precision(device, iterations):
    built = hierarchy(device)
    cycle, exact = (Cycle(device, built, "patch", iterations, "half", dtype) for dtype in ("float32", "float64"))
    random = np.random.default_rng(iterations)
    n = built.levels[0].rows

    def applied(cycle, r):
        z = device.zeros(n, np.float64)
        cycle.apply(device.array(r), z)
        return np.array(device.to_host(z))

    for _ in range(5):
        x, y = random.standard_normal((2, n))
        mx, my = applied(cycle, x), applied(cycle, y)
        assert abs(x @ my - y @ mx) <= 1e-6 * np.sqrt((x @ mx) * (y @ my))
        assert x @ mx > 0 and y @ my > 0
        wanted = applied(exact, x)
        assert np.linalg.norm(mx - wanted) <= 1e-5 * np.linalg.norm(wanted)


def test_a_single_level_is_solved_directly(device):
    built = hierarchy(device, coarsest=1000)
    assert len(built.levels) == 1
    cycle = Cycle(device, built, dtype="float64")
    matrix = host(device, built.levels[0].matrix)
    r, z = np.random.default_rng(0).standard_normal(len(matrix)), device.zeros(len(matrix), np.float64)
    cycle.apply(device.array(r), z)
    assert np.allclose(matrix @ device.to_host(z), r, rtol=1e-9, atol=1e-9)
    assert cycle.facts() == {}


def test_a_level_that_is_too_full_for_a_format_has_another(device, monkeypatch):
    built = hierarchy(device)
    wanted = as_matrix(device, Cycle(device, built, inside="half", dtype="float64"), built.levels[0].rows)
    monkeypatch.setattr(device, "shared_bytes", 8 << 10)
    cycle = Cycle(device, built, inside="half", dtype="float64")
    assert {relaxation.matrix.inside for relaxation in cycle.relaxations} >= {"ell"}
    assert np.abs(as_matrix(device, cycle, len(wanted)) - wanted).max() <= 1e-12 * np.abs(wanted).max()


def test_work_and_facts(device):
    built = hierarchy(device)
    cycle = Cycle(device, built)
    nonzeros = built.levels[0].matrix.nnz
    work = cycle.work()
    # Twice the inside's half, twice the boundary, and transfers: more than all entries once in single precision.
    assert work.bytes > nonzeros * 8 and work.flops > 4 * nonzeros and work.precision == "float32"
    assert {relaxation.matrix.inside for relaxation in cycle.relaxations} == {fastest(device)}
    facts = cycle.facts()
    assert 0 < facts["fraction_inside"] < 1 and 0 < facts["largest_eigenvalue"] < 2
    assert facts["bytes_inside"] > 0 and facts["bytes_boundary"] > 0
    assert Cycle(device, built, "jacobi").work().bytes > nonzeros * 16
    with pytest.raises(ValueError, match="'chebyshev' is none of patch, jacobi, jacobi-merged"):
        Cycle(device, built, "chebyshev")
    with pytest.raises(ValueError, match="merged kernels take a matrix in sell, not hyb"):
        Cycle(device, built, "jacobi-merged", layout="hyb")
