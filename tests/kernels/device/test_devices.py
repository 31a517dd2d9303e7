"""Devices: finding them, their arrays and their clocks."""

import importlib
import os
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.device import BACKENDS, BuildError, Unavailable, base, cpu, open_device, sanitized, survey
from kernels.device import openmp as openmp_module
from kernels.stream.probes import arithmetic_probe, memory_probes


def test_survey_names_each_back_end_and_what_to_do():
    found = survey()
    assert [entry.backend for entry in found] == list(BACKENDS)
    for entry in found:
        assert entry.detail and bool(entry.remedy) != entry.available
        if entry.available:
            assert open_device(entry.backend) is open_device(entry.backend)


def test_an_unknown_back_end_is_refused():
    with pytest.raises(ValueError, match="metal"):
        open_device("metal")


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("In file a.c\n\nerror: unknown target CPU 'generic'\nfailed", "error: unknown target CPU 'generic'"),
        ("refused", "refused"),
        (None, "its kernels compute wrong values"),
    ],
)
def test_a_back_end_that_is_listed_and_builds_no_kernel_or_a_wrong_one_is_not_there(monkeypatch, log, told):
    class Listed:
        name = "a device"

        def adds_up(self):
            if log:
                raise BuildError("metal", "atomics.c", log, {})
            return False

    module = SimpleNamespace(open_device=Listed, BROKEN="a newer driver")
    monkeypatch.setattr("kernels.device.BACKENDS", ("metal",))
    monkeypatch.setitem(sys.modules, "kernels.device.metal", module)
    with pytest.raises(Unavailable) as caught:
        open_device("metal")
    assert caught.value.reason.startswith("a device is listed, but ") and caught.value.reason.endswith(told)
    assert caught.value.remedy == "a newer driver"


def test_a_home_that_cannot_be_written_is_a_reason_and_no_crash(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise OSError(30, 'Read-only file system', '/home/.cupy')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setenv("CUPY_CACHE_DIR", "")
    with pytest.raises(Unavailable) as caught:
        importlib.import_module("kernels.device.cuda").open_device()
    assert caught.value.reason == "CuPy cannot be imported: [Errno 30] Read-only file system: '/home/.cupy'"
    assert "CUPY_CACHE_DIR" in caught.value.remedy


def test_the_opencl_device_is_the_one_named_then_a_gpu_then_the_first():
    cl = pytest.importorskip("pyopencl")
    from kernels.device import opencl

    processor = SimpleNamespace(name="Some CPU", type=cl.device_type.CPU, platform=SimpleNamespace(name="PoCL"))
    gpu = SimpleNamespace(name="Some GPU", type=cl.device_type.GPU, platform=SimpleNamespace(name="Vendor"))
    assert opencl.choose([processor, gpu], None) is gpu
    assert opencl.choose([processor], None) is processor
    assert opencl.choose([processor, gpu], "pocl") is processor
    with pytest.raises(Unavailable, match=r"Some CPU.*Some GPU"):
        opencl.choose([processor, gpu], "missing")


def test_facts_of_the_device(device):
    assert device.name and device.compute_units > 0 and device.memory_bytes > 1 << 28
    assert device.shared_bytes >= 32 << 10 and device.cache_bytes > 1 << 18
    assert device.details["clock"]


@pytest.mark.parametrize("shape", [0, 5, (3, 4), (2, 0)])
def test_arrays_keep_shape_type_and_content(device, shape):
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    for array in (device.array(x), device.array(x.tolist(), np.int32).reshape(shape)):
        assert array.dtype == np.int32 and device.to_host(array).tolist() == x.tolist()
    assert device.to_host(device.array(x, np.float64)).dtype == np.float64
    assert not device.to_host(device.zeros(shape, np.float32)).any()
    assert device.empty(shape, np.int64).shape == x.shape
    array = device.empty(shape, np.float64)
    device.fill(array, 2.5)
    assert (device.to_host(array) == 2.5).all()
    assert device.array(array) is array


def test_a_device_whose_threads_all_follow_the_first_does_not_add_up(device, monkeypatch):
    assert device.adds_up()
    kernels = device.build(*base.PROOF)
    wrong = SimpleNamespace(add_all=kernels.add_all, part_ways=lambda blocks, marks, marked: device.fill(marked, 1))
    monkeypatch.setattr(device, "build", lambda *each: wrong)
    assert not device.adds_up()


def test_transposed_input_becomes_contiguous(device):
    x = np.arange(12.0).reshape(3, 4).T
    assert np.array_equal(device.to_host(device.array(x)), x)


def test_a_processors_arrays_are_not_copied(device):
    if device.is_gpu:
        pytest.skip("a GPU has memory of its own")
    # Through OpenCL only what begins on a cache line.
    x = np.arange(1000.0) if device.backend == "openmp" else cpu.aligned_zeros(1000, np.float64)
    array = device.array(x)
    assert np.shares_memory(device.to_host(array), x)
    device.fill(array, 3.0)
    device.synchronize()
    assert (x == 3).all()
    assert device.to_host(device.empty(10, np.float64)).ctypes.data % cpu.ALIGNMENT == 0
    assert device.to_host(device.zeros((10, 3), np.float32)).ctypes.data % cpu.ALIGNMENT == 0


def test_the_address_of_an_array_is_its_own(openmp, tmp_path):
    whole = np.arange(12.0)
    read_only = np.arange(3)
    read_only.flags.writeable = False
    mapped = np.memmap(tmp_path / "mapped", np.float64, "w+", shape=5)
    for array in (whole, whole[3:], whole.reshape(3, 4), read_only, mapped, np.empty(0), openmp.empty(7, "float32")):
        assert openmp_module.address(array) == array.__array_interface__["data"][0]
    whole.resize(100000, refcheck=False)
    assert openmp_module.address(whole) == whole.__array_interface__["data"][0]


def test_an_array_may_go_while_another_type_is_made_of_it(device, build):
    """The work before takes longer than it takes to write over the memory that the array leaves."""
    slow = build(
        "KERNEL slow(const long steps, GLOBAL double *x) { OUTER(b); INNER(t) {"
        " for (long i = 0; i < steps; ++i) x[b * BLOCK + t] = x[b * BLOCK + t] * 0.5 + 1; } }", block=32
    ).slow  # fmt: skip
    busy, wanted, written = device.zeros(32, np.float64), np.arange(10_000.0), []
    slow(1, 1, busy)
    device.synchronize()
    for _ in range(3):
        before = device.array(wanted.copy())
        slow(1, 1_000_000, busy)
        single = device.array(before, np.float32)
        del before
        written += [np.full(len(wanted) + extra, -1.0) for extra in (0, 8)]  # 8: a cache line for alignment
        assert np.array_equal(device.to_host(single), wanted)


def test_the_clock_agrees_with_the_hosts(device):
    probe = arithmetic_probe(device, "float64")
    probe.function()
    device.synchronize()
    repeats, ratios = 1, []
    while len(ratios) < 5:
        begun = time.perf_counter()
        start = device.record()
        for _ in range(repeats):
            probe.function()
        stop = device.record()
        seconds = device.elapsed(start, stop)
        host = time.perf_counter() - begun
        if seconds < 0.02 and host < 1:  # launches that a driver holds back until it is asked would count to the host
            repeats *= 2
            continue
        ratios.append(seconds / host)
    assert 0.7 < np.median(ratios) <= 1.05


def test_captured_work_is_replayed_and_keeps_its_arrays(device, build):
    kernel = build(
        "KERNEL add(const double a, GLOBAL double *x) { OUTER(b); INNER(t) { x[b * BLOCK + t] += a; } }", block=32
    ).add
    x = device.zeros(64, np.float64)

    def make():
        temporary = device.array(np.zeros(64))

        def work():
            device.fill(temporary, 1.0)
            kernel(2, 2.0, temporary)
            kernel(2, 2.0, x)

        return device.capture(work)

    replay = make()
    device.synchronize()
    before = device.to_host(x)[0]
    for _ in range(5):
        replay()
    device.synchronize()
    assert (device.to_host(x) == before + 10).all()


def test_an_error_while_capturing_is_the_callers(device):
    calls = []

    def work():
        calls.append(1)
        if len(calls) == 2:  # on CUDA: called to warm up, then captured
            raise KeyError("mine")

    if device.backend == "cuda":
        with pytest.raises(KeyError, match="mine"):
            device.capture(work)
        assert device.to_host(device.zeros(3, np.float64)).sum() == 0
    else:
        assert device.capture(work) is work


def test_a_flush_moves_as_much_as_the_cache_holds(device, monkeypatch):
    monkeypatch.setattr(device, "cache_bytes", min(device.cache_bytes, 8 << 20))
    monkeypatch.setattr(device, "_flush", None)
    made = []
    empty = device.empty
    monkeypatch.setattr(device, "empty", lambda shape, dtype: made.append(empty(shape, dtype)) or made[-1])
    x = device.array(np.arange(10.0))
    device.flush_cache()
    device.flush_cache()
    assert len(made) == 1 and made[0].nbytes >= device.cache_bytes
    assert np.array_equal(device.to_host(x), np.arange(10.0))


def test_a_flush_makes_the_next_read_slower(device):
    """An array that fits in the last-level cache: after a flush it comes from memory."""
    if device.backend != "cuda":
        pytest.skip("launches through OpenCL take longer than the difference; a processor times too unevenly")
    if os.environ.get(sanitized.VARIABLE):
        pytest.skip("a sanitizer takes longer than the difference")
    read = memory_probes(device, 16 << 20)[0].function

    def seconds(before):
        found = []
        for _ in range(9):
            before()
            device.synchronize()
            start = device.record()
            read()
            found.append(device.elapsed(start, device.record()))
        return min(found)

    assert seconds(device.flush_cache) > 1.1 * seconds(read)


def test_memory_outlives_the_work_enqueued_on_it(device, build):
    """Arrays dropped at once after a slow launch: their memory must not be reused before it has run."""
    kernel = build(
        """
        KERNEL slow_sum(const int count, const int times, GLOBAL const double *x, GLOBAL double *out)
        {
            OUTER(b);
            INNER(t) {
                if (t > 0) continue;
                double sum = 0;
                for (int repeat = 0; repeat < times; ++repeat)
                    for (int i = 0; i < count; ++i)
                        sum += x[i] * (1 + repeat % 2);
                out[b] = sum;
            }
        }
        """,
        block=32,
    ).slow_sum
    outs = [device.zeros(1, np.float64) for _ in range(40)]
    for result in outs:
        kernel(1, 4096, 100, device.array(np.ones(4096)), result)
        np.full(4096, np.nan)
    assert [float(device.to_host(result)[0]) for result in outs] == [4096 * 150.0] * 40


def test_blocks_that_wait_for_one_another_are_all_there_or_are_not_launched(device):
    if device.backend != "cuda":
        pytest.skip("cooperative launches are CUDA's")
    source, threads = base.PROOF
    add_all = device.build(source, threads, {"COOPERATIVE": 1}).add_all
    sums = device.zeros(1, np.float32), device.zeros(1, np.float64)
    with pytest.raises(ValueError, match="blocks at once"):
        add_all(100 * device.compute_units, *sums)
    add_all(device.compute_units, *sums)
    expected = threads * (device.compute_units * (device.compute_units - 1) // 2 + device.compute_units * threads)
    assert float(device.to_host(sums[1])[0]) == expected
