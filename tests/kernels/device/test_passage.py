"""Vectors that go between a device and the host."""

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.device import cpu
from kernels.device.passage import Pinned, passage


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_vector_comes_from_the_device_and_goes_there(device, dtype):
    wanted = np.arange(5000, dtype=dtype)
    down, up = (passage(device, 5000, dtype) for _ in range(2))
    a, there, other = device.array(wanted.copy()), *(device.zeros(5000, dtype) for _ in range(2))
    for turn in range(3):
        down.bring(a)
        device.fill(other, -1)  # enqueued before the host waits
        down.wait()
        assert down.values.dtype == dtype and np.array_equal(down.values, wanted + turn)
        up.values[:] = down.values + 1
        there = up.send(there)
        assert np.array_equal(device.to_host(there), wanted + turn + 1)
        a = device.array(device.to_host(there).copy())
    assert down.values.ctypes.data % cpu.ALIGNMENT == 0


class Queue:
    """Work that is done in order, when somebody waits for it."""

    def __init__(self):
        self.todo = []

    def finish(self, count):
        while self.todo and self.todo[0][0] <= count:
            self.todo.pop(0)[1]()


class Event:
    def __init__(self, disable_timing=False):
        assert disable_timing

    def record(self, queue):
        self.queue, self.count = queue, max((number for number, _ in queue.todo), default=0)

    def synchronize(self):
        self.queue.finish(self.count)


class Memory:
    """Of a card, with CuPy's names; each work has a number."""

    numbers = 0

    def __init__(self, values):
        self.values, self.nbytes, self.data = values, values.nbytes, self

    def later(self, queue, to, source, size):
        Memory.numbers += 1
        queue.todo.append((Memory.numbers, lambda: ctypes.memmove(to, source, size)))

    def copy_to_host_async(self, pointer, size, queue):
        self.later(queue, pointer, self.values.ctypes.data, size)

    def copy_from_host_async(self, pointer, size, queue):
        self.later(queue, self.values.ctypes.data, pointer, size)


def test_by_cuda_the_host_waits_for_the_copy_alone():
    queue, sizes = Queue(), []

    def pinned(size):
        sizes.append(size)
        return bytearray(max(512, size))  # as CuPy's pool, which rounds up

    cuda = SimpleNamespace(get_current_stream=lambda: queue, Event=Event, alloc_pinned_memory=pinned)
    device = SimpleNamespace(backend="cuda", xp=SimpleNamespace(cuda=cuda))
    down, up = (passage(device, 3, "float32") for _ in range(2))
    assert type(down) is Pinned and sizes == [12, 12] and down.values.shape == (3,)
    a, there, solved = (Memory(np.array(x, np.float32)) for x in ([1, 2, 3], [0, 0, 0], [0, 0, 0]))
    down.values[:] = 0
    down.bring(a)
    solved.later(queue, solved.values.ctypes.data, a.values.ctypes.data, 12)  # the local solves
    assert down.values.tolist() == [0, 0, 0]
    down.wait()
    assert down.values.tolist() == [1, 2, 3] and solved.values.tolist() == [0, 0, 0]
    up.values[:] = [4, 5, 6]
    assert up.send(there) is there and there.values.tolist() == [0, 0, 0]
    queue.finish(Memory.numbers)
    assert solved.values.tolist() == [1, 2, 3] and there.values.tolist() == [4, 5, 6]
