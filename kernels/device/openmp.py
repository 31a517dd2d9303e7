"""The processor: C by the machine's compiler or a wheel's, NumPy arrays, a pool of threads for the blocks of a grid."""

from __future__ import annotations

import ctypes
import math
import time
import weakref
from types import SimpleNamespace

import numpy as np
import scipy.sparse

from kernels.device import base, compiler, cpu, pool, recording, sanitized
from kernels.device.errors import BuildError, Unavailable
from kernels.device.source import Signature, Source

BROKEN = "another C compiler, named by CC"
PLACED = 4 << 20  # bytes of an array for each NUMA node: smaller ones stay in caches, and pages may have 2 MiB
MOST_MET = 256  # calls of a kernel with other arrays
# Set by who loads the library, to the pool's function.
_HEAD = "void (*dialect_run)(void (*)(long, long, const void *), const void *, long);\n"
_LAUNCH = """
#undef {name}
struct dialect_{name} {{ long dialect_gx, dialect_gy; {members} }};
static void dialect_some_{name}(long dialect_b, long dialect_last, const void *dialect_given)
{{
    const struct dialect_{name} *const dialect_job = dialect_given;
    for (; dialect_b < dialect_last; ++dialect_b) {{
        const long dialect_row = dialect_b / dialect_job->dialect_gx;
        {name}(dialect_b % dialect_job->dialect_gx, dialect_row % dialect_job->dialect_gy,
               dialect_row / dialect_job->dialect_gy{from_job});
    }}
}}
void launch_{name}(const long dialect_gx, const long dialect_gy, const long dialect_gz{parameters})
{{
    const struct dialect_{name} dialect_job = {{dialect_gx, dialect_gy{values}}};
    dialect_run(dialect_some_{name}, &dialect_job, dialect_gx * dialect_gy * dialect_gz);
}}
"""


class Kernel(base.Kernel):
    """A built kernel that checks the same arrays once: in Python that takes longer than a small launch."""

    __slots__ = ("_arrays", "_known", "_met", "_scalars")

    def __init__(self, kernel: base.Kernel):
        super().__init__(kernel.signature, kernel._converters, kernel._launch, kernel._origin)
        pointers = [argument.pointer for argument in kernel.signature.arguments]
        self._arrays = [place for place, is_pointer in enumerate(pointers) if is_pointer]
        self._scalars = [place for place, is_pointer in enumerate(pointers) if not is_pointer]
        self._known: dict[tuple, tuple] = {}
        self._met: set[tuple] = set()  # by their ids once: what is never given again costs no more than that

    def __call__(self, grid, *arguments) -> None:
        if type(grid) is not int or grid <= 0 or len(arguments) != self._count:
            super().__call__(grid, *arguments)
            return
        met = tuple([id(arguments[place]) for place in self._arrays])
        known = self._known.get(met)
        if known is None:
            values = [convert(value) for convert, value in zip(self._converters, arguments, strict=True)]
            self._meet(met, arguments, values)
        else:
            values = known[0].copy()
            for place in self._scalars:
                values[place] = self._converters[place](arguments[place])
        if self._noted is not recording.now:
            self._noted = recording.note(self._origin)
        if base._tape is None:
            self._launch((grid, 1, 1), values)
        else:
            base._tape.append((self._launch, (grid, 1, 1), values, arguments))

    def _meet(self, met: tuple, arguments, values: list) -> None:
        """Remember arrays that are given again, for as long as all of them live: their ids are theirs till then."""
        if met not in self._met:
            if len(self._met) >= MOST_MET:
                self._met.clear()
            self._met.add(met)
            return
        known = self._known
        given = [arguments[place] for place in self._arrays if arguments[place] is not None]
        known[met] = values, [weakref.ref(array, lambda _: known.pop(met, None)) for array in given]


class Device(base.Device):
    """The processor. Arrays are NumPy's; work is done when a call returns.

    Where it has several NUMA nodes, the pool's threads write large arrays first, each a part: its pages then lie on the
    thread's node, as the thread's blocks of each launch do. `array` copies arrays made otherwise.
    """

    backend, extension = "openmp", ".cpu.c"
    prelude, flags = "prelude_openmp.h", " ".join(compiler.FLAGS)
    launching = ("base.py", "openmp.py", "pool.py", "pool.c", "handshake.h", "cpu.py")
    is_gpu = False
    shared_bytes = 1 << 20  # a block's shared arrays lie on its thread's stack
    array_type = np.ndarray
    xp = np
    sparse = scipy.sparse

    @classmethod
    def built_with(cls):
        try:
            return f"{compiler.compiler().version} {cls.flags}"
        except Unavailable:
            return ""

    def __init__(self):
        super().__init__()
        with_what = compiler.compiler()
        self._pool = pool.shared(flags(), sanitized.wanted())
        nodes = self._pool.nodes
        self._least = PLACED * nodes if min(nodes, self._pool.threads) > 1 else math.inf
        self._placed: weakref.WeakValueDictionary[int, np.ndarray] = weakref.WeakValueDictionary()
        self.name = cpu.name()
        self.compute_units = self._pool.threads
        self.memory_bytes, self.cache_bytes = cpu.memory_bytes(), cpu.cache_bytes()
        self.details = {
            "compiler": with_what.version, "flags": " ".join(flags()), "threads": self.compute_units,
            "clock": "host, monotonic",
            **({"NUMA nodes": nodes} if nodes > 1 else {}),
        }  # fmt: skip

    def limited(self, threads: int):
        """Return a context in which no more than so many threads take part in launches."""
        return self._pool.limited(threads)

    def _compile(self, source: Source):
        before = "".join(
            f"#define {kernel.name}(...) {kernel.name}(DIALECT_INDEX, ##__VA_ARGS__)\n" for kernel in source.signatures
        )
        after = _HEAD + "".join(_launcher(kernel) for kernel in source.signatures)
        library = compiler.library(
            source.text(self.prelude, before, after),
            lambda log: BuildError(self.backend, source.label, log, source.settings),
            flags(),
        )
        ctypes.c_void_p.in_dll(library, "dialect_run").value = self._pool.run
        return {kernel.name: self._launch(library, kernel) for kernel in source.signatures}

    def _kernels_of(self, source: Source) -> SimpleNamespace:
        return SimpleNamespace(**{name: Kernel(kernel) for name, kernel in vars(super()._kernels_of(source)).items()})

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
            return address(array)

        return convert

    def _scalar(self, dtype):
        return int if dtype.kind in "iu" else float

    def array(self, x, dtype=None):
        found = np.ascontiguousarray(x, dtype)
        if found.nbytes < self._least:
            return found
        memory = found if found.base is None else found.base
        if self._placed.get(id(memory)) is memory:
            return found
        return self._place(cpu.aligned_empty(found.shape, found.dtype), found)

    def empty(self, shape, dtype):
        return self._place(cpu.aligned_empty(shape, dtype))

    def zeros(self, shape, dtype):
        return self._place(cpu.aligned_zeros(shape, dtype))

    def _place(self, made, content=None):
        if made.nbytes >= self._least:
            self._pool.place(made, content)
            self._placed[id(made.base)] = made.base
        return made

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


def address(array: np.ndarray) -> int | None:
    """Return where an array's data lie: what NumPy's C interface has first of an array, behind the head of any object.

    The array's attributes make dictionaries and objects at each look, which for the few arrays of a launch takes longer
    than a small product.
    """
    return ctypes.c_void_p.from_address(id(array) + object.__basicsize__).value


def flags() -> tuple[str, ...]:
    """Return the compiler's flags."""
    return (*compiler.FLAGS, *sanitized.FLAGS) if sanitized.wanted() else compiler.FLAGS


def _launcher(kernel: Signature) -> str:
    """Return the C text that launches a kernel: its arguments go to the threads in a structure."""
    names = [argument.name for argument in kernel.arguments]
    return _LAUNCH.format(
        name=kernel.name, parameters=f", {kernel.text}" if kernel.text else "", values="".join(f", {n}" for n in names),
        members="".join(f"{declaration}; " for declaration in kernel.text.split(",") if declaration.strip()),
        from_job="".join(f", dialect_job->{n}" for n in names),
    )  # fmt: skip


def open_device() -> Device:
    """Return the processor; Unavailable without a C compiler."""
    return Device()
