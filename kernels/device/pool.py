"""The threads of the processor's back end, see ``pool.c``: one pool for all kernels of a process."""

from __future__ import annotations

import contextlib
import ctypes
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

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
    nodes : sequence of set of int, optional
        CPUs by NUMA node. Where there are several, each thread but the caller's keeps to a node's: neighbours share
        one, and a node has threads by its CPUs.

    Attributes
    ----------
    threads, nodes : int
        Their numbers.
    run : int
        Address of the function that does a launch, for the kernels' own libraries.
    """

    def __init__(self, threads: int, flags: tuple[str, ...], takes_others: bool = True, nodes: Sequence[set] = ()):
        library = compiler.library(
            SOURCE.read_text(encoding="utf-8"),
            lambda log: Unavailable(f"{compiler.compiler().command[0]} does not build {SOURCE.name}: {log.strip()}"),
            flags,
        )
        self._library = library
        self.threads = int(library.pool_set(threads, int(takes_others)))
        self.nodes = len(nodes)
        if self.nodes > 1:
            self._masks = _masks(self.threads, nodes)  # which the library keeps the address of
            library.pool_bind(ctypes.c_void_p(self._masks.ctypes.data), ctypes.c_long(self._masks.strides[0]))
        self.run = ctypes.cast(library.pool_run, ctypes.c_void_p).value

    def place(self, to: np.ndarray, content: np.ndarray | None = None) -> None:
        """Write an array whose pages nobody has touched, each thread its part: a content of that size, or zeros."""
        source = None if content is None else content.ctypes.data
        self._library.pool_place(ctypes.c_void_p(to.ctypes.data), ctypes.c_void_p(source), ctypes.c_long(to.nbytes))

    @contextlib.contextmanager
    def limited(self, threads: int) -> Iterator[int]:
        """Let no more than so many threads take part in the block's launches, as for strong scaling; yield how many."""
        try:
            yield int(self._library.pool_use(threads))
        finally:
            self._library.pool_use(self.threads)


def _masks(threads: int, nodes: Sequence[set]) -> np.ndarray:
    """Return the CPUs that each thread may use, as the bits of a row."""
    masks = np.zeros((threads, max(map(max, nodes)) // 64 + 1), np.uint64)
    node_of = [node for node in nodes for _ in node]  # of CPUs, node by node
    for thread in range(threads):
        for cpu_number in node_of[thread * len(node_of) // threads]:
            masks[thread, cpu_number // 64] |= np.uint64(1 << cpu_number % 64)
    return masks


@functools.cache
def shared(flags: tuple[str, ...], sanitized: bool) -> Pool:
    """Return the process's pool.

    A sanitizer gets four threads that keep to their own part, so that a race does not hide in one thread's work.
    """
    return Pool(4, flags, takes_others=False) if sanitized else Pool(cpu.threads(), flags, nodes=cpu.nodes())
