"""The CUDA back end: NVRTC and launches through CuPy, whose arrays and kernel cache it uses."""

from __future__ import annotations

import contextlib
import math
import os
import threading

import numpy as np

from kernels.device import base, cache
from kernels.device.errors import BuildError, Unavailable
from kernels.device.source import Source

UNWRITABLE = "REPRO_CACHE or CUPY_CACHE_DIR, set to a folder that can be written"
REMEDY = "an NVIDIA GPU with its driver, and pip install 'cupy-cuda13x' (or cupy-cuda12x for a driver before 580)"
BROKEN = "a driver and a CuPy that know this GPU; `repro doctor` shows their versions"
OPTIONS = ("--std=c++17", "-lineinfo")
PINNED_BYTES = 4096  # of arrays that come to the host through memory that stays where it is, at half of the time
STATIC_SHARED_BYTES = 48 << 10  # more than this a block has only after a kernel asked for it


class Device(base.Device):
    """The current CUDA device. Arrays are CuPy's; work goes to CuPy's current stream."""

    backend = "cuda"
    is_gpu = True
    extension = ".cu"
    prelude, flags, launching = "prelude_cuda.h", " ".join(OPTIONS), ("base.py", "cuda.py")

    def __init__(self):
        super().__init__()
        import cupy
        import cupyx.scipy.sparse

        self.xp, self.sparse, self.array_type = cupy, cupyx.scipy.sparse, cupy.ndarray
        runtime = cupy.cuda.runtime
        handle = cupy.cuda.Device()
        self.id = handle.id
        attributes, properties = handle.attributes, runtime.getDeviceProperties(self.id)
        self.name = properties["name"].decode()
        self.compute_units = int(properties["multiProcessorCount"])
        self.memory_bytes = int(properties["totalGlobalMem"])
        self.cache_bytes = int(properties["l2CacheSize"])
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"])
        self.details = {
            "compute capability": handle.compute_capability, "CUDA driver": runtime.driverGetVersion(),
            "CUDA runtime": runtime.runtimeGetVersion(), "cupy": cupy.__version__, "flags": " ".join(OPTIONS),
            "clock": "CUDA events", "clock rate kHz": attributes.get("ClockRate"),
            "memory clock rate kHz": attributes.get("MemoryClockRate"),
        }  # fmt: skip
        self._capture_stream, self._pinned = cupy.cuda.Stream(non_blocking=True), threading.local()

    def _compile(self, source: Source):
        with self.xp.cuda.Device(self.id):  # the current one is a thread's own
            module = self.xp.RawModule(code=source.text(self.prelude), options=OPTIONS)
            try:
                module.compile()
            except self.xp.cuda.compiler.CompileException as error:
                raise BuildError(self.backend, source.label, str(error), source.settings) from None
            return {kernel.name: self._launch(module, kernel, source) for kernel in source.signatures}

    def rehearse(self, function):
        """Call `function` in another thread, so that CuPy compiles its kernels and loads its libraries meanwhile."""

        def on_this_device():
            with self.xp.cuda.Device(self.id):
                function()

        self._crew.begin(on_this_device)

    def _launch(self, module, kernel, source: Source):
        raw = module.get_function(kernel.name)
        dynamic = kernel.shared_bytes
        if dynamic + raw.shared_size_bytes > self.shared_bytes:
            raise ValueError(f"{kernel.name} wants {dynamic} + {raw.shared_size_bytes} bytes of shared memory a block; "
                             f"{self.name} has {self.shared_bytes}")  # fmt: skip
        if dynamic > STATIC_SHARED_BYTES:
            raw.max_dynamic_shared_size_bytes = dynamic
        function, block = raw.kernel, source.block
        if "COOPERATIVE" in source.settings:
            return self._launch_together(kernel.name, function, block, dynamic)
        return lambda grid, values: function(grid, block, values, dynamic)

    def _launch_together(self, name, function, block, dynamic):
        """Return what launches blocks that wait for one another: all of them, where CuPy would launch fewer."""
        occupancy = self.xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
        most = self.compute_units * occupancy(function.ptr, math.prod(block), dynamic)

        def launch(grid, values):
            if math.prod(grid) > most:
                raise ValueError(f"{name} takes {math.prod(grid)} blocks at once; {self.name} has room for {most}")
            function(grid, block, values, dynamic, None, True)

        return launch

    def _pointer(self, check, argument):
        kind, dtype = self.array_type, argument.dtype

        def convert(array):
            # The attribute behind `flags`, which makes an object at each look: a set-up looks ten thousand times.
            if array is not None and not (type(array) is kind and array.dtype == dtype and array._c_contiguous):
                check(array)
            return array

        return convert

    def array(self, x, dtype=None):
        return self.xp.ascontiguousarray(self.xp.asarray(x, dtype))

    def empty(self, shape, dtype):
        return self.array_type(shape, dtype)

    def zeros(self, shape, dtype):
        return self.xp.zeros(shape, dtype)

    def fill(self, a, value):
        pattern = np.array(value, a.dtype).tobytes()
        if len(set(pattern)) == 1 and a.flags.c_contiguous:  # as of 0 and -1: no kernel has to be compiled for it
            a.data.memset_async(pattern[0], a.nbytes)
        else:
            a.fill(value)

    def to_host(self, a):
        if not 0 < a.nbytes <= PINNED_BYTES or not a.flags.c_contiguous:
            return self.xp.asnumpy(a)
        cuda = self.xp.cuda
        if not hasattr(self._pinned, "memory"):
            self._pinned.memory = cuda.alloc_pinned_memory(PINNED_BYTES)
        stream, memory = cuda.get_current_stream(), self._pinned.memory
        a.data.copy_to_host_async(memory.ptr, a.nbytes, stream)
        stream.synchronize()
        return np.frombuffer(memory, a.dtype, a.size).reshape(a.shape).copy()

    def free_bytes(self):
        """Return the bytes that no process has taken, and the bytes that CuPy's pool of this one holds unused."""
        return self.xp.cuda.runtime.memGetInfo()[0] + self.xp.get_default_memory_pool().free_bytes()

    def synchronize(self):
        self.xp.cuda.Device(self.id).synchronize()

    def record(self):
        event = self.xp.cuda.Event()
        event.record()
        return event

    def elapsed(self, start, stop):
        stop.synchronize()
        return self.xp.cuda.get_elapsed_time(start, stop) * 1e-3

    def _make_flush(self):
        # As nvbench does it: a buffer of the size of the cache is overwritten. Its lines that are still to be
        # written back when the timed work starts are part of the cost of a cold cache.
        buffer = self.empty(self.cache_bytes, "uint8")
        return lambda: buffer.data.memset_async(0, buffer.nbytes)

    def capture(self, function):
        """Return a callable that launches `function`'s work as one CUDA graph on the current stream.

        `function` is called twice: to run, so that kernels are loaded and CuPy's pool has the memory of its
        temporaries, and while its work is recorded. It must not wait for the device, nor copy to the host.
        """
        stream = self._capture_stream
        self.synchronize()
        with stream:
            function()
            stream.synchronize()
            stream.begin_capture()
            try:
                function()
            except BaseException:
                with contextlib.suppress(Exception):  # the capture ends in any case; the first error is the one to see
                    stream.end_capture()
                raise
            graph = stream.end_capture()

        def replay():
            graph.launch()

        replay.captured = function  # keeps the arrays alive that the graph works on
        return replay


def open_device() -> Device:
    """Return the current CUDA device; Unavailable without CuPy or a GPU."""
    try:
        if "REPRO_CACHE" in os.environ:  # CuPy keeps built kernels in a folder that it reads from here
            os.environ.setdefault("CUPY_CACHE_DIR", str(cache.folder("cuda")))
        import cupy
    except ImportError as error:
        raise Unavailable(f"CuPy is not installed: {error}", REMEDY) from None
    except OSError as error:  # it makes folders when it is imported
        raise Unavailable(f"CuPy cannot be imported: {error}", UNWRITABLE) from None
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise Unavailable(f"no CUDA device: {error}", REMEDY) from None
    return Device()
