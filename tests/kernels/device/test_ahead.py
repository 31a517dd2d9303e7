"""Building ahead of use: by several threads, once, with errors where the kernels are asked for."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernels.device import BuildError, base, cpu

SOURCE = """
KERNEL add(const int n, GLOBAL int *x)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) x[i] += VALUE;
    }
}
"""


class Compiler(base.Device):
    """A device that compiles nothing, and keeps what it was asked for, by whom."""

    backend, name, shared_bytes, array_type = "none", "none", 1 << 10, np.ndarray

    def __init__(self, work=lambda source: None):
        super().__init__()
        self.work, self.asked, self.threads = work, [], set()

    def _compile(self, source):
        self.asked.append(source.settings["VALUE"])
        self.threads.add(threading.current_thread())
        self.work(source)
        return {signature.name: None for signature in source.signatures}

    def _pointer(self, check, argument):
        return check


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "add.c"
    path.write_text(SOURCE)
    return path


def settled(device):
    """Wait until what was begun has ended."""
    device._crew._pool.shutdown()


def test_what_is_built_ahead_is_what_build_returns(device, path, monkeypatch):
    asked, compile_ = [], device._compile
    monkeypatch.setattr(device, "_compile", lambda source: asked.append(source) or compile_(source))
    device.prepare([(path, 32, {"VALUE": value}) for value in (1, 2)])
    kernels = {value: device.build(path, 32, {"VALUE": value}) for value in (2, 1)}
    assert kernels[1] is device.build(path, 32, {"VALUE": 1}) is not kernels[2]
    x = device.array(np.arange(100, dtype=np.int32))
    for value in (1, 2):
        kernels[value].add(4, 100, x)
    assert np.array_equal(device.to_host(x), np.arange(100) + 3)
    assert len(asked) == 2


def test_sources_are_built_at_the_same_time_by_other_threads(path, monkeypatch):
    monkeypatch.setattr(cpu, "cores", lambda: 3)
    together = threading.Barrier(3)
    device = Compiler(lambda source: together.wait(10))
    device.prepare((path, 32, {"VALUE": value}) for value in range(3))
    for value in range(3):
        device.build(path, 32, {"VALUE": value})
    assert sorted(device.asked) == [0, 1, 2] and len(device.threads) == 3


def test_a_source_that_has_not_been_begun_is_built_by_who_asks(path, monkeypatch):
    monkeypatch.setattr(cpu, "cores", lambda: 1)
    asked_for = threading.Event()
    device = Compiler(lambda source: source.settings["VALUE"] or asked_for.wait(10))
    device.prepare((path, 32, {"VALUE": value}) for value in (0, 1))  # the only thread is busy with the first
    device.build(path, 32, {"VALUE": 1})
    asked_for.set()
    settled(device)
    assert sorted(device.asked) == [0, 1] and threading.current_thread() in device.threads


def test_a_source_is_begun_once_however_often_it_is_prepared(path, monkeypatch):
    device, reads = Compiler(), []
    monkeypatch.setattr(base.sources, "load", lambda *args, load=base.sources.load: reads.append(1) or load(*args))
    for _ in range(3):
        device.prepare([(path, 32, {"VALUE": 1})])
    settled(device)
    assert len(reads) == len(device.asked) == 1


def test_many_threads_that_want_the_same_wait_for_one(path):
    device = Compiler(lambda source: time.sleep(0.05))
    with ThreadPoolExecutor(8) as pool:
        found = set(map(id, pool.map(lambda _: device.build(path, 32, {"VALUE": 1}), range(16))))
    assert len(found) == len(device.asked) == 1


def test_errors_are_raised_where_the_kernels_are_asked_for(path):
    def refuse(source):
        if refused:
            raise BuildError("none", source.label, "no", source.settings)

    refused, device = True, Compiler(refuse)
    device.prepare([(path, 32, {"VALUE": 1}), (path.with_name("missing.c"), 32, {})])
    settled(device)
    assert device.asked == [1]
    with pytest.raises(BuildError, match="VALUE=1"):
        device.build(path, 32, {"VALUE": 1})
    assert device.asked == [1]  # what was found ahead was told, and not found out again
    with pytest.raises(FileNotFoundError):
        device.build(path.with_name("missing.c"), 32)
    refused = False  # a full disk is emptied
    device.build(path, 32, {"VALUE": 1})
    assert device.asked == [1, 1]


def test_a_compiler_that_refuses_what_is_built_ahead(device, path):
    path.write_text(SOURCE.replace("VALUE", "missing"))
    device.prepare([(path, 32, {})])
    with pytest.raises(BuildError, match=r"add\.c.*missing"):
        device.build(path, 32)
