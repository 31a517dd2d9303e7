"""Code that back ends share: building with a memory of what was built, checked launches, and the cold-cache flush."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from kernels.device import recording
from kernels.device import source as sources
from kernels.device.ahead import Crew, Once
from kernels.device.source import Argument, Signature, Source

FLUSH, FLUSH_BLOCK, FLUSH_DEFINES = Path(__file__).with_name("flush.c"), 256, {"CHUNK": 4096}
PROOF = (Path(__file__).with_name("atomics.c"), 64)
BUILDS = [(FLUSH, FLUSH_BLOCK, FLUSH_DEFINES), (*PROOF, {})]
Launch = Callable[[tuple[int, int, int], Sequence], None]


_tape: list[tuple] | None = None  # of launches that are noted and not done


def taped(function: Callable[[], object]) -> Callable[[], None]:
    """Return what does the launches of `function`, as often as it is called, with the same arguments.

    Their checks are done once, here, where `function` is called and launches nothing: in Python they may take longer
    than a small kernel.
    """
    global _tape
    before, _tape = _tape, []
    try:
        function()
        launches = _tape
    finally:
        _tape = before

    def repeat() -> None:
        for launch, blocks, values, _ in launches:
            launch(blocks, values)

    return repeat


class Kernel:
    """A built kernel; call it with the grid and the arguments of its signature.

    Parameters
    ----------
    signature : Signature
    converters : sequence of callables
        For each argument, what checks it and turns it into what `launch` takes.
    launch : callable
        Called with a grid of three positive ints and the list of converted arguments.
    origin : tuple of (Device, Source), optional
        For `kernels.device.recording`.
    """

    __slots__ = ("_converters", "_count", "_launch", "_noted", "_origin", "signature")

    def __init__(self, signature: Signature, converters: Sequence[Callable], launch: Launch, origin=None):
        self.signature, self._origin, self._noted = signature, origin, None
        self._converters, self._launch, self._count = tuple(converters), launch, len(converters)

    def __call__(self, grid, *arguments) -> None:
        """Enqueue the kernel over `grid` blocks (an int or up to three); nothing is done when one of them is 0.

        Raises
        ------
        TypeError
            For a wrong number of arguments, or one that is not of the type in the source.
        ValueError
            For a negative grid, or an array that is not C-contiguous.
        OverflowError
            For an integer beyond its type.
        """
        if len(arguments) != self._count:
            names = ", ".join(argument.name for argument in self.signature.arguments)
            raise TypeError(f"{self.signature.name} takes {self._count} arguments ({names}), not {len(arguments)}")
        values = [convert(value) for convert, value in zip(self._converters, arguments, strict=True)]
        if type(grid) is int and grid > 0:  # as nearly all are, of the hundreds of a set-up
            blocks = (grid, 1, 1)
        else:
            blocks = (*map(operator.index, np.atleast_1d(grid)), 1, 1)[:3]
            if min(blocks) < 0:
                raise ValueError(f"{self.signature.name}: grid {grid} is negative")
        if 0 not in blocks:
            if self._noted is not recording.now:
                self._noted = recording.note(self._origin)
            if _tape is None:
                self._launch(blocks, values)
            else:
                _tape.append((self._launch, blocks, values, arguments))  # which keeps the arrays

    def __repr__(self):
        return f"<kernel {self.signature.name}({self.signature.text})>"


class Device:
    """A device of one back end. Subclasses supply `_compile`, `_pointer`, `_scalar`, arrays and the clock.

    Attributes
    ----------
    backend, name : str
    is_gpu : bool
    shared_bytes : int
        The most shared memory that a block may use.
    compute_units, memory_bytes, cache_bytes : int
        Multiprocessors or cores, device memory, last-level cache.
    details : dict
        Driver, compiler and versions, for the manifest.
    xp, sparse : modules
        Array namespace for set-up code.
    """

    backend: str
    name: str
    is_gpu: bool
    shared_bytes: int
    compute_units: int
    memory_bytes: int
    cache_bytes: int
    details: dict
    extension = ".c"  # of the sources that the back end prefers
    prelude: str
    flags: str  # the compiler's
    launching: tuple[str, ...] = ("base.py",)  # files of this folder that run, or are linked, when a kernel is launched

    @classmethod
    def built_with(cls) -> str:
        """Return the compiler's flags, and its version where no library's tells that; no device is opened."""
        return cls.flags

    def __init__(self):
        self._built: dict[tuple, Once] = {}
        self._read: dict[tuple, tuple] = {}
        self._built_lock, self._begun, self._crew = threading.Lock(), set(), Crew()
        self._flush = None

    def build(
        self, path, block=256, defines: Mapping | None = None, shared_bytes: int | None = None, portable: bool = False
    ) -> SimpleNamespace:
        """Return the kernels of a source, by name.

        Parameters
        ----------
        path : path
            The ``.c`` file.
        block : int or tuple of ints, optional
            Threads of a block, along up to three axes.
        defines : mapping, optional
            Macros, among them the type names that signatures use.
        shared_bytes : int, optional
            Bytes of each ``SHARED_POOL``; by default what its type and count in the source come to.
        portable : bool, optional
            Build the ``.c`` file even where a body of the back end's own lies beside it.

        Raises
        ------
        BuildError
            With the compiler's messages, which name the source's own lines.
        ValueError
            When the device has less shared memory, or for a block that cannot be.
        """
        return self._once(path, block, defines, shared_bytes, portable)()

    def prepare(self, builds: Iterable[tuple]) -> None:
        """Begin to build sources in other threads, so that `build` finds them built or waits for the rest of it.

        Sources that are not going to be used cost what they take to build. One that does not build raises its error
        where `build` asks for it.

        Parameters
        ----------
        builds : iterable of (path, block, defines)
            As modules list them in ``BUILDS``.
        """
        for path, block, defines in builds:
            identity = str(path), block, *sorted(defines.items())
            if identity not in self._begun:  # or each set-up of a series would read the sources again
                self._begun.add(identity)
                self._crew.begin(lambda build=(path, block, defines): self._once(*build).begin())

    def rehearse(self, function: Callable[[], object]) -> None:
        """Call `function` in another thread where the namespace `xp` compiles what it does when it is first done.

        It is a small case of what is soon done in earnest. Its errors are left to that.
        """

    def _once(self, path, block, defines, shared_bytes=None, portable=False) -> Once:
        """Return what builds the kernels of a source; the same object for the same source and settings."""
        # A solver's set-up asks for tens of builds, most of them made: a source is read again only when a file changed.
        asked = (str(path), block, *sorted((defines or {}).items()), shared_bytes, portable)
        found = self._read.get(asked)
        if found and all(sources.state(file) == state for file, state in found[0].items()):
            return found[1]
        path = Path(path)
        special = path.with_suffix(self.extension)
        if not portable and special.exists():
            path = special
        files: set[Path] = set()
        sources.expand(path.resolve(), files)
        source = sources.load(path, block, defines, shared_bytes)
        if source.shared_bytes > self.shared_bytes:
            raise ValueError(
                f"{path.name} wants {source.shared_bytes} bytes of shared memory a block; "
                f"{self.name} has {self.shared_bytes}"
            )
        identity = (source.label, source.defines, source.body)
        with self._built_lock:
            once = self._built.setdefault(identity, Once(lambda: self._kernels_of(source)))
        self._read[asked] = {file: sources.state(file) for file in files}, once
        return once

    def _kernels_of(self, source: Source) -> SimpleNamespace:
        launches = self._compile(source)
        kernels = {}
        for signature in source.signatures:
            converters = [self._converter(signature.name, argument) for argument in signature.arguments]
            kernels[signature.name] = Kernel(signature, converters, launches[signature.name], (self, source))
        return SimpleNamespace(**kernels)

    def adds_up(self) -> bool:
        """Build and run kernels of the kinds that drivers get wrong; return whether their values are right.

        Raises
        ------
        BuildError
            When it does not build.
        """
        kernels, threads = self.build(*PROOF), PROOF[1]
        blocks, single, twice = 100, self.zeros(1, np.float32), self.zeros(1, np.float64)
        marked = self.zeros(threads, np.int32)
        with recording.paused():  # once in a process, whichever cell is the first
            kernels.add_all(blocks, single, twice)
            kernels.part_ways(1, 1, marked)
        expected = threads * (blocks * (blocks - 1) // 2 + blocks * threads)
        sums = [float(self.to_host(single)[0]), float(self.to_host(twice)[0])]
        return sums == [expected, expected] and self.to_host(marked).tolist() == [1, 0] * (threads // 2)

    def free_bytes(self) -> int:
        """Return the bytes of the device's memory that can still be taken; all of it where a driver does not say."""
        return self.memory_bytes

    def _compile(self, source: Source) -> dict[str, Launch]:
        """Build a source, in any thread; return what launches each of its kernels."""
        raise NotImplementedError

    def _pointer(self, check: Callable[[object], None], argument: Argument) -> Callable:
        """Return what turns an array, or None, into a launch argument, after `check`."""
        raise NotImplementedError

    def _scalar(self, dtype: np.dtype) -> Callable:
        """Return what turns a checked Python number into a launch argument."""
        return dtype.type

    def _converter(self, kernel: str, argument: Argument) -> Callable:
        dtype, place = argument.dtype, f"{kernel}: argument {argument.name}"
        if argument.pointer:
            return self._pointer(self._array_check(place, argument), argument)
        wrap = self._scalar(dtype)
        if dtype.kind == "f":

            def real(value):
                if type(value) is float:
                    return wrap(value)
                try:
                    return wrap(float(value))
                except (TypeError, ValueError):
                    raise TypeError(f"{place} is a {dtype} number, not {type(value).__name__}") from None

            return real
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

        def integer(value):
            if type(value) is int and low <= value <= high:
                return wrap(value)
            try:
                number = operator.index(value)
            except TypeError:
                raise TypeError(f"{place} is an {dtype} number, not {type(value).__name__}") from None
            if not low <= number <= high:
                raise OverflowError(f"{place} is {number}, beyond {dtype}")
            return wrap(number)

        return integer

    def _array_check(self, place: str, argument: Argument) -> Callable[[object], None]:
        kind, dtype, backend = self.array_type, argument.dtype, self.backend
        wanted = f"a C-contiguous {kind.__module__.partition('.')[0]} array of {dtype}"

        def check(array):
            if not isinstance(array, kind):
                raise TypeError(f"{place} on {backend} takes {wanted}, not {type(array).__module__}."
                                f"{type(array).__name__}; device.array(x) makes one")  # fmt: skip
            if array.dtype != dtype:
                raise TypeError(f"{place} takes {wanted}, not of {array.dtype}")
            if not array.flags.c_contiguous:
                raise ValueError(f"{place} takes {wanted}; this one has strides {array.strides}")

        return check

    array_type: type

    def array(self, x, dtype=None):
        """Return `x` as an array that this back end's kernels take; it shares memory with `x` where it can."""
        raise NotImplementedError

    def empty(self, shape, dtype):
        """Return an array with arbitrary content."""
        raise NotImplementedError

    def zeros(self, shape, dtype):
        """Return an array of zeros."""
        raise NotImplementedError

    def fill(self, a, value) -> None:
        """Set every entry of `a`, asynchronously where the back end is asynchronous."""
        raise NotImplementedError

    def to_host(self, a) -> np.ndarray:
        """Return `a` as a NumPy array, after the work enqueued; on a CPU it shares memory with `a`."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait for the work enqueued."""
        raise NotImplementedError

    def record(self):
        """Return an event that completes after the work enqueued so far."""
        raise NotImplementedError

    def elapsed(self, start, stop) -> float:
        """Return the seconds between two events, waiting for the second."""
        raise NotImplementedError

    def capture(self, function: Callable[[], object]) -> Callable[[], object]:
        """Return a callable that repeats the device work of `function` at the least launch cost there is."""
        return function

    def flush_cache(self) -> None:
        """Enqueue a read of a buffer of twice the last-level cache, at most a sixteenth of the memory."""
        if self._flush is None:
            self._flush = self._make_flush()
        self._flush()

    def _make_flush(self) -> Callable[[], None]:
        kernel = self.build(FLUSH, block=FLUSH_BLOCK, defines=FLUSH_DEFINES).flush
        chunk = FLUSH_DEFINES["CHUNK"]
        blocks = -(-min(2 * self.cache_bytes, self.memory_bytes // 16) // (8 * chunk))
        buffer, sink = self.empty(blocks * chunk, np.float64), self.zeros(1, np.float64)
        self.fill(buffer, 1.0)
        return lambda: kernel(blocks, buffer, sink)
