"""A GPU's kernels are built ahead: small cells of the methods that are to be measured run once, untimed.

They run in several processes, before the first cell is measured. Our compiler and the array library's keep on disk what
they build, and the measuring process finds it there. The library builds its own kernels when they are first called.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from multiprocessing import connection
from typing import Any

from repro import discovery, environment
from repro.cache.plan import Task, cells_of, machine_facts
from repro.cache.store import alone, cache_folder, write_atomically
from repro.discovery import Artefact
from repro.machine import cores
from repro.model import Cell, ReproError
from repro.run import context
from repro.run.worker import NEVER, die_with, end, spawned
from repro.settings import Settings

BACKENDS = ("cuda",)
SCALE = "smoke"
WORTH = 40  # methods; fewer are built by the cells themselves, sooner
MOST = 14  # processes, beside two cores for the rest
SECONDS = 90.0  # at most
SHARE = 0.2  # of the time that is left, at most: a part of a campaign is there to measure
NAME = "rehearsed"  # file of the cache that has what was rehearsed

Pair = tuple[Artefact, Cell]


def rehearse(tasks: Iterable[Task], settings: Settings, watcher: Any, until: float = NEVER) -> None:
    """Run a small cell of each method that is to be measured on a GPU, unless this cache has had it."""
    if "gpu" not in machine_facts() or settings.scale == SCALE:
        return
    pairs = chosen(tasks)
    seconds = min(SECONDS, SHARE * (until - time.monotonic()))
    if len(pairs) < WORTH or cores() < 4 or seconds <= 0:
        return
    count = min(MOST, cores() - 2)
    watcher.tell(f"kernels of {len(pairs)} methods are built ahead, {seconds:.0f} s at most")
    with alone(watcher.tell):
        done = _among(count, pairs, min(until, time.monotonic() + seconds))
    _note(_told(pair) for pair in done)


def chosen(tasks: Iterable[Task]) -> list[Pair]:
    """Return the first small cell of each artefact and method of some tasks that was not rehearsed before."""
    wanted: dict[str, tuple[Artefact, set[str]]] = {}
    for task in tasks:
        if task.cell.backend in BACKENDS:
            wanted.setdefault(task.artefact.id, (task.artefact, set()))[1].add(task.cell.method)
    done, found = _noted(), {}
    for artefact, methods in wanted.values():
        with contextlib.suppress(ReproError):
            for cell in cells_of(artefact, discovery.load(artefact), SCALE):
                pair = artefact, cell
                if cell.backend in BACKENDS and cell.method in methods and _told(pair) not in done:
                    found.setdefault(_told(pair), pair)
    return list(found.values())


def _told(pair: Pair) -> str:
    artefact, cell = pair
    return f"{artefact.id} {cell.method} {cell.backend}"


def _noted() -> set[str]:
    path = cache_folder() / NAME
    return set(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else set()


def _note(names: Iterable[str]) -> None:
    write_atomically(cache_folder() / NAME, "\n".join(sorted(_noted().union(names))) + "\n")


def _among(count: int, pairs: Sequence[Pair], until: float) -> list[Pair]:
    """Share cells out among processes, end these in time, and return the cells of each that ended by itself."""
    running: list[tuple[Any, Any]] = []
    with tempfile.TemporaryDirectory(prefix="repro-rehearsal-", ignore_cleanup_errors=True) as folder:
        try:
            running += (spawned(_serve, pairs[number::count], folder) for number in range(count))
            waiting = [pipe for _, pipe in running]
            while waiting and (left := until - time.monotonic()) > 0:
                for pipe in connection.wait(waiting, left):
                    waiting.remove(pipe)  # it has ended, well or not
        finally:
            for process, pipe in running:
                process.terminate()
                end(process, pipe, 1.0)
    return [pair for number, (_, pipe) in enumerate(running) if pipe not in waiting for pair in pairs[number::count]]


def _serve(pipe: Any, mine: Sequence[Pair], folder: str, parent: int) -> None:
    die_with(parent)
    environment.keep_apart(folder)  # what is tuned beside others is not for cells that are measured
    os.setpgid(0, 0)
    os.dup2(2, 1)
    perform(mine)
    pipe.close()


def perform(pairs: Iterable[Pair]) -> None:
    """Run cells, and sample nothing; what goes wrong in one is left to its measurement."""
    context.SAMPLING_SECONDS = {**context.SAMPLING_SECONDS, SCALE: 0.0}
    for artefact, cell in pairs:
        with contextlib.suppress(Exception):
            discovery.load(artefact).measure(cell, context.Run(cell, artefact.id, SCALE))
