"""Build datasets, several at once, in processes of their own: the longest first, as many as cores and memory allow.

`repro data build` does it with all that it is asked for, a run with what its cells need, before the first is measured,
so that nothing is built beside a measurement.
"""

import contextlib
import math
import os
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import connection
from typing import Any

from repro import environment, machine
from repro.cache.plan import Task
from repro.cache.store import alone
from repro.model import SKIPPED
from repro.run import memory
from repro.run.worker import NEVER, death, die_with, end, spawned
from repro.settings import Settings

WORTH = 3.0  # seconds of building that a run does ahead; less is done by the first cell that needs it, and no later
PATIENCE = 5.0  # seconds in which a process that is to end takes away what it has half done


@dataclass(frozen=True)
class Wanted:
    """A dataset at a scale, the seconds that building it should take, and the bytes at their peak."""

    name: str
    scale: str
    seconds: float
    bytes: float


@dataclass(frozen=True)
class Built:
    """Outcome of a build."""

    path: str = ""  #: where it lies; empty when it could not be built
    what: str = ""  #: one of 'built', 'stand-in', 'downloaded', ''
    #: `error`, `kind`: why it could not be built, and the kind of error; empty when it was.
    error: str = ""
    kind: str = ""

    @property
    def told(self) -> str:
        """The outcome in a line."""
        return f"{self.kind}: {self.error}" if self.kind else f"{self.what}, {self.path}"


def build(pairs: Iterable[tuple[str, str]], tell: Callable[[str], None], until: float = NEVER) -> list[Built]:
    """Build datasets that are not cached, and check the cached ones.

    A build that fails, or whose process dies, costs no other. All processes end with this call, however it ends, and
    take away what they have half done.

    Parameters
    ----------
    tell : callable
        Is given a line as each begins and as each ends.
    until : float, optional
        When it has to have ended, as `time.monotonic()`: what is not built by then is left out.
    """
    asked = [Wanted(name, scale, *environment.dataset_cost(name, scale)) for name, scale in pairs]
    waiting = sorted(asked, key=lambda wanted: -wanted.seconds)
    # No more processes than they save time: each takes a while to begin.
    most = max(1, min(machine.cores(), math.ceil(sum(wanted.seconds for wanted in asked))))
    room = memory.SHARE * memory.host_available()
    found: dict[Wanted, Built] = {}
    idle: list[_Builder] = []
    busy: list[_Builder] = []
    try:
        while (waiting or busy) and (left := until - time.monotonic()) > 0:
            while len(busy) < most and (wanted := _next(waiting, [builder.wanted for builder in busy], room)):
                waiting.remove(wanted)
                busy.append(idle.pop() if idle else _Builder())
                about = f", about {wanted.seconds:.0f} s" if wanted.seconds >= 2 else ""
                tell(f"{wanted.name} at scale {wanted.scale}{about} ...")
                busy[-1].begin(wanted)
            ready = connection.wait([builder.pipe for builder in busy], None if left == NEVER else left)
            for builder in [each for each in busy if each.pipe in ready]:
                busy.remove(builder)
                ended = found[builder.wanted] = builder.answer()
                seconds = time.monotonic() - builder.begun
                tell(f"{builder.wanted.name}: {ended.told} ({seconds:.1f} s, {len(found)}/{len(asked)})")
                if builder.process.is_alive():
                    idle.append(builder)
    finally:
        _end(idle + busy)
    return [found[wanted] for wanted in asked if wanted in found]


def build_ahead(tasks: Iterable[Task], settings: Settings, watcher: Any, until: float = NEVER) -> None:
    """Build what cells that are to be measured need and the cache has not, alone on the machine as they will be.

    One that fails here fails its cells, and one that has nothing to do with them is not built. Cells that were skipped,
    and of which nothing has changed, will most likely be skipped again and build what they need themselves.
    """
    scale = settings.scale
    needed = {
        name
        for task in tasks
        if not (task.stands and task.record["status"] == SKIPPED)
        for name in task.cell.data
        if name not in settings.overrides
    }
    if not needed:
        return

    def missing() -> list[tuple[str, str]]:
        there = [entry for entry in environment.catalogue() if entry.name in needed and scale in entry.scales]
        return [(entry.name, scale) for entry in there if not entry.is_cached(scale)]

    if sum(environment.dataset_cost(*pair)[0] for pair in missing()) >= WORTH:
        with alone(watcher.tell):
            build(missing(), watcher.tell, until=until)  # another run may just have built them


def is_public(entry: Any, scale: str) -> bool:
    """Return whether a scale of a dataset has been downloaded."""
    return bool(getattr(entry, "address", "")) and entry.is_public(scale)


def _next(waiting: Sequence[Wanted], running: Sequence[Wanted], room: float) -> Wanted | None:
    """Return the longest dataset that fits beside the ones being built; any fits beside none."""
    free = room - sum(wanted.bytes for wanted in running)
    return next((wanted for wanted in waiting if not running or wanted.bytes <= free), None)


class _Builder:
    """A process that builds one dataset after another."""

    def __init__(self):
        self.process, self.pipe = spawned(_serve)

    def begin(self, wanted: Wanted) -> None:
        self.wanted, self.begun = wanted, time.monotonic()
        with contextlib.suppress(ConnectionError):  # it has died, and `answer` says so
            self.pipe.send((wanted.name, wanted.scale))

    def answer(self) -> Built:
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            return Built(error=f"the process that built it died: {death(self.process)}", kind="Died")


def _end(builders: Sequence[_Builder]) -> None:
    """End processes with all that they have started: at first so that they clear away what they have half done."""
    for builder in builders:
        builder.process.terminate()
    until = time.monotonic() + PATIENCE
    for builder in builders:
        end(builder.process, builder.pipe, max(0.0, until - time.monotonic()))


def _serve(pipe: Any, parent: int) -> None:
    """Build what the pipe asks for until it is closed."""

    def unwind(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, unwind)
    die_with(parent, signal.SIGTERM)
    os.setpgid(0, 0)  # a group with the meshers, so that none outlives it
    os.dup2(2, 1)  # what recipes print must not mix with results on standard output
    # Large pages for the meshers, which go to and fro in all of their memory: they find the same, sooner.
    os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    entries = {entry.name: entry for entry in environment.catalogue()}
    while True:
        try:
            name, scale = pipe.recv()
            pipe.send(_built(entries[name], scale))
        except (EOFError, ConnectionError):
            return


def _built(entry: Any, scale: str) -> Built:
    try:
        path = str(entry.build(scale))
        what = "downloaded" if is_public(entry, scale) else "stand-in" if entry.stand_in_for else "built"
        return Built(path, what)
    except Exception as error:
        return Built(error=str(error), kind=type(error).__name__)
