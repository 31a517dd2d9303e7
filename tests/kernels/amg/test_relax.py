"""Relaxation on patches against dense iterations, in every format."""

import shutil

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import patch_matrix
from kernels.amg.patch_matrix import INSIDES
from kernels.amg.relax import PatchRelaxation, estimate
from kernels.device import Unavailable, openmp, source

SIZES = (1, 97, 130, 33, 64, 31, 160)
TOLERANCE = {"float32": 2e-5, "float64": 1e-13}


class Dense:
    """A level in dense arrays: random, symmetric, with patches of all sizes, one of them full."""

    def __init__(self, seed=0, full=(4,), sizes=SIZES):
        self.offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        n = self.n = int(self.offsets[-1])
        random = np.random.default_rng(seed)
        half = np.where(random.random((n, n)) < 0.015, random.standard_normal((n, n)), 0)
        for patch in full:
            rows = slice(self.offsets[patch], self.offsets[patch + 1])
            half[rows, rows] = random.standard_normal((sizes[patch], sizes[patch]))
        self.a = half + half.T
        np.fill_diagonal(self.a, 0)
        self.d = abs(self.a).sum(axis=1) + 0.1
        self.a += np.diag(self.d)
        patch = np.repeat(np.arange(len(sizes)), sizes)
        self.inside = np.where(patch[:, None] == patch, self.a, 0)
        scaled = self.a / np.sqrt(np.outer(self.d, self.d))
        self.radius = float(np.linalg.eigvalsh(scaled).max())

    def iterated(self, u, shifted, weight, count):
        for _ in range(count):
            u = u + weight / self.d * (shifted - self.inside @ u)
        return u

    def approximate_inverse(self, weight, count):
        """Return B⁻¹ = Σ_{k<n} (I - ω D⁻¹ A_p)ᵏ ω D⁻¹."""
        step = np.eye(self.n) - weight / self.d[:, None] * self.inside
        return sum(np.linalg.matrix_power(step, k) for k in range(count)) @ np.diag(weight / self.d)


@pytest.fixture(scope="module")
def dense():
    return Dense()


def relaxation(device, dense, inside, dtype="float64", iterations=3, ends=None):
    matrix = device.sparse.csr_matrix(scipy.sparse.csr_matrix(dense.a))
    packed = patch_matrix.pack(device, matrix, device.xp.asarray(dense.offsets), inside, dtype)
    made = PatchRelaxation(device, packed, dense.radius, iterations, ends)
    estimate(device, [made])
    return made


@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize(("inside", "dtype"), [*((inside, "float32") for inside in INSIDES), ("half", "float64")])
def test_relaxes_as_dense_iterations_do(device, dense, inside, dtype, iterations):
    made = relaxation(device, dense, inside, dtype, iterations, ends=("float64", "float64"))
    weight, outer = made.weights.inner, made.weights.outer
    random = np.random.default_rng(1)
    b, before = random.standard_normal((2, dense.n)).astype(dtype).astype(float)
    u, residual = (device.array(np.full(dense.n, np.nan, dtype)) for _ in range(2))

    made.prerelax(device.array(b), u, residual)
    expected = outer * dense.iterated(np.zeros(dense.n), b, weight, iterations)

    def assert_near(found, wanted):
        assert np.abs(np.array(device.to_host(found)) - wanted).max() <= TOLERANCE[dtype] * np.abs(wanted).max()

    assert_near(u, expected)
    assert_near(residual, b - dense.inside @ expected)  # the paper's: without the boundary
    apart = [device.array(np.full(dense.n, np.nan, dtype)) for _ in range(2)]
    made.prerelax_apart(device.array(b), *apart)
    assert_near(apart[0], expected)
    assert_near(apart[1], b - dense.inside @ expected)
    made.compensate(u, residual)
    assert_near(residual, b - dense.a @ expected)
    made.before(device.array(b), u, residual)
    assert_near(residual, b - dense.a @ expected)

    rest, result = device.array(b.astype(dtype)), device.array(np.full(dense.n, np.nan))
    made.after(rest, device.array(before.astype(dtype)), result)
    wanted = dense.iterated(before, b - (dense.a - dense.inside) @ before, weight, iterations)
    assert_near(result, before + outer * (wanted - before))
    # The same by B⁻¹, which makes the cycle symmetric.
    assert_near(result, before + outer * dense.approximate_inverse(weight, iterations) @ (b - dense.a @ before))


@pytest.mark.parametrize(("inside", "dtype"), [("ell", "float32"), ("ell", "float64"), ("half", "float64")])
def test_by_narrow_vectors(narrow, dense, inside, dtype):
    test_relaxes_as_dense_iterations_do(narrow, dense, inside, dtype, 2)


@pytest.mark.parametrize("inside", ["half", "ell", "csr"])
def test_results_are_the_same_bits_again(device, dense, inside):
    made = relaxation(device, dense, inside, "float32")
    b = device.array(np.random.default_rng(2).standard_normal(dense.n).astype("float32"))
    found = []
    for _ in range(5):
        u, residual = (device.zeros(dense.n, "float32") for _ in range(2))
        made.before(b, u, residual)
        found.append((np.array(device.to_host(u)), np.array(device.to_host(residual))))
    assert all(np.array_equal(found[0], again) for again in found[1:])


def test_rows_hand_their_products_to_slots_of_their_own(device, dense, idle_slots_apart):
    """No two rows of a patch write to one slot but by their padding; and the slot of that matters not."""
    b = device.array(np.random.default_rng(2).standard_normal(dense.n).astype("float32"))
    found = []
    for spread in (lambda device, packed: packed, idle_slots_apart):
        packed = spread(device, relaxation(device, dense, "half", "float32").matrix)
        made = PatchRelaxation(device, packed, dense.radius, 3)
        u, residual = (device.zeros(dense.n, "float32") for _ in range(2))
        made.before(b, u, residual)
        found.append((np.array(device.to_host(u)), np.array(device.to_host(residual))))
    assert np.array_equal(found[0], found[1])
    headers, slices, columns = (np.array(device.to_host(a)) for a in (packed.headers, packed.slices, packed.columns))
    for (_, rows, _, _, first_slice, slots, _, _), size in zip(headers, SIZES, strict=True):
        assert rows == size
        writers = {}
        for k in range(rows):
            begin, width = slices[first_slice + k // 32, :2]
            lanes = min(32, rows - 32 * (k // 32))
            for slot in columns[begin + lanes * np.arange(width) + k % 32] >> 16:
                assert writers.setdefault(slot, k) == k and (slot < slots + rows)


@pytest.mark.parametrize("iterations", [1, 3, 8])
def test_weights_make_relaxation_positive_definite_and_convergent(device, dense, iterations):
    made = relaxation(device, dense, "ell", iterations=iterations)
    weights = made.weights
    inverse = dense.approximate_inverse(weights.inner, iterations)
    assert np.abs(inverse - inverse.T).max() <= 1e-14 * np.abs(inverse).max()
    assert np.linalg.eigvalsh((inverse + inverse.T) / 2).min() > 0
    root = np.linalg.cholesky(dense.a)
    values = np.linalg.eigvalsh(root.T @ inverse @ root)
    assert 0.8 * values.max() <= weights.largest <= 1.02 * values.max()
    assert weights.outer * values.max() < 1.95


def test_an_eigenvalue_beyond_two_is_weighted_down(device):
    """Eight rows all joined with the same weight, a patch each: B⁻¹ A has the eigenvalue 1 + 7 × 0.9."""
    n = 8
    matrix = scipy.sparse.csr_matrix(np.full((n, n), 0.9) + 0.1 * np.eye(n))
    packed = patch_matrix.pack(device, device.sparse.csr_matrix(matrix), device.xp.arange(n + 1), "ell", "float64")
    made = PatchRelaxation(device, packed, 1.8, 1)
    estimate(device, [made])  # too small a spectral radius, so that the inner weight is 1
    assert np.isclose(made.weights.largest, 7.3, rtol=1e-3)
    assert np.isclose(made.weights.outer * 7.3, 1.5, rtol=1e-3)


@pytest.mark.parametrize("inside", ["half", "ell", "csr"])
def test_the_order_of_threads_does_not_matter(dense, inside, tmp_path, monkeypatch):
    """Between two barriers no thread may read what another writes: if one does, the opposite order shows it."""
    found = []
    for reverse in (False, True):
        if reverse:
            shutil.copytree(source.PRELUDES, tmp_path / "preludes", ignore=shutil.ignore_patterns("*.py"))
            prelude = tmp_path / "preludes" / "prelude_openmp.h"
            text = prelude.read_text()
            for before, after in (
                ("int t = 0, dialect_thread = 0; t < BLOCK; ++t, ++dialect_thread",
                 "int t = BLOCK - 1, dialect_thread = t; t >= 0; --t, --dialect_thread"),
                ("(n) + 0) i = 0; i < (n); ++i", "(n) + 0) i = (n) - 1; i >= 0; --i"),
            ):  # fmt: skip
                assert before in text
                text = text.replace(before, after)
            prelude.write_text(text)
            monkeypatch.setattr(source, "PRELUDES", tmp_path / "preludes")
        try:
            device = openmp.Device()
        except Unavailable as missing:
            pytest.skip(str(missing))
        made = relaxation(device, dense, inside)
        u, residual, result = (np.zeros(dense.n) for _ in range(3))
        b = np.random.default_rng(4).standard_normal(dense.n)
        made.before(b, u, residual)
        made.after(b.copy(), u, result)
        found.append((made.matrix.values, made.matrix.columns, u, residual, result))
    assert all(np.array_equal(first, second) for first, second in zip(*found, strict=True))


def test_no_iterations(device, dense):
    with pytest.raises(ValueError, match="0 inner iterations"):
        relaxation(device, dense, "ell", iterations=0)


def test_least_work(device, dense):
    made = relaxation(device, dense, "half", "float32", ends=("float64", "float32"))
    inside, boundary = made.matrix.nonzeros_inside, made.matrix.nonzeros_boundary
    assert made.prerelax_work().bytes == inside // 2 * 8 + (8 + 4 + 4 + 4) * dense.n
    assert made.compensate_work().bytes == boundary * 8 + 12 * dense.n
    assert made.before_work().bytes == made.prerelax_work().bytes + made.compensate_work().bytes
    assert made.after_work().bytes == inside // 2 * 8 + 16 * dense.n + made.compensate_work().bytes
    assert made.prerelax_work().flops >= 3 * 2 * inside and made.prerelax_work().precision == "float32"
