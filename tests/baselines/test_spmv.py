"""The rivals in sparse products against the definition, entry by entry; cuSPARSE where there is a GPU."""

import os

import numpy as np
import pytest
import scipy.sparse

import repro
from baselines import spmv


def matrix(rows=211, columns=90, seed=0):
    """Rows of 0 to 20 entries."""
    random = np.random.default_rng(seed)
    dense = random.normal(size=(rows, columns)) * (random.random((rows, columns)) < random.random((rows, 1)) / 5)
    return scipy.sparse.csr_array(dense), dense


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.cuda] * (spmv.backend(n) == "cuda")) for n in spmv.RIVALS])
def rival(request):
    """A function that packs and multiplies, NumPy arrays in and out."""
    name = request.param

    def product(csr, x, y, *factors, **options):
        packed = spmv.pack(name, csr, x.dtype, **options)
        if spmv.backend(name) == "host":
            packed.multiply(x, y, *factors)
            return packed, y
        import cupy

        y = cupy.asarray(y)
        packed.multiply(cupy.asarray(x), y, *factors)
        return packed, y.get()

    try:
        spmv.pack(name, matrix(6, 6)[0])
    except repro.Skip as missing:
        pytest.skip(str(missing))
    return product


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float32", 1e-4)])
@pytest.mark.parametrize("factors", [(), (-2.0,), (0.5, 1.0), (1.0, -0.25)])
def test_product(rival, dtype, tolerance, factors):
    csr, dense = matrix(210)
    random = np.random.default_rng(1)
    x, before = random.normal(size=90).astype(dtype), random.normal(size=210).astype(dtype)
    alpha, beta = (*factors, *(1.0, 0.0)[len(factors) :])
    expected = alpha * (dense @ x) + (beta * before if beta else 0)
    y = before.copy() if beta else np.full(210, np.nan, dtype)
    packed, found = rival(csr.astype(dtype), x, y, *factors)
    assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max()
    assert packed.nonzeros == csr.nnz and packed.shape == (210, 90) and packed.padding >= 1


def test_what_it_stores(rival):
    csr, _ = matrix(210)
    packed, _ = rival(csr, np.ones(90), np.zeros(210))
    work = packed.least_work()
    assert work.flops == 2 * csr.nnz and work.precision == "float64"
    assert packed.bytes == sum(array.nbytes for array in packed.arrays.values())
    assert 8 * csr.nnz + 8 * 300 <= work.bytes <= packed.bytes + 8 * 300
    assert packed.least_work(beta=1.0).bytes - work.bytes == 8 * 210
    assert work.problem_bytes == 8 * csr.nnz + 8 * 300  # the same whoever multiplies, and in whichever format


def test_numba_uses_all_threads():
    from baselines.spmv import numba_csr

    assert numba_csr._multiply.targetoptions["parallel"]


def test_mkl_is_inspected_on_all_threads_and_says_what_to_do_without():
    try:
        packed = spmv.pack("mkl_csr", matrix()[0])
    except repro.Skip as missing:
        assert "pip install mkl" in missing.remedy
    else:
        assert 1 <= packed.threads <= os.cpu_count()


def test_absent_rivals_say_what_to_do():
    cuda = [name for name in spmv.RIVALS if spmv.backend(name) == "cuda"]
    assert cuda == ["cusparse_bsr", "cusparse_csr", "cusparse_sell"]
    for name in cuda:
        try:
            spmv.pack(name, matrix(6, 6)[0])
        except repro.Skip as missing:
            assert "nvmath-python" in missing.remedy


def test_an_unknown_rival_names_those_there_are():
    with pytest.raises(ValueError, match="'onemkl' is none of cusparse_bsr, "):
        spmv.pack("onemkl", None)


def test_values_are_scattered():
    random = np.random.default_rng(3)
    places, values = random.permutation(300)[:200].astype(np.uint32), random.normal(size=200)
    out = np.full(300, 7.0)
    spmv.scatter(places, values, out)
    assert (out[places] == values).all() and (np.delete(out, places) == 7.0).all()
    with pytest.raises(ValueError, match="uint32"):
        spmv.scatter(places.astype(np.int32), values, out)
    with pytest.raises(ValueError, match="200 places"):
        spmv.scatter(places, values[:-1], out)
