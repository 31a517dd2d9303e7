"""Vectors of the host's that come from a device, and go there, while it works on what was enqueued.

CUDA copies from and to memory that stays where it is, pinned, without the host, which then waits for that copy alone.
Elsewhere the copy is done when the call returns. Notes: docs/notes/sem.md.
"""

from __future__ import annotations

import numpy as np

from kernels.device import cpu
from kernels.device.base import Device


class Passage:
    """A vector of the host's, with its way from and to a device.

    Parameters
    ----------
    device : Device
    size : int
    dtype : dtype

    Attributes
    ----------
    values : (size,) NumPy array
        It begins on a cache line.
    """

    def __init__(self, device: Device, size: int, dtype):
        self._device, self.values = device, cpu.aligned_empty(size, dtype)

    def bring(self, a) -> None:
        """Enqueue a copy of a device array of that size and type to the host; `wait` returns after it."""
        self.values[:] = self._device.to_host(a)

    def wait(self) -> None:
        """Wait for the copy that `bring` has enqueued, though not for what was enqueued later."""

    def send(self, a):
        """Enqueue a copy of the values to the device and return where it is: in `a`, or an array in its place.

        Values and copy may share memory: neither is written until the device has read them, as it has when a vector
        that `bring` enqueued later has come.
        """
        return self._device.array(self.values)


class Pinned(Passage):
    """The same through pinned memory, by CUDA."""

    def __init__(self, device: Device, size: int, dtype):
        self._cuda, dtype = device.xp.cuda, np.dtype(dtype)
        memory = self._cuda.alloc_pinned_memory(size * dtype.itemsize)  # which the array keeps
        self.values = np.frombuffer(memory, dtype, size)
        self._come = self._cuda.Event(disable_timing=True)

    def bring(self, a) -> None:
        stream = self._cuda.get_current_stream()
        a.data.copy_to_host_async(self.values.ctypes.data, self.values.nbytes, stream)
        self._come.record(stream)

    def wait(self) -> None:
        self._come.synchronize()

    def send(self, a):
        a.data.copy_from_host_async(self.values.ctypes.data, self.values.nbytes, self._cuda.get_current_stream())
        return a


def passage(device: Device, size: int, dtype) -> Passage:
    """Return a vector with the way that suits the device."""
    return (Pinned if device.backend == "cuda" else Passage)(device, size, dtype)
