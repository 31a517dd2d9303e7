"""Sums that come with the product and the preconditioner: the iterates equal the iterates of kernels that sum apart."""

from functools import partial

import numpy as np
import pytest

from kernels import spmv
from kernels.krylov import ConjugateGradient, FusedConjugateGradient
from kernels.polynomial import Bounds, Preconditioner, fitted
from tests.kernels.spmv.conftest import elasticity


@pytest.fixture(scope="module", params=[2, 3])
def system(request):
    """A symmetric positive definite matrix of blocks, of more rows than a block of the product has, and bounds."""
    matrix = elasticity({2: 40, 3: 11}[request.param], request.param)
    matrix = (matrix + matrix.T).tocsr()
    matrix.setdiag(0)
    sums = abs(matrix).sum(axis=1)
    matrix.setdiag(1.3 * sums)
    factors = 1 / np.sqrt(matrix.diagonal())
    matrix.data *= factors[matrix.indices] * np.repeat(factors, np.diff(matrix.indptr))
    return matrix.tocsr(), Bounds(0.1, 2.0, 0.1, 1.9, 20)


def solved(device, solver, b):
    x = device.array(np.full(len(b), np.nan))
    outcome = solver.solve(device.array(b.copy()), x, 1e-9)
    return outcome, np.array(device.to_host(x))


@pytest.mark.parametrize("form", ["sbell", "sbell16"])
@pytest.mark.parametrize("precision", [None, "float64", "float32"])
def test_the_same_iterates(device, system, form, precision):
    matrix, bounds = system
    b = np.random.default_rng(3).normal(size=matrix.shape[0])
    packed = spmv.pack(form, device, matrix)
    apply, parts, rounded, precondition = None, 0, None, None
    if precision is not None:
        inner = spmv.pack(form, device, matrix, precision)
        preconditioner = Preconditioner(device, inner, fitted("least-squares", 3, bounds), fuse=True)
        apply, parts, rounded = preconditioner.apply, preconditioner.parts, preconditioner.rounded
        precondition = partial(apply, is_rounded=rounded is not None)
        assert parts > 1 and (rounded is None) == (precision == "float64")
    fused = FusedConjugateGradient(device, packed, precondition, parts, rounded)
    plain = ConjugateGradient(device, packed.multiply, matrix.shape[0], apply)
    outcome, x = solved(device, fused, b)
    expected, same = solved(device, plain, b)
    assert outcome.converged and outcome.iterations == expected.iterations > 5
    assert np.allclose(outcome.history, expected.history, rtol=1e-4 if precision == "float32" else 1e-8)
    assert np.linalg.norm(matrix @ x - b) <= 1e-8 * np.linalg.norm(b)
    assert np.linalg.norm(x - same) <= 1e-7 * np.linalg.norm(same)
    again, _ = solved(device, fused, b)
    assert np.array_equal(outcome.history, again.history)
    assert plain.vector_work().bytes - fused.vector_work().bytes >= 2 * 8 * len(b)
