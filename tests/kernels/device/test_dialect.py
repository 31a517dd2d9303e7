"""One suite for all back ends: what the dialect promises, each promise by a small kernel and a NumPy oracle."""

import numpy as np
import pytest

FILL = """
KERNEL number2(GLOBAL int *out)
{
    OUTER2(bx, by);
    INNER2(i, j) {
        out[((by * 3 + bx) * BLOCK_Y + j) * BLOCK_X + i] = 1000 * (int)by + 100 * (int)bx + 10 * j + i;
    }
}
KERNEL number3(GLOBAL int *out)
{
    OUTER3(bx, by, bz);
    const long block = (bz * 3 + by) * 2 + bx;
    INNER3(i, j, k) {
        out[block * BLOCK + (k * BLOCK_Y + j) * BLOCK_X + i] = 1000 * (int)block + 100 * k + 10 * j + i;
    }
}
KERNEL linear(GLOBAL int *out)
{
    OUTER(block);
    INNER(t) { out[block * BLOCK + t] = t; }
}
"""


def test_two_dimensional_blocks_and_grid(device, build):
    out = device.zeros((2, 3, 3, 4), np.int32)
    build(FILL, block=(4, 3)).number2((3, 2), out)
    by, bx, j, i = np.indices((2, 3, 3, 4))
    assert np.array_equal(device.to_host(out), 1000 * by + 100 * bx + 10 * j + i)


def test_three_dimensional_blocks_and_grid(device, build):
    out = device.zeros((12, 2, 3, 4), np.int32)
    build(FILL, block=(4, 3, 2)).number3((2, 3, 2), out)
    block, k, j, i = np.indices((12, 2, 3, 4))
    assert np.array_equal(device.to_host(out), 1000 * block + 100 * k + 10 * j + i)


def test_inner_counts_all_threads_of_a_block_of_three_axes(device, build):
    out = device.zeros((5, 24), np.int32)
    build(FILL, block=(4, 3, 2)).linear(5, out)
    assert np.array_equal(device.to_host(out), np.tile(np.arange(24), (5, 1)))


REVERSE = """
KERNEL reverse(const long n, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    SHARED real tile[BLOCK];
    PRIVATE(real, mine);
    PRIVATE_ARRAY(real, powers, 3);
    INNER(t) {
        const long i = block * BLOCK + t;
        P(mine) = 0;
        tile[t] = 0;
        if (i >= n) continue;
        P(mine) = READ_ONLY_LOAD(&x[i]);
        tile[t] = P(mine);
        UNROLL
        for (int k = 0; k < 3; ++k)
            P(powers)[k] = k ? P(powers)[k - 1] * x[i] : 1;
    }
    for (int step = 0; step < 2; ++step) {
        PRIVATE(real, other);
        BARRIER;
        INNER(t) { P(other) = tile[BLOCK - 1 - t]; }
        BARRIER;
        INNER(t) { tile[t] = P(other) + 1; }
    }
    BARRIER;
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        y[i] = tile[BLOCK - 1 - t] + 100 * P(mine) + P(powers)[2];
    }
}
"""


@pytest.mark.parametrize(("real", "dtype"), [("double", np.float64), ("float", np.float32)])
@pytest.mark.parametrize("n", [1, 63, 64, 1000])
def test_barriers_private_values_and_the_ragged_last_block(device, build, real, dtype, n):
    x = np.arange(n).astype(dtype)
    y = device.zeros(n, dtype)
    build(REVERSE, block=64, defines={"real": real}).reverse(-(-n // 64), n, device.array(x), y)
    padded = np.zeros(-(-n // 64) * 64)
    padded[:n] = x
    reversed_ = padded.reshape(-1, 64)[:, ::-1].ravel()[:n]
    assert np.array_equal(device.to_host(y), (reversed_ + 2 + 100 * x + x * x).astype(dtype))


INNER_FOR = """
KERNEL count(const int n, const long m, GLOBAL int *seen, GLOBAL long *sums)
{
    OUTER(block);
    SHARED int visits[WIDTH];
    INNER_FOR(i, WIDTH) { visits[i] = 0; }
    BARRIER;
    INNER_FOR(i, n) {
        if (i == 5) continue;
        ATOMIC_ADD_SHARED(&visits[i % WIDTH], 1);
    }
    BARRIER;
    INNER_FOR(i, WIDTH) { seen[block * WIDTH + i] = visits[i]; }
    INNER_FOR(i, m) { sums[block * 7 + i] = i + block; }
}
"""


@pytest.mark.parametrize("n", [0, 1, 31, 500])
def test_inner_for_visits_each_once(device, build, n):
    seen, sums = device.zeros((3, 50), np.int32), device.zeros((3, 7), np.int64)
    build(INNER_FOR, block=32, defines={"WIDTH": 50}).count(3, n, 7, seen, sums)
    visited = [i for i in range(n) if i != 5]
    assert np.array_equal(device.to_host(seen), np.tile(np.bincount(np.array(visited, int) % 50, minlength=50), (3, 1)))
    assert np.array_equal(device.to_host(sums), np.arange(7) + np.arange(3)[:, None])


ADD = """
DEVICE_FUNCTION void add(SHARED_POINTER real *target, const real value) { ATOMIC_ADD_SHARED(target, value); }

KERNEL scatter(const int bins, GLOBAL const int *bin, GLOBAL const real *value, GLOBAL real *totals, GLOBAL real *all)
{
    OUTER(block);
    SHARED real local_totals[4];
    INNER(t) { if (t < 4) local_totals[t] = 0; }
    BARRIER;
    INNER(t) {
        const long i = block * BLOCK + t;
        add(&local_totals[bin[i] % 4], value[i]);
        if (bin[i] < bins) ATOMIC_ADD_GLOBAL(&totals[bin[i]], value[i]);
        else ATOMIC_ADD_GLOBAL(&totals[bins], 1);
    }
    BARRIER;
    INNER(t) { if (t < 4) ATOMIC_ADD_GLOBAL(&all[t], local_totals[t]); }
}
"""


@pytest.mark.parametrize(("real", "dtype"), [("double", np.float64), ("float", np.float32), ("int", np.int32)])
def test_contended_adds(device, build, real, dtype):
    """Whole numbers, so that every order of adding gives the same: 16384 adds into 8 places."""
    rng = np.random.default_rng(1)
    bins, values = rng.integers(0, 9, 1 << 14).astype(np.int32), rng.integers(-8, 9, 1 << 14).astype(dtype)
    totals, everything = device.zeros(9, dtype), device.zeros(4, dtype)
    kernel = build(ADD, block=128, defines={"real": real}).scatter
    kernel(128, 8, device.array(bins), device.array(values), totals, everything)
    expected = np.bincount(bins, np.where(bins < 8, values, 1), minlength=9)
    assert np.array_equal(device.to_host(totals), expected.astype(dtype))
    assert np.array_equal(device.to_host(everything), np.bincount(bins % 4, values).astype(dtype))


def test_offsets_beyond_two_to_the_31(device, build):
    """A block of index 2^25 and 128 threads: 64-bit without a cast, and without memory."""
    kernel = build(
        """
        KERNEL far(const long first, GLOBAL long *out)
        {
            OUTER(block);
            INNER(t) {
                const long i = (first + block) * BLOCK + t;
                out[i - first * BLOCK] = i;
            }
        }
        """,
        block=128,
    ).far
    out = device.zeros(256, np.int64)
    kernel(2, 1 << 35, out)
    assert np.array_equal(device.to_host(out), (1 << 42) + np.arange(256))


POOL = """
#define COUNT (2 * HALF)
KERNEL through_pool(GLOBAL const real *x, GLOBAL real *y)
{
    OUTER(block);
    SHARED_POOL(real, pool, COUNT);
    SHARED_POINTER int *tail = (SHARED_POINTER int *)(pool + COUNT - 1);
    INNER_FOR(i, COUNT - 1) { pool[i] = x[i] + block; }
    INNER(t) { if (t == 3) tail[0] = 77; }
    BARRIER;
    INNER_FOR(i, COUNT - 1) { y[block * COUNT + i] = pool[COUNT - 2 - i]; }
    INNER(t) { if (t == 0) y[block * COUNT + COUNT - 1] = tail[0]; }
}
KERNEL without_pool(GLOBAL real *y) { OUTER(block); INNER(t) { y[block * BLOCK + t] = t; } }
"""


@pytest.mark.parametrize("kib", [1, 40, 48, 96, 160])
def test_shared_pool(device, build, kib):
    if kib << 10 > device.shared_bytes:
        pytest.skip(f"{device.name} has {device.shared_bytes} bytes of shared memory a block")
    count = kib * 128
    x, y = np.arange(count, dtype=float), device.zeros((3, count), float)
    kernels = build(POOL, block=64, defines={"real": "double", "HALF": count // 2})
    assert kernels.through_pool.signature.shared_bytes == kib << 10
    assert kernels.without_pool.signature.shared_bytes == 0
    kernels.through_pool(3, device.array(x), y)
    expected = np.empty((3, count))
    expected[:, :-1] = x[count - 2 :: -1] + np.arange(3)[:, None]
    expected[:, -1] = 77
    assert np.array_equal(device.to_host(y), expected)


def test_pool_beyond_the_device_is_refused(device, build):
    with pytest.raises(ValueError, match="shared memory"):
        build(POOL, block=64, defines={"real": "double", "HALF": device.shared_bytes})


def test_integers_of_every_size(device, build):
    kernel = build(
        """
        KERNEL widths(const uchar a, const short b, const ushort c, const uint d, const long e, const unsigned long f,
                      GLOBAL const ushort *g, GLOBAL uchar *h, GLOBAL ulong *out)
        {
            OUTER(block);
            INNER(t) {
                if (t > 0) continue;
                out[0] = a; out[1] = (ulong)(b + 100000); out[2] = c; out[3] = d;
                out[4] = (ulong)e; out[5] = f; out[6] = g[1];
                h[0] = (uchar)(a + 1);
            }
        }
        """,
        block=32,
    ).widths
    out, h = device.zeros(7, np.uint64), device.zeros(1, np.uint8)
    g = device.array(np.array([1, 65535], np.uint16))
    kernel(1, 200, -30000, 60000, 4_000_000_000, 1 << 62, (1 << 64) - 1, g, h, out)
    assert device.to_host(out).tolist() == [200, 70000, 60000, 4_000_000_000, 1 << 62, (1 << 64) - 1, 65535]
    assert device.to_host(h).tolist() == [201]


def test_null_and_no_arguments(device, build):
    kernels = build(
        """
        KERNEL optional(GLOBAL const real *given, GLOBAL real *out)
        {
            OUTER(block);
            INNER(t) { out[block * BLOCK + t] = given ? given[t] : -1; }
        }
        KERNEL nothing() { OUTER(block); INNER(t) { if (block + t < 0) continue; } }
        """,
        block=32,
        defines={"real": "double"},
    )
    out = device.zeros(32, float)
    kernels.optional(1, None, out)
    assert (device.to_host(out) == -1).all()
    kernels.optional(1, device.array(np.full(32, 5.0)), out)
    assert (device.to_host(out) == 5).all()
    kernels.nothing(4)
    device.synchronize()


def test_nan_and_infinity_are_seen(device, build):
    kernel = build(
        """
        KERNEL classify(GLOBAL const double *x, GLOBAL int *kind)
        {
            OUTER(block);
            INNER(t) { if (t < 3) kind[t] = (x[t] != x[t]) + 2 * (x[t] - x[t] != 0) + 4 * (x[t] > 1e308); }
        }
        """,
        block=32,
    ).classify
    kind = device.zeros(3, np.int32)
    kernel(1, device.array(np.array([np.nan, np.inf, 1.0])), kind)
    assert device.to_host(kind).tolist() == [3, 6, 0]


@pytest.mark.parametrize("grid", [0, (0, 5), (4, 0, 1)])
def test_an_empty_grid_does_nothing(device, build, grid):
    out = device.zeros(24, np.int32)
    build(FILL, block=(4, 3, 2)).linear(grid, out)
    assert not device.to_host(out).any()


def test_no_threads_are_lost_with_many_blocks(device, build):
    kernel = build(
        "KERNEL tick(GLOBAL int *n) { OUTER(b); INNER(t) { if (t == 0) ATOMIC_ADD_GLOBAL(&n[b % 3], 1); } }", block=32
    )
    n = device.zeros(3, np.int32)
    kernel.tick(30000, n)
    kernel.tick(np.int64(3), n)
    assert device.to_host(n).tolist() == [10001] * 3


INTEGER_ATOMICS = """
KERNEL distinct(const int n, GLOBAL const int *RESTRICT keys, GLOBAL int *largest, GLOBAL int *taken,
                GLOBAL int *places, GLOBAL int *counts)
{
    OUTER(block);
    SHARED int table[64];
    SHARED int found[1];
    INNER_FOR(i, 64) { table[i] = -1; }
    INNER(t) {
        if (t == 0) found[0] = 0;
    }
    BARRIER;
    INNER(t) {
        const int i = block * BLOCK + t;
        if (i >= n) continue;
        int slot = keys[i] & 63, old = -1;
        while ((old = COMPARE_SWAP_SHARED(&table[slot], -1, keys[i])) != -1 && old != keys[i]) slot = (slot + 1) & 63;
        if (old == -1) (void)FETCH_ADD_SHARED(&found[0], 1);
        ATOMIC_MAX_GLOBAL(&largest[keys[i] & 1], keys[i]);
        places[FETCH_ADD_GLOBAL(&taken[0], 1)] = i;
    }
    BARRIER;
    INNER(t) {
        if (t == 0) counts[block] = found[0];
    }
}
"""


def test_integer_atomics_return_what_was_there(device, build):
    keys = np.random.default_rng(5).integers(0, 50, 700).astype(np.int32)
    blocks = -(-keys.size // 256)
    largest, taken = device.zeros(2, np.int32), device.zeros(1, np.int32)
    places, counts = device.zeros(keys.size, np.int32), device.zeros(blocks, np.int32)
    build(INTEGER_ATOMICS, block=256).distinct(blocks, keys.size, device.array(keys), largest, taken, places, counts)
    assert np.array_equal(np.sort(device.to_host(places)), np.arange(keys.size))
    assert device.to_host(largest).tolist() == [keys[keys % 2 == 0].max(), keys[keys % 2 == 1].max()]
    expected = [np.unique(keys[256 * b : 256 * (b + 1)]).size for b in range(blocks)]
    assert device.to_host(counts).tolist() == expected
