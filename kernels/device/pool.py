"""The threads of the processor's back end, see ``pool.c``: one pool for all kernels of a process."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator
from pathlib import Path

from kernels.device import compiler, cpu
from kernels.device.errors import Unavailable

SOURCE = Path(__file__).with_name("pool.c")


class Pool:
    """Threads that share out the blocks of launches.

    Parameters
    ----------
    threads : int
    flags : tuple of str
        The compiler's.
    takes_others : bool
        Whether a thread that is done takes from what others have not begun.

    Attributes
    ----------
    threads : int
    run : int
        Address of the function that does a launch, for the kernels' own libraries.
    """

    def __init__(self, threads: int, flags: tuple[str, ...], takes_others: bool = True):
        library = compiler.library(
            SOURCE.read_text(encoding="utf-8"),
            lambda log: Unavailable(f"{compiler.compiler().command[0]} does not build {SOURCE.name}: {log.strip()}"),
            flags,
        )
        self._library = library
        self.threads = int(library.pool_set(threads, int(takes_others)))
        self.run = ctypes.cast(library.pool_run, ctypes.c_void_p).value

    @contextlib.contextmanager
    def limited(self, threads: int) -> Iterator[int]:
        """Let no more than so many threads take part in the block's launches, as for strong scaling; yield how many."""
        try:
            yield int(self._library.pool_use(threads))
        finally:
            self._library.pool_use(self.threads)


@functools.cache
def shared(flags: tuple[str, ...], sanitized: bool) -> Pool:
    """Return the process's pool.

    A sanitizer gets four threads that keep to their own part, so that a race does not hide in one thread's work.
    """
    return Pool(4, flags, takes_others=False) if sanitized else Pool(cpu.threads(), flags)
