"""Bounds of spectra that are known."""

import numpy as np
import pytest
import scipy.sparse

from kernels.polynomial import bounds


def found(device, by_scipy, matrix, **options):
    matrix = scipy.sparse.csr_array(matrix)
    return bounds(device, by_scipy(device, matrix, "float64").multiply, matrix.shape[0], **options)


def with_spectrum(values, seed=0):
    q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))[0]
    return (q * values) @ q.T


SPECTRA = {
    "uniform": np.linspace(0.01, 2.2, 150),
    "one far above": np.append(np.linspace(0.1, 1, 149), 5.0),
    "clustered above": np.append(np.geomspace(1e-4, 1, 100), np.full(50, 2.0)),
    "wide": np.geomspace(1e-6, 1e6, 150),
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("seed", range(3))
def test_the_spectrum_is_enclosed(device, by_scipy, name, seed):
    values = SPECTRA[name]
    got = found(device, by_scipy, with_spectrum(values, seed), seed=seed)
    assert got.lower <= values.min() and values.max() <= got.upper <= 1.3 * values.max()
    rounding = 1e-12 * values.max()
    assert values.min() - rounding <= got.smallest_ritz <= got.largest_ritz <= values.max() + rounding
    assert got.steps == 20


def test_of_elasticity(device, by_scipy, scaled_dense):
    matrix, values, _ = scaled_dense
    row_sum = float(abs(matrix).sum(axis=1).max())
    got = found(device, by_scipy, matrix, row_sum=row_sum)
    assert got.lower <= values[0] and values[-1] <= got.upper <= 1.05 * values[-1]
    assert found(device, by_scipy, matrix, steps=2, row_sum=2.5).upper <= 2.5
    many = found(device, by_scipy, matrix, steps=400)
    assert many.smallest_ritz == pytest.approx(values[0], rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 5, 4097])
def test_one_eigenvalue(device, by_scipy, n):
    got = found(device, by_scipy, 3 * scipy.sparse.eye_array(n))
    assert got.steps <= 2
    assert (got.smallest_ritz, got.largest_ritz) == pytest.approx((3, 3))
    assert got.lower <= 3 * (1 + 1e-12) and 3 <= got.upper * (1 + 1e-12) and got.upper < 3.2


def test_refusals(device, by_scipy):
    with pytest.raises(ValueError, match="positive definite"):
        found(device, by_scipy, np.diag(np.linspace(-1, 2, 40)))
    with pytest.raises(ValueError, match="no number"):
        found(device, by_scipy, np.diag([1.0, np.nan, 2.0]))
    with pytest.raises(ValueError, match="no spectrum"):
        bounds(device, None, 0)


def test_start_is_the_same_everywhere(device, by_scipy):
    matrix = with_spectrum(SPECTRA["uniform"])
    got = found(device, by_scipy, matrix, steps=3)
    assert got.largest_ritz == pytest.approx(REFERENCE.setdefault("ritz", got.largest_ritz), rel=1e-10)


REFERENCE = {}
