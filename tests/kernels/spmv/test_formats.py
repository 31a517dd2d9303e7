"""Every format on every back end against SciPy, and what happens at the limits."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels import spmv
from kernels.spmv._csr import LIMIT, check_32_bits
from kernels.spmv.csr_vector import WIDTHS
from tests.kernels.spmv.conftest import MATRICES, elasticity, with_lengths

SHIPPED = (
    "bell", "coo", "csr_merge", "csr_scalar", "csr_vector", "ellpack", "ellpack_r", "ellwarp", "ellwarp2", "hyb",
    "sbell", "sbell16", "sell", "sell16",
)  # fmt: skip
BLOCKED = ("bell", "sbell", "sbell16")
OPTIONS = {
    "csr_vector": [{"width": width} for width in WIDTHS],
    "sell": [{"slice_size": 32, "window": 1}, {"slice_size": 96, "window": 7}, {"slice_size": 64, "window": 10**6}],
    "sbell": [{"size": 2, "window": 1}, {"size": 3, "window": 5}, {"slice_size": 64, "window": 10**6}],
    "sell16": [{"slice_size": 64, "window": 1}, {"window": 10**6}],
    "sbell16": [{"size": 2, "window": 1}, {"size": 3, "window": 5}, {"slice_size": 64, "window": 10**6}],
    "bell": [{"size": 2}, {"size": 3}],
    "csr_merge": [{"items": 1}, {"items": 4}, {"items": 16}],
    "ellwarp": [{"window": 1}, {"window": 64, "block": 32}, {"coalesced": False, "block": 256}],
    "ellwarp2": [
        {"threshold": 1},
        {"threshold": 2, "window": 1},
        {"threshold": 3, "coalesced": False, "window": 32},
        {"threshold": 10**6, "block": 96},
    ],
    "hyb": [{"width": 0}, {"width": 2}, {"width": 10**4}],
}
TOLERANCE = {"float64": 1e-14, "float32": 1e-5}


def blocks_of(matrix, size):
    """The same pattern, each entry a block that is full; its first block without one entry."""
    blocked = scipy.sparse.csr_array(scipy.sparse.kron(matrix, np.ones((size, size))))
    blocked.data = np.random.default_rng(7).normal(size=blocked.nnz)
    return blocked


def check(packed, matrix, alpha=1.0, beta=0.0, seed=0):
    """Compare a product with SciPy's in double precision, by what rounding of each row may come to."""
    device, random = packed.device, np.random.default_rng(seed)
    x = random.normal(size=matrix.shape[1]).astype(packed.dtype)
    before = random.normal(size=matrix.shape[0]).astype(packed.dtype) if beta else np.full(matrix.shape[0], np.nan)
    y = device.array(before.astype(packed.dtype))
    around = np.full(x.size + 128, np.nan, x.dtype)  # a column of padding, or past the last one, would find it
    around[64:-64] = x
    packed.multiply(device.array(around[64:-64]), y, alpha, beta)
    found = np.array(device.to_host(y), dtype=float)
    expected = alpha * (matrix @ x.astype(float)) + (beta * before if beta else 0)
    scale = abs(alpha) * (abs(matrix) @ np.abs(x)) + abs(beta) * np.abs(np.nan_to_num(before)) + 1e-300
    assert not np.isnan(found).any()
    assert (np.abs(found - expected) / scale).max(initial=0) <= TOLERANCE[packed.dtype.name] * 10
    return found


def pack(name, device, matrix, dtype="float64", **options):
    """Pack a matrix, a blocked one in formats that want blocks; return it with what SciPy multiplies by."""
    if name in BLOCKED:
        size = options.setdefault("size", 2)
        matrix = blocks_of(matrix, size)
    matrix = matrix.astype(dtype)
    return spmv.pack(name, device, matrix, dtype, **options), matrix.astype(float)


def own_may_refuse(name, monkeypatch):
    """Let a format that is not shipped refuse matrices: the test with one is skipped, and says why."""
    packed = spmv.pack

    def pack_or_skip(*args, **options):
        try:
            return packed(*args, **options)
        except spmv.Unsuitable as refused:
            pytest.skip(f"{name} refuses it: {refused}")

    if name not in SHIPPED:
        monkeypatch.setattr(spmv, "pack", pack_or_skip)


@pytest.fixture(params=spmv.FORMATS)
def name(request, monkeypatch):
    own_may_refuse(request.param, monkeypatch)
    return request.param


@pytest.mark.parametrize(
    ("name", "raised"), [("own", pytest.skip.Exception), *((each, spmv.Unsuitable) for each in SHIPPED)]
)
def test_a_format_of_ones_own_alone_may_refuse(openmp, monkeypatch, name, raised):
    def refuse(*args, **options):
        raise spmv.Unsuitable("too ragged")

    monkeypatch.setattr(spmv, "_format", lambda name: refuse)
    own_may_refuse(name, monkeypatch)
    with pytest.raises(raised, match="too ragged"):
        pack(name, openmp, MATRICES["hex"]())
    assert {*SHIPPED} <= {*spmv.FORMATS}


@pytest.mark.parametrize("case", MATRICES)
def test_against_scipy(name, device, case):
    for dtype in ("float64", "float32") if case in ("hex", "ragged", "two long rows that meet") else ("float64",):
        packed, matrix = pack(name, device, MATRICES[case](), dtype)
        check(packed, matrix)
        check(packed, matrix, alpha=-1.5, beta=0.25)
        assert packed.shape == matrix.shape and packed.dtype == dtype
        matrix.sum_duplicates()
        assert packed.nonzeros == matrix.nnz and packed.stored >= matrix.nnz


@pytest.mark.parametrize("case", MATRICES)
def test_by_narrow_vectors(narrow, case):
    for name in ("csr_vector", "ellwarp", "sbell", "sell", "sell16"):
        for dtype in ("float64", "float32"):
            check(*pack(name, narrow, MATRICES[case](), dtype), alpha=-1.5, beta=0.25)


@pytest.mark.parametrize("narrow", [("-msse4a",)], indirect=True, ids=["of AMD"])
@pytest.mark.parametrize("case", MATRICES)
def test_by_long_vectors_without_gathers(narrow, case):
    """As on AMD's processors, which SSE4A tells apart: with AVX-512 they have the longest vectors, and no gathers."""
    test_by_narrow_vectors(narrow, case)


@pytest.mark.parametrize("case", ["ragged", "mostly empty"])
def test_options(name, device, case):
    for options in OPTIONS.get(name, []):
        check(*pack(name, device, MATRICES[case](), **options), alpha=0.5, beta=-1.0)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_matrices(name, device, data):
    rows, columns = data.draw(st.integers(0, 400)), data.draw(st.integers(1, 300))
    kind = data.draw(st.sampled_from(["short", "power", "some long", "empty ends"]))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    lengths = {
        "short": lambda: random.integers(0, 9, rows),
        "power": lambda: random.pareto(1.0, rows).astype(int),
        "some long": lambda: np.where(random.random(rows) < 0.02, columns, random.integers(0, 3, rows)),
        "empty ends": lambda: np.where(np.abs(np.arange(rows) - rows / 2) < rows / 4, 5, 0),
    }[kind]()
    packed, matrix = pack(name, device, with_lengths(np.minimum(lengths, columns), columns, rows))
    alpha, beta = data.draw(st.sampled_from([(1.0, 0.0), (2.0, -0.5), (0.0, 1.0), (-1.0, 1.0)]))
    check(packed, matrix, alpha, beta)


def test_not_a_number_stays_in_its_rows(name, device):
    """Padding multiplies no x, so that NaN and infinity come to the rows alone that hold them."""
    packed, matrix = pack(name, device, MATRICES["ragged"]())
    for column in (0, matrix.shape[1] - 1):
        x = np.ones(matrix.shape[1])
        x[[column, column // 2]] = np.nan, np.inf
        y = device.zeros(matrix.shape[0], "float64")
        packed.multiply(device.array(x), y)
        with np.errstate(invalid="ignore"):
            expected = matrix @ x
        assert np.array_equal(np.isfinite(device.to_host(y)), np.isfinite(expected))


def test_the_same_bits_each_time(name, device):
    packed, matrix = pack(name, device, MATRICES["two long rows that meet"]())
    found = [check(packed, matrix) for _ in range(3)]
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_the_matrix_given_is_not_changed(name, device):
    matrix = MATRICES["quad" if name in BLOCKED else "duplicates"]()
    matrix.data = np.random.default_rng(8).permutation(matrix.data)
    before = [array.copy() for array in (matrix.data, matrix.indices, matrix.indptr)]
    packed = spmv.pack(name, device, matrix)
    y = device.zeros(matrix.shape[0], "float64")
    packed.multiply(device.array(np.ones(matrix.shape[1])), y)
    assert all(np.array_equal(a, b) for a, b in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True))
    matrix.data[:] = 0  # what is packed is a copy, or is never changed either: the product knows the values given


def test_explicit_zeros_are_entries(name, device):
    matrix = MATRICES["hex"]()
    matrix.data[::7] = 0
    packed = spmv.pack(name, device, matrix)
    assert packed.nonzeros == matrix.nnz
    check(packed, matrix)


def test_bytes_and_least_work(name, device):
    matrix = MATRICES["hex"]()
    packed = spmv.pack(name, device, matrix)
    work = packed.least_work()
    assert packed.bytes == sum(array.nbytes for array in packed.arrays.values())
    assert work.flops == 2 * matrix.nnz and work.precision == "float64"
    vectors = 8 * sum(matrix.shape)
    index = {"bell": 4 / 9, "sbell": 4 / 9, "sbell16": 2 / 9, "sell16": 2, "coo": 8}.get(name, 4)
    least = (8 + index) * matrix.nnz + vectors
    assert least <= work.bytes <= 1.07 * least + 4000
    assert work.bytes <= packed.bytes + vectors
    assert packed.least_work(beta=1.0).bytes - work.bytes == 8 * matrix.shape[0]
    assert work.problem_bytes == 8 * matrix.nnz + vectors < work.bytes
    assert packed.least_work(beta=1.0).problem_bytes - work.problem_bytes == 8 * matrix.shape[0]
    single = spmv.pack(name, device, matrix, "float32")
    assert single.least_work().precision == "float32"
    assert work.bytes - single.least_work().bytes >= 4 * matrix.nnz
    assert single.least_work().problem_bytes == work.problem_bytes / 2


def test_vectors_are_checked(name, device):
    packed, matrix = pack(name, device, MATRICES["wide"]())
    rows, columns = matrix.shape
    x, y = device.zeros(columns, "float64"), device.zeros(rows, "float64")
    with pytest.raises(ValueError, match="takes x of"):
        packed.multiply(y, x)
    with pytest.raises(TypeError, match="float64"):
        packed.multiply(device.zeros(columns, "float32"), y)
    square, matrix = pack(name, device, MATRICES["ragged"]().tocsr()[:, :700])
    x = device.zeros(matrix.shape[0], "float64")
    if matrix.shape[0] == matrix.shape[1]:
        with pytest.raises(ValueError, match="same array"):
            square.multiply(x, x)


def test_padding(openmp):
    """Two rows in three are short: what each format stores can be counted by hand."""
    device, lengths = openmp, np.tile([1, 1, 6], 64)  # 192 rows, 512 entries, a multiple of 32 in every third
    matrix = with_lengths(lengths, 50)
    stored = {"ellpack": 192 * 6, "ellpack_r": 192 * 6, "csr_scalar": 512, "coo": 512, "csr_merge": 512}
    for name, count in stored.items():
        assert spmv.pack(name, device, matrix).stored == count, name
    assert spmv.pack("hyb", device, matrix, width=1).stored == 512
    assert spmv.pack("hyb", device, matrix).width == 6, "which costs less than 320 entries in coordinates"
    assert spmv.pack("hyb", device, with_lengths([1, 1, 1, 1, 1, 30] * 64, 50)).width == 1
    assert spmv.pack("sell", device, matrix, window=1).stored == 192 * 6
    assert spmv.pack("sell", device, matrix, window=192).stored == 512
    assert spmv.pack("sell", device, matrix).stored == 512, "by default rows are sorted where it saves"
    regular = elasticity(12, 3)[600:1200]
    assert spmv.pack("sell", device, with_lengths([5] * 320, 50)).slices.order is None, "and only there"
    assert spmv.pack("sell", device, regular).padding >= 1
    assert spmv.pack("ellpack", device, scipy.sparse.csr_array((0, 3))).padding == 1


def test_blocks(device):
    for size in (2, 3):
        matrix = elasticity(7, size)
        for name in BLOCKED:
            packed = spmv.pack(name, device, matrix)
            assert packed.size == size
            check(packed, matrix)
    matrix = scipy.sparse.csr_array(elasticity(6, 3)[3:603:3].tocsr())
    lone = scipy.sparse.csr_array(scipy.sparse.eye_array(60))
    for name in BLOCKED:
        with pytest.raises(spmv.Unsuitable, match="not made of 3 × 3 blocks"):
            spmv.pack(name, device, matrix, size=3)
        with pytest.raises(spmv.Unsuitable, match=r"2 × 2 blocks would hold 2\.00 values for an entry"):
            spmv.pack(name, device, lone)
        packed = spmv.pack(name, device, lone, size=3, max_fill=3)
        assert packed.padding >= 3
        check(packed, lone)


@pytest.mark.parametrize("window", [1, 100])
def test_blocks_that_walk(device, monkeypatch, window):
    """Blocks of 64 rows, with more than one round on few rows."""
    from kernels.spmv import sell

    monkeypatch.setattr(device, "compute_units", 3)
    monkeypatch.setattr(sell, "WALKING_BLOCK", 64)
    monkeypatch.setattr(sell, "CPU_BLOCK", 2)
    lengths = np.minimum(np.random.default_rng(3).pareto(1.0, 3001).astype(int), 90)
    packed, matrix = pack("sell", device, with_lengths(lengths, 900, 3001), walkers=2, window=window)
    assert packed.blocks == 6 and packed.chunk > 7 * 64
    check(packed, matrix, alpha=0.5, beta=-1.0)


@pytest.mark.parametrize("name", ["sbell", "sbell16"])
@pytest.mark.parametrize("size", [2, 3])
def test_a_product_brings_sums(device, name, size):
    """x·Ax, x·x and Ax·Ax, and of a step of a recurrence its inner product with a vector, each in parts."""
    matrix = elasticity({2: 30, 3: 9}[size], size)
    n, random = matrix.shape[0], np.random.default_rng(11)
    x, other = random.normal(size=n), random.normal(size=n)
    packed = spmv.pack(name, device, matrix, window=1)
    given, y = device.array(x.copy()), device.zeros(n, "float64")
    partial = device.array(np.full(3 * packed.parts, np.nan))
    packed.measure(given, y, partial)
    product = matrix @ x
    assert np.allclose(device.to_host(y), product, rtol=1e-12, atol=1e-12)
    found = np.array(device.to_host(partial)).reshape(3, -1).sum(axis=1)
    assert np.allclose(found, [x @ product, x @ x, product @ product], rtol=1e-12)
    measured, before = device.array(other.copy()), device.array(x.copy())
    packed.combine(given, y, 2.0, -1.0, 0.5, 3.0, measured, before, measured, partial)
    step = 2 * product - x + 0.5 * x + 3 * other
    assert np.allclose(device.to_host(y), step, rtol=1e-12, atol=1e-12)
    assert np.array(device.to_host(partial))[: packed.parts].sum() == pytest.approx(other @ step, rel=1e-12)


@pytest.mark.parametrize(("name", "size"), [("sell16", 1), ("sbell16", 2), ("sbell16", 3)])
@pytest.mark.parametrize(("span", "far"), [(65534, 0), (65535, 1), (69000, 1)])
def test_a_slice_that_spans_more_than_16_bits_reach_keeps_its_columns(device, name, size, span, far):
    """The last of three slices of rows of two has a row whose second column lies `span` blocks behind the first."""
    rows = np.arange(96)
    columns = np.stack([rows // 32, rows // 32 + 5], axis=1)
    columns[-1] = 2, 2 + span
    wide = scipy.sparse.csr_array((np.arange(1.0, 193), columns.ravel(), 2 * np.arange(97)), shape=(96, 70000))
    blocked = blocks_of(wide, size)
    packed = spmv.pack(name, device, blocked, window=1, **({"size": size} if size > 1 else {}))
    assert packed.arrays["columns"].dtype == np.uint16
    assert list(device.to_host(packed.arrays["first_columns"])) == [0, 1, -1 if far else 2]
    assert ("far" in packed.arrays) == bool(far) and (not far or packed.arrays["far"].size == 64)
    check(packed, blocked)
    check(packed, blocked, alpha=2.0, beta=0.5)


@pytest.mark.parametrize(("name", "size"), [("sell16", 1), ("sbell16", 2)])
def test_16_bits_are_refused_where_most_slices_span_more(device, name, size):
    columns = np.tile([0, 66000], 64)
    wide = scipy.sparse.csr_array((np.ones(128), columns, 2 * np.arange(65)), shape=(64, 70000))
    assert "128 of 128 columns" in spmv.refusals(device, blocks_of(wide, size))[name]
    with pytest.raises(spmv.Unsuitable, match="span more than 65534"):
        spmv.pack(name, device, blocks_of(wide, size))
    shifted = spmv.pack(name, device, blocks_of(scipy.sparse.eye_array(96, 200000, k=150000).tocsr(), size))
    assert list(device.to_host(shifted.arrays["first_columns"])) == [150000, 150032, 150064]


def test_what_cannot_be_held(device):
    huge = scipy.sparse.csr_array(
        (np.ones(1), np.array([2**31 + 5], dtype=np.int64), np.array([0, 1], dtype=np.int64)), shape=(1, 2**31 + 9)
    )
    for name in spmv.FORMATS:
        with pytest.raises(spmv.Unsuitable, match="columns are beyond 32-bit indices"):
            spmv.pack(name, device, huge)
    check_32_bits("entries", LIMIT)
    with pytest.raises(spmv.Unsuitable, match=f"{LIMIT + 1} entries"):
        check_32_bits("entries", LIMIT + 1)
    # A row of 30 000 entries among 4 000 000 rows of one: 120 000 000 000 values, refused before they are made.
    lengths = np.ones(4_000_000, dtype=np.int64)
    lengths[7] = 30_000
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    long = scipy.sparse.csr_array((np.ones(offsets[-1]), np.arange(offsets[-1]) % 30_000, offsets))
    found = spmv.refusals(device, long)
    assert "GB" in found["ellpack"] and "GB" in found["ellpack_r"] and "blocks would hold" in found["sbell"]
    assert {name for name in SHIPPED if not found[name]} == {
        "coo", "csr_merge", "csr_scalar", "csr_vector", "ellwarp", "ellwarp2", "hyb", "sell", "sell16",
    }  # fmt: skip
    assert set(spmv.refusals(device, huge)) == set(spmv.FORMATS) and all(spmv.refusals(device, huge).values())


def test_wrong_arguments(device):
    matrix = MATRICES["ragged"]()
    with pytest.raises(ValueError, match="'sel' is none of bell, "):
        spmv.pack("sel", device, matrix)
    with pytest.raises(TypeError, match="tocsr"):
        spmv.pack("sell", device, matrix.tocsc())
    with pytest.raises(TypeError, match="float64 or float32"):
        spmv.pack("sell", device, matrix, "float16")
    with pytest.raises(spmv.Unsuitable, match="complex"):
        spmv.pack("sell", device, matrix.astype(complex))
    with pytest.raises(ValueError, match="multiple of 32"):
        spmv.pack("sell", device, matrix, slice_size=48)
    with pytest.raises(ValueError, match="windows of 0"):
        spmv.pack("sell", device, matrix, window=0)
    with pytest.raises(ValueError, match="threads a row"):
        spmv.pack("csr_vector", device, matrix, width=3)
    matrix.indices[3] = 800
    with pytest.raises(spmv.Unsuitable, match="outside 0 to 799"):
        spmv.pack("sell", device, matrix)


def test_a_canonical_matrix_is_packed_in_both_precisions(device):
    matrix = MATRICES["duplicates"]()
    csr = spmv.canonical(device, matrix)
    for dtype in ("float64", "float32"):
        packed = spmv.pack("sell", device, csr, dtype)
        assert packed.dtype == dtype
        check(packed, matrix)


def test_integers_are_taken(device):
    matrix = MATRICES["ragged"]()
    matrix.data = np.arange(matrix.nnz)
    check(spmv.pack("sell", device, matrix), matrix)
