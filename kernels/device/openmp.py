"""The OpenMP back end: the system's C compiler, NumPy arrays, a block of the grid per iteration of a parallel loop."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

from kernels.device import base, cache, cpu, sanitized
from kernels.device.errors import BuildError, Unavailable
from kernels.device.source import Signature, Source

REMEDY = "apt install gcc, or set CC to a C compiler with OpenMP"
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math",
         "-Werror=implicit-function-declaration",
         *(["-mprefer-vector-width=512"] if platform.machine() == "x86_64" else []))  # fmt: skip
# Threads that sleep at the end of a loop cost 3 µs a launch more than ones that spin; but where another program runs as
# well, spinning costs 7 ms a launch, the scheduler's time slice.
WAIT_POLICY = "passive"
_PROBE = "#include <omp.h>\nint threads(void) { return omp_get_max_threads(); }\n"

# A static schedule: a thread keeps the blocks, hence the memory, that it had in the kernel before.
_LAUNCH = """
#undef {name}
void launch_{name}(const long dialect_gx, const long dialect_gy, const long dialect_gz{parameters})
{{
    const long dialect_total = dialect_gx * dialect_gy * dialect_gz;
    #pragma omp parallel for schedule(static)
    for (long dialect_b = 0; dialect_b < dialect_total; ++dialect_b) {{
        const long dialect_row = dialect_b / dialect_gx;
        {name}(dialect_b % dialect_gx, dialect_row % dialect_gy, dialect_row / dialect_gy{values});
    }}
}}
"""


@functools.cache
def compiler() -> tuple[str, str]:
    """Return the C compiler's path and version; Unavailable when there is none."""
    wanted = os.environ.get("CC")
    for name in [wanted] if wanted else ["gcc", "clang", "cc"]:
        path = shutil.which(name)
        if path:
            run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            return path, run.stdout.partition("\n")[0].strip()
    raise Unavailable(f"CC={wanted} is not a program" if wanted else "no C compiler", REMEDY)


def compile_library(text: str, fail) -> ctypes.CDLL:
    """Return the shared library of a C text, from the cache where it was built before.

    Parameters
    ----------
    text : str
    fail : callable
        Called with the compiler's messages when it refuses the text; returns the exception to raise.
    """
    program, version = compiler()
    path = cache.folder("openmp") / f"{cache.key(text, flags(), program, version, cpu.identity())}.so"
    if cache.load(path) is None:
        with tempfile.TemporaryDirectory() as folder:
            code, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            code.write_text(text, encoding="utf-8")
            run = subprocess.run(
                [program, *flags(), "-o", str(library), str(code), "-lm"], capture_output=True, text=True, check=False
            )
            if run.returncode:
                raise fail(run.stderr)
            cache.store(path, library.read_bytes())
    return ctypes.CDLL(str(path))


class Device(base.Device):
    """The processor through OpenMP threads. Arrays are NumPy's; work is done when a call returns."""

    backend = "openmp"
    is_gpu = False
    shared_bytes = 1 << 20  # a block's shared arrays lie on its thread's stack
    array_type = np.ndarray
    xp = np
    sparse = scipy.sparse

    def __init__(self):
        super().__init__()
        program, version = compiler()
        library = compile_library(_PROBE, lambda log: Unavailable(f"{program} has no OpenMP", REMEDY))
        self.name = cpu.name()
        self.compute_units = int(library.threads())
        self.memory_bytes, self.cache_bytes = cpu.memory_bytes(), cpu.cache_bytes()
        self.details = {
            "compiler": version, "flags": " ".join(FLAGS), "threads": self.compute_units,
            "wait policy": os.environ.get("OMP_WAIT_POLICY", ""), "clock": "host, monotonic",
        }  # fmt: skip

    def _compile(self, source: Source):
        before = "".join(
            f"#define {kernel.name}(...) {kernel.name}(DIALECT_INDEX, ##__VA_ARGS__)\n" for kernel in source.signatures
        )
        after = "".join(_launcher(kernel) for kernel in source.signatures)
        if sanitized.wanted():
            after = sanitized.HEAD + after
        library = compile_library(
            source.text("prelude_openmp.h", before, after),
            lambda log: BuildError(self.backend, source.label, log, source.settings),
        )
        return {kernel.name: self._launch(library, kernel) for kernel in source.signatures}

    def _launch(self, library: ctypes.CDLL, kernel: Signature):
        function = getattr(library, f"launch_{kernel.name}")
        function.restype = None
        function.argtypes = [ctypes.c_long] * 3 + [
            ctypes.c_void_p if argument.pointer else np.ctypeslib.as_ctypes_type(argument.dtype)
            for argument in kernel.arguments
        ]
        return lambda grid, values: function(*grid, *values)

    def _pointer(self, check, argument):
        writes = not argument.constant

        def convert(array):
            if array is None:
                return None
            check(array)
            if writes and not array.flags.writeable:
                raise ValueError(f"argument {argument.name} is written by the kernel, but the array is read-only")
            return array.__array_interface__["data"][0]

        return convert

    def _scalar(self, dtype):
        return int if dtype.kind in "iu" else float

    def array(self, x, dtype=None):
        return np.ascontiguousarray(x, dtype)

    def empty(self, shape, dtype):
        return cpu.aligned_empty(shape, dtype)

    def zeros(self, shape, dtype):
        return cpu.aligned_zeros(shape, dtype)

    def fill(self, a, value):
        a.fill(value)

    def to_host(self, a):
        return a

    def synchronize(self):
        pass

    def record(self):
        return time.perf_counter()

    def elapsed(self, start, stop):
        return stop - start


def flags() -> tuple[str, ...]:
    """Return the compiler's flags."""
    return (*FLAGS, *sanitized.FLAGS) if sanitized.wanted() else FLAGS


def _launcher(kernel: Signature) -> str:
    if sanitized.wanted():
        return sanitized.launcher(kernel)
    parameters = f", {kernel.text}" if kernel.text else ""
    values = "".join(f", {argument.name}" for argument in kernel.arguments)
    return _LAUNCH.format(name=kernel.name, parameters=parameters, values=values)


def open_device() -> Device:
    """Return the processor; Unavailable without a C compiler that knows OpenMP."""
    os.environ.setdefault("OMP_WAIT_POLICY", WAIT_POLICY)  # read when the first library with OpenMP is loaded
    return Device()
