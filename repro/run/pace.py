"""The pace of a processor's cores now, and how much quicker and slower the same cores have been.

Where other systems share the cores, their clock or the last cache, as on most rented machines, a time changes by half
from one hour to the next, and nothing that this system counts shows it. A job that is always the same does: each core
multiplies small matrices and reads vectors beyond its own caches, at the same time. Jobs are counted by how long they
took, in a file of the machine's cache. A pace that no job has met yet is not known.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
import os
import threading
import time
from collections import Counter
from pathlib import Path

from repro.cache.store import cache_folder, write_atomically
from repro.machine import cores, cpu_model

MATRIX, VECTOR = 128, 1 << 18  # rows of the matrices, numbers of the vectors: about as long for either
JOBS = 12  # of a look
BIN = 0.02  # of a logarithm, in which jobs are counted
QUICKEST, SLOW = 0.02, 0.95  # shares of the jobs that are quicker than what counts as quickest and as slow
FIRST = 40  # looks that a machine has to have met, or they are made at once


class Pace:
    """The pace of the cores that this process may use."""

    def __init__(self):
        import numpy as np

        self._cores = _cores()
        shapes = (*[(MATRIX, MATRIX)] * 3, *[VECTOR] * 2)
        self._operands = [tuple(np.full(shape, 0.5) for shape in shapes) for _ in self._cores]
        self._dot = np.dot
        self._path = cache_folder() / "pace.json"
        self._place = f"{cpu_model()}, {len(self._cores)} cores, a thread each"  # older files may count more in a job
        self._met: Counter[int] = Counter()
        self._last = 0.0
        with contextlib.suppress(OSError, ValueError, LookupError):
            known = json.loads(self._path.read_bytes())[self._place]
            self._met.update({int(logarithm): count for logarithm, count in known.items()})
        for _ in range(max(1, FIRST - self._met.total())):
            self._work_all()

    def look(self) -> float:
        """Return the seconds of a job, the mean of all cores, and count it.

        While this process has children, as the ranks of a rival, which may wait busily, it returns the last look's.
        """
        return self._last if _has_children() else self._work_all()

    def _work_all(self) -> float:
        taken: list[float] = []
        threads = [
            threading.Thread(target=self._work, args=(core, operands, taken))
            for core, operands in zip(self._cores, self._operands, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._last = sum(taken) / len(taken)
        self._met[round(math.log(self._last) / BIN)] += 1
        return self._last

    def _work(self, core: int | None, operands: tuple, taken: list[float]) -> None:
        if core is not None:
            os.sched_setaffinity(0, {core})  # of this thread alone
        left, right, product, one, other = operands
        begun = time.perf_counter()
        for _ in range(JOBS):
            self._dot(left, right, out=product)
            self._dot(one, other)
        taken.append((time.perf_counter() - begun) / JOBS)

    def factors(self, seconds: float) -> tuple[float, float]:
        """Return the factors from a time to the same at the cores' quickest pace and at a slow one.

        The first is 1 at most, the second 1 at least. `seconds`: of the jobs beside the time.
        """
        return min(1.0, self._job(QUICKEST) / seconds), max(1.0, self._job(SLOW) / seconds)

    def _job(self, share: float) -> float:
        """Return the seconds that a share of all jobs took at most."""
        rank = int(share * (self._met.total() - 1))
        bins = sorted(self._met)
        counted = itertools.accumulate(self._met[each] for each in bins)
        return math.exp(BIN * next(each for each, count in zip(bins, counted, strict=True) if count > rank))

    def keep(self) -> None:
        """Write the counts into the machine's file; another process's may be lost if it writes at the same time."""
        known = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(self._path.read_bytes())
        with contextlib.suppress(OSError):
            text = json.dumps({**known, self._place: dict(sorted(self._met.items()))})
            write_atomically(self._path, text + "\n", is_lasting=False)


def _cores() -> list[int | None]:
    """Return the cores that this process may use: None for each where a container has fewer than threads may run on."""
    count = cores()
    own = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return own if len(own) == count else [None] * count


def _has_children() -> bool:
    with contextlib.suppress(OSError):  # elsewhere than on Linux it is not known
        return any(path.read_text().strip() for path in Path("/proc/self/task").glob("*/children"))
    return False


@functools.cache
def of_cores() -> Pace | None:
    """Return the pace of this process's cores; None where the library's own threads would do the job.

    Unless it is told otherwise, the library has as many threads as there are cores, in the job of each core.
    """
    return Pace() if os.environ.get("OPENBLAS_NUM_THREADS") == "1" else None
