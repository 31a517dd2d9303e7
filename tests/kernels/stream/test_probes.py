"""The streaming kernels compute what they claim, and a probe notices when one does not."""

import itertools

import numpy as np
import pytest

from kernels.stream import probes


@pytest.mark.parametrize("size", [32 << 10, 1 << 20, 64 << 20])
def test_copy_triad_and_read(device, size):
    block, defines = probes.memory_setting(device.is_gpu, size)
    kernels = device.build(probes.SOURCE, block=block, defines=defines)
    count = size // 8
    grid = count // (block * defines["WIDTH"] * defines["LOADS"] * defines["ROUNDS"])
    x, y = (np.random.default_rng(seed).integers(-9, 9, count).astype(float) for seed in (1, 2))
    z, total = device.zeros(count, np.float64), device.zeros((grid, defines["WIDTH"]), np.float64)
    kernels.copy(grid, device.array(x), z)
    assert np.array_equal(device.to_host(z), x)
    kernels.triad(grid, 3.0, device.array(x), device.array(y), z)
    assert np.array_equal(device.to_host(z), x + 3 * y)
    kernels.read(grid, device.array(x), total)
    assert np.array_equal(device.to_host(total), x.reshape(grid, -1, defines["WIDTH"]).sum(1))


@pytest.mark.parametrize("precision", probes.PRECISIONS)
def test_multiply_add_follows_every_chain(device, precision):
    block, defines = probes.arithmetic_setting(device.is_gpu, precision)
    kernel = device.build(probes.SOURCE, block=block, defines=defines).multiply_add
    result = device.zeros((3, block, defines["WIDTH"]), precision)
    kernel(3, 1, 0.5, 2.0, result)
    chain = np.arange(block)[:, None] + np.arange(defines["LOADS"], dtype=float)
    for _ in range(defines["ROUNDS"]):
        chain = 0.5 * chain + 2
    expected = np.broadcast_to(chain.sum(1)[:, None], result.shape)
    assert np.allclose(device.to_host(result), expected, rtol=1e-12 if precision == "float64" else 1e-5, atol=0)


def test_probes_state_their_work_and_notice_errors(device):
    read, copy, triad = probes.memory_probes(device, 32 << 10)
    assert (read.bytes, copy.bytes, triad.bytes) == (32 << 10, 64 << 10, 96 << 10)
    for probe in (copy, triad, read):
        assert probe.error() > 0.1 or probe is read
        probe.function()
        assert probe.error() == 0
    arithmetic = probes.arithmetic_probe(device, "float32")
    arithmetic.function()
    assert arithmetic.error() < 1e-6 and arithmetic.flops > 1e6


@pytest.mark.parametrize("is_gpu", [True, False])
@pytest.mark.parametrize(("memory", "cache"), [(16, 32), (128, 300), (80, 50), (1, 8), (512, 768)])
def test_sizes_double_from_a_cache_to_far_beyond_the_last(memory, cache, is_gpu):
    memory, cache = memory << 30, cache << 20
    sizes = probes.sizes(memory, cache, is_gpu)
    assert sizes[0] == 32 << 10 and all(more == 2 * less for less, more in itertools.pairwise(sizes))
    assert sizes[-1] <= min(memory // 8, 8 << 30)
    assert sizes[-1] >= 4 * cache or sizes[-1] > memory / 16  # or no more fits
    if not is_gpu:
        assert sizes[-1] <= max(8 * cache, 256 << 20)  # the main memory is measured, not more of it


def test_by_narrow_vectors(narrow):
    test_copy_triad_and_read(narrow, 32 << 10)
    for precision in probes.PRECISIONS:
        test_multiply_add_follows_every_chain(narrow, precision)
