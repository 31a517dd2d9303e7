"""Work that is begun ahead of use in other threads, done once, by whoever comes to it first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kernels.device import cpu

MOST = 8  # threads: more of them hold one another up in the compiler
waited = 0.0  # seconds in which values were made or waited for, by the threads that asked for them


class Once:
    """A value that is made once, by the thread that asks for it first; others wait for it.

    An error that `begin` meets is kept for the next call, which raises it instead of making the value again.

    Parameters
    ----------
    make : callable
        Without arguments.
    """

    def __init__(self, make: Callable[[], object]):
        self._make: Callable[[], object] | None = make
        self._value, self._error = None, None
        self._lock = threading.Lock()

    def __call__(self):
        """Return the value; what goes wrong in making it is raised, and a later call tries again."""
        global waited
        begun = time.monotonic() if self._make is not None else None
        with self._lock:
            error, self._error = self._error, None
            if error is not None:
                raise error
            if self._make is not None:
                self._value, self._make = self._make(), None
            if begun is not None:
                waited += time.monotonic() - begun
            return self._value

    def begin(self) -> None:
        """Make the value where none is made yet."""
        with self._lock:
            if self._make is None or self._error is not None:
                return
            try:
                self._value, self._make = self._make(), None
            except Exception as error:  # of whatever kind: who asks for the value is told
                self._error = error


class Crew:
    """Threads, as many as there are cores, that begin work; there are none before there is any."""

    def __init__(self):
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def begin(self, work: Callable[[], object]) -> None:
        """Call `work` soon, in a thread of the crew."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(min(MOST, cpu.cores()), thread_name_prefix="kernels ahead")
        self._pool.submit(work)
