"""The OpenCL back end: any driver through PyOpenCL, GPUs first, else a processor.

On an H200's host launches bind, mostly by the driver's part of them, where CUDA has one graph. A profiled queue makes
each longer, hence `stamps`. Notes, with what was tried: docs/notes/device.md.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import warnings

import numpy as np
import scipy.sparse

from kernels.device import base, compiler, cpu, vendors
from kernels.device.errors import BuildError, Unavailable
from kernels.device.source import Source, place
from kernels.device.stamps import FINEST, Stamps

REMEDY = (
    "on x86-64 Linux, make setup EXTRAS=opencl-cpu, or pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt, which "
    "bring Intel's driver for processors; with a driver of the machine's own, make setup EXTRAS=opencl"
)
BROKEN = (
    "another driver, or another device by REPRO_OPENCL_DEVICE; PoCL knows no processor younger than itself, and PoCL 3 "
    "compiles branches with barriers wrongly"
)
POCL = "Portable Computing Language"  # the name of its platform
# Not -cl-fast-relaxed-math: with it NaN and infinity would pass every check.
OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable")

# PoCL's method to turn work-items into loops. Its own choice does not vectorise them and is slower; "repl", a copy of
# the code for each work-item, is somewhat faster, but takes long to build for a block of 256.
WORK_GROUP_METHOD = "loopvec"
MOST_IN_FLIGHT = 4096  # launches on a processor after which the queue is emptied
GPU_CACHE_BYTES = 128 << 20  # drivers report one level of cache or another; this exceeds most last levels


class Device(base.Device):
    """One OpenCL device with an in-order queue. Arrays are `pyopencl.array.Array`.

    On a processor an array lies in NumPy's own memory, and one that begins on a cache line is not copied.
    """

    backend = "opencl"
    prelude, flags = "prelude_opencl.h", " ".join(OPTIONS)
    launching = ("base.py", "opencl.py", "stamps.py", "tree.h")

    def __init__(self, device):
        super().__init__()
        import pyopencl as cl
        import pyopencl.array

        # Intel's compiler tells of each kernel that it has been built.
        warnings.filterwarnings("ignore", "Non-empty compiler output", cl.CompilerWarning)
        self.cl, self.array_type = cl, cl.array.Array
        self.xp, self.sparse = np, scipy.sparse
        self._device = device
        self.is_gpu = bool(device.type & cl.device_type.GPU)
        self._shares_memory = bool(device.type & cl.device_type.CPU)
        self.context = cl.Context([device])
        self.queue = cl.CommandQueue(self.context)
        self.name = " ".join(device.name.split())  # as the system has a processor's
        self.compute_units = int(device.max_compute_units)
        self.shared_bytes = int(device.local_mem_size)
        if self._shares_memory:
            self.memory_bytes, self.cache_bytes = cpu.memory_bytes(), cpu.cache_bytes()
        else:
            self.memory_bytes = int(device.global_mem_size)
            self.cache_bytes = max(int(device.global_mem_cache_size), GPU_CACHE_BYTES)
        self._in_flight: list = []  # buffers of the work enqueued: NumPy must not free their memory before it is done
        self._options = [*OPTIONS, *(["-DDIALECT_CPU"] if self._shares_memory else [])]
        if "NVIDIA" in device.vendor and self._takes_ptx():
            self._options.append("-DDIALECT_PTX")
        self._stamps = self._own_clock() if "-DDIALECT_PTX" in self._options else None
        if self.is_gpu and not self._stamps:
            self.queue = cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
        clock = "the GPU's timer, read by kernels" if self._stamps else "profiled markers"
        self.details = {
            "platform": f"{device.platform.name} {device.platform.version}", "driver": device.driver_version,
            "pyopencl": cl.VERSION_TEXT, "flags": " ".join(self._options),
            "clock": clock if self.is_gpu else "host, after the queue is empty",
        }  # fmt: skip

    def _takes_ptx(self) -> bool:
        """Return whether NVIDIA's own adding instructions, which the prelude then uses, build and add up."""
        plain, self._options = self._options, [*self._options, "-DDIALECT_PTX"]
        try:
            return self.adds_up()
        except BuildError:
            return False
        finally:
            self._options = plain
            self._built.clear()

    def _own_clock(self) -> Stamps | None:
        """Return the clock of a GPU that compiles PTX, if it ticks finely."""
        try:
            stamps = Stamps(self.context, self.queue)
        except self.cl.Error:
            return None
        return stamps if stamps.resolution <= FINEST else None

    def _program(self, source: Source, options):
        return self.cl.Program(self.context, source.text(self.prelude)).build(options=options)

    def _register_options(self, source: Source) -> list[str]:
        """Return what bounds registers on NVIDIA's GPUs as MIN_BLOCKS does on CUDA."""
        blocks = source.settings.get("MIN_BLOCKS")
        if not blocks or "-DDIALECT_PTX" not in self._options:
            return []
        threads = -(-int(np.prod(source.block)) // 32) * 32
        try:
            registers = self._device.registers_per_block_nv // (blocks * threads) // 8 * 8
        except (AttributeError, self.cl.Error):  # a driver that does not tell
            return []
        return [f"-cl-nv-maxrregcount={min(255, registers)}"]

    def _compile(self, source: Source):
        bounded = self._register_options(source)
        try:
            try:
                program = self._program(source, self._options + bounded)
            except self.cl.Error:
                if not bounded:
                    raise
                program = self._program(source, self._options)  # a driver that does not take the bound
        except self.cl.Error as error:
            # NVIDIA's compiler counts the lines of the text that it got.
            text = source.text(self.prelude)
            message = re.sub(r"<kernel>:(\d+)", lambda match: place(text, int(match[1])), str(error))
            raise BuildError(self.backend, source.label, message, source.settings) from None
        return {signature.name: self._launch(program, signature, source.block) for signature in source.signatures}

    def _launch(self, program, signature, block):
        kernel, enqueue, queue = self.cl.Kernel(program, signature.name), self.cl.enqueue_nd_range_kernel, self.queue
        # Told the types once, PyOpenCL sets arguments much faster, which shortens each launch.
        kernel.set_scalar_arg_dtypes([None if each.pointer else each.dtype for each in signature.arguments])

        x, y, z = block

        def launch(grid, values):
            self._keep(values)
            kernel.set_args(*values)
            enqueue(queue, kernel, (x * grid[0], y * grid[1], z * grid[2]), block)

        return launch

    def _keep(self, buffers) -> None:
        if self._shares_memory:
            if len(self._in_flight) >= MOST_IN_FLIGHT:
                self.synchronize()
            self._in_flight.append(buffers)

    def _pointer(self, check, argument):
        def convert(array):
            if array is None:
                return None
            check(array)
            if array.offset:
                raise ValueError(
                    f"argument {argument.name} is a view that starts inside its buffer; opencl takes whole ones"
                )
            return array.base_data

        return convert

    def array(self, x, dtype=None):
        if isinstance(x, self.array_type):
            if dtype is None or x.dtype == dtype:
                return x
            if not self._shares_memory:
                return x.astype(dtype)
            x = self.to_host(x)  # PyOpenCL's own kernel would read memory that NumPy may have freed by then
        host = np.ascontiguousarray(x, dtype)
        if not self._shares_memory:
            return self.cl.array.to_device(self.queue, host)
        if host.ctypes.data % cpu.ALIGNMENT or not host.flags.writeable:  # kernels load vectors of a whole line
            copy = cpu.aligned_empty(host.shape, host.dtype)
            copy[...] = host
            host = copy
        return self._share(host)

    def _share(self, host: np.ndarray):
        """Return an array over the memory of `host`, which it keeps alive."""
        flags = self.cl.mem_flags
        buffer = None
        if host.size:
            buffer = self.cl.Buffer(self.context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=host)
        array = self.cl.array.Array(self.queue, host.shape, host.dtype, data=buffer)
        array.host = host
        return array

    def empty(self, shape, dtype):
        if self._shares_memory:
            return self._share(cpu.aligned_empty(shape, dtype))
        return self.cl.array.empty(self.queue, shape, dtype)

    def zeros(self, shape, dtype):
        if self._shares_memory:
            return self._share(cpu.aligned_zeros(shape, dtype))
        array = self.cl.array.empty(self.queue, shape, dtype)
        self.fill(array, 0)
        return array

    def fill(self, a, value):
        if a.size:
            pattern = np.array(value, a.dtype)
            self._keep(a.base_data)
            self.cl.enqueue_fill_buffer(self.queue, a.base_data, pattern, a.offset, a.nbytes)

    def to_host(self, a):
        if isinstance(a, np.ndarray):  # of set-up code, whose namespace is NumPy here
            return a
        host = getattr(a, "host", None)
        if host is None and a.flags.c_contiguous and a.size:
            host = np.empty(a.shape, a.dtype)  # Array.get does the same with more overhead, which shows for a few ints
            self.cl.enqueue_copy(self.queue, host, a.base_data, src_offset=a.offset)
            return host
        if host is None:
            return a.get(self.queue)
        self.synchronize()
        return host

    def synchronize(self):
        self.queue.finish()
        self._in_flight.clear()

    def record(self):
        """Return what the GPU times, a stamp or a marker, or the host's time once the processor's queue has emptied."""
        if self._stamps:
            return self._stamps.record()
        if self.is_gpu:
            return self.cl.enqueue_marker(self.queue)
        self.synchronize()
        return time.perf_counter()

    def elapsed(self, start, stop):
        if self._stamps:
            return self._stamps.elapsed(start, stop)
        if not self.is_gpu:
            return stop - start
        stop.wait()
        return (stop.profile.end - start.profile.end) * 1e-9


def choose(devices, wanted: str | None):
    """Return the device whose name or platform holds `wanted`, or the first GPU, or the first of all."""
    if wanted:
        for device in devices:
            if wanted.lower() in f"{device.platform.name} {device.name}".lower():
                return device
        names = "; ".join(f"{device.platform.name}: {device.name.strip()}" for device in devices)
        raise Unavailable(f"no OpenCL device is named like REPRO_OPENCL_DEVICE={wanted}; there are: {names}")
    import pyopencl as cl

    return next((device for device in devices if device.type & cl.device_type.GPU), devices[0])


def open_device(kind: str | None = None) -> Device:
    """Return an OpenCL device: the one that ``REPRO_OPENCL_DEVICE`` names a part of, else a GPU, else a processor.

    Parameters
    ----------
    kind : {'GPU', 'CPU'}, optional
        Only a device of this kind, whatever the variable says.

    Raises
    ------
    Unavailable
        Without PyOpenCL, or a driver with a device that knows double precision, or what PoCL links with.
    """
    os.environ.setdefault("POCL_WORK_GROUP_METHOD", WORK_GROUP_METHOD)
    try:
        import pyopencl as cl
    except ImportError as error:
        raise Unavailable(f"PyOpenCL is not installed: {error}", REMEDY) from None
    try:
        with vendors.named():
            platforms = cl.get_platforms()
        devices = [device for platform in platforms for device in platform.get_devices()]
    except cl.Error as error:
        raise Unavailable(f"no OpenCL platform: {error}", REMEDY) from None
    devices = [device for device in devices if "cl_khr_fp64" in device.extensions]
    if kind:
        devices = [device for device in devices if device.type & getattr(cl.device_type, kind)]
    if not devices:
        raise Unavailable(f"no OpenCL {kind or 'device'} with double precision", REMEDY)
    chosen = choose(devices, None if kind else os.environ.get("REPRO_OPENCL_DEVICE"))
    if chosen.platform.name == POCL:
        _require_linker()
    return Device(chosen)


def _require_linker() -> None:
    """Raise Unavailable where PoCL lacks `ld` or a compiler's libraries: it would end the process."""
    try:
        has_libraries = compiler.compiler().is_system and shutil.which("ld")
    except Unavailable:
        has_libraries = False
    if not has_libraries:
        raise Unavailable("PoCL links kernels as the machine's C compiler does, and there is none", "apt install gcc")
