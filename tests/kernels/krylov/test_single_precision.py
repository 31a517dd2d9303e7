"""Conjugate gradients with vectors in single precision: the scalars of double, solutions to rounding."""

import numpy as np
import pytest
import scipy.sparse

from kernels import spmv
from kernels.krylov import ConjugateGradient


@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_solves_to_the_rounding_of_single_precision(device, scale):
    """b as small as 1e-30: its squares would vanish in single precision, and most of its entries' in sums of it."""
    n = 3001
    random = np.random.default_rng(0)
    off = np.full(n - 1, -1.0)
    matrix = scipy.sparse.diags_array([off, random.uniform(2.1, 4, n), off], offsets=[-1, 0, 1]).tocsr()
    b = (scale * random.standard_normal(n)).astype(np.float32)
    packed = spmv.pack("csr_scalar", device, scipy.sparse.csr_array(matrix), dtype="float32")
    solver = ConjugateGradient(device, packed.multiply, n, dtype="float32")
    x = device.zeros(n, np.float32)
    outcome = solver.solve(device.array(b), x, 1e-6)
    expected = scipy.sparse.linalg.spsolve(matrix.tocsc(), b.astype(float))
    assert outcome.converged and solver.true_residual(device.array(b), x) < 3e-6
    assert np.abs(np.array(device.to_host(x), float) - expected).max() <= 5e-5 * np.abs(expected).max()
    assert solver.vector_work().precision == "float32"
    with pytest.raises(TypeError, match="float32"):
        solver.solve(device.array(b.astype(np.float64)), x)
