"""Timing of functions on any clock: warm-up apart, batches between events, repeats until the median is known.

Launches are never timed without their completion: samples are differences of events that the clock records in the
order of the work, read after a synchronisation.
"""

from __future__ import annotations

import gc
import itertools
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from repro.machine import cpu_model, last_level_cache_bytes
from repro.model import ReproError
from repro.run import state
from repro.run.guard import Guard
from repro.run.statistics import summarise

LONGEST_BATCH = 2048  # calls; a captured graph of more takes longer to build than it saves
QUEUE_SECONDS, QUEUE_SAMPLES = 0.02, 16  # samples enqueued before a synchronisation: of so much work, and at most
LONG = 3  # times the cap on sampling: a call that takes longer is sampled once
COMPILED = 30  # seconds: a first call that takes less may have had a compiler in it
#: Wanted half widths of a median's interval, relative to it: where a device works alone, and where the host has a part.
#: Both are a fraction of what such medians differ by between rounds, see `repro.judge.spread`.
WIDTH_ALONE, WIDTH_WITH_HOST = 0.01, 0.02
LEAD_SECONDS = 3e-4  # of work that a short sample is enqueued behind


class ClockError(ReproError):
    """A clock gave a time that cannot be."""


class Clock(Protocol):
    """Source of times: a device with its events, or the host."""

    name: str

    def synchronize(self) -> None:
        """Wait until everything enqueued is done."""

    def record(self) -> Any:
        """Enqueue an event and return it."""

    def elapsed(self, start: Any, end: Any) -> float:
        """Return the seconds between two events that have completed."""

    def capture(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Return what replays the work that `function` enqueues; `function` itself where nothing captures."""

    def flush_cache(self) -> None:
        """Enqueue work that evicts the last-level cache."""


class HostClock:
    """The monotonic clock of the host. The work of a timed function must have finished when it returns."""

    backend = "host"

    def __init__(self):
        self.name = cpu_model()
        self._evictor = None

    def synchronize(self) -> None:
        """Return at once: the host's work is done when a call returns."""

    def record(self) -> int:
        return time.perf_counter_ns()

    def elapsed(self, start: int, end: int) -> float:
        return (end - start) * 1e-9

    def capture(self, function: Callable[[], Any]) -> Callable[[], Any]:
        return function

    def flush_cache(self) -> None:
        """Read and write an array of twice the last-level cache."""
        if self._evictor is None:
            import numpy

            self._evictor = numpy.zeros(2 * last_level_cache_bytes() // 8)
        self._evictor += 1.0


@dataclass(frozen=True)
class Samples:
    """Repeated measurements of one function."""

    seconds: list[float] = field(default_factory=list)  #: seconds a call, one entry a sample
    batch: int = 1  #: calls in each sample
    #: ``'graph'`` when captured work was replayed, ``'calls'`` when the clock captures nothing and the function was
    #: called, ``'calls, not captured: <why>'`` when it could not be captured: launch cost may be in the number.
    #: ``'checked call'`` when the call that was checked took so long that it is the one sample.
    mode: str = "calls"
    cold: bool = False  #: whether the last-level cache was evicted before each sample
    disturbed: int = 0  #: samples that something disturbed; they are not among these, but where `note` says so
    note: str = ""  #: what disturbed samples that could not be had otherwise; empty when there are none
    state: dict[str, Any] = field(default_factory=dict)  #: see `repro.run.state.summary`
    pace: tuple[float, float] | None = None  #: see `repro.run.guard.Guard.pace`


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Collect now and not again before the end: a collection in a sample is a pause that the function did not cause."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _repeated(function: Callable[[], Any], times: int) -> Callable[[], Any]:
    if times == 1:
        return function

    def repeated():
        for _ in range(times):
            function()

    return repeated


def _elapsed(clock: Clock, start: Any, end: Any) -> float:
    seconds = clock.elapsed(start, end)
    if not math.isfinite(seconds) or seconds < 0:
        raise ClockError(f"the clock of {clock.name} went backwards: {seconds} s between two events")
    return seconds


def timed(clock: Clock, function: Callable[[], Any]) -> float:
    """Return the seconds of one call that finds the queue empty and ends with a synchronisation."""
    clock.synchronize()
    start = clock.record()
    function()
    end = clock.record()
    clock.synchronize()
    return _elapsed(clock, start, end)


class _Replay:
    """The function as it is timed: a batch of calls, captured where the clock can."""

    def __init__(self, function: Callable[[], Any], clock: Clock, capture: bool):
        self.function, self.clock, self.capture = function, clock, capture
        self.refusal = ""
        self.of(1)

    def of(self, batch: int) -> None:
        """Prepare batches of that many calls."""
        self.batch = batch
        plain = _repeated(self.function, batch)
        self.run, self.mode = plain, "calls"
        if self.capture and not self.refusal:
            try:
                self.run = self.clock.capture(plain)
                self.mode = "calls" if self.run is plain else "graph"
            except Exception as error:  # what a refused capture raises is the back end's affair; a fault of the
                # function's own comes again, uncaught, with the next plain call
                self.refusal = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        if self.refusal:
            self.mode = f"calls, not captured: {self.refusal}"
        self.clock.synchronize()

    def grow(self, least_seconds: float, first_guess: float) -> float:
        """Enlarge the batch until it lasts `least_seconds`; return the seconds of a batch.

        The first guess may be mostly launch cost, which batching takes out, so the guess is corrected as it goes.
        """
        seconds = first_guess
        while seconds < least_seconds and self.batch < LONGEST_BATCH:
            wanted = math.ceil(self.batch * least_seconds / max(seconds, least_seconds / 64) * 1.1)
            self.of(min(LONGEST_BATCH, max(wanted, self.batch + 1)))
            self.run()  # the first replay of a graph uploads it
            seconds = min(timed(self.clock, self.run) for _ in range(2))
        return seconds


def sample(
    function: Callable[[], Any],
    clock: Clock,
    *,
    cold: bool = False,
    max_seconds: float = 10.0,
    max_samples: int = 500,
    min_samples: int = 5,
    width: float | None = None,
    batch_seconds: float = 1e-3,
    warm_up_seconds: float = 0.05,
    called_before: bool = False,
    capture: bool = True,
    batch: int | None = None,
    checked: float | None = None,
    once: float = 0.0,
    watched: state.Unwatched | None = None,
) -> Samples:
    """Time a function until the median is known.

    Samples are taken until the rank-based 95 % confidence interval of the median lies within `width` of it, or one of
    the caps is reached. Each sample is a batch of calls between two events; several batches are enqueued back to back,
    behind one that is not timed, so that the device never waits for the host inside a sample.

    Raises `ClockError` when the clock goes backwards, or does not advance over the largest batch.

    Parameters
    ----------
    function : callable without arguments
        Enqueues or does the work. It is called many times, so it must not depend on what its last call left.
    clock : Clock
        The device that does the work, or `HostClock()`.
    cold : bool
        Evict the last-level cache before each sample; a sample is then one call.
    max_seconds : float
        Cap on the time spent sampling. It is exceeded only to reach `min_samples`. A function that takes longer than
        `LONG` times this in a single call is sampled once, unless that is less than `once`.
    width : float, optional
        Wanted half width of the interval, relative to the median; by default `WIDTH_ALONE` where the device replays a
        graph, and else `WIDTH_WITH_HOST`.
    batch_seconds : float
        Least duration of a sample when not cold.
    warm_up_seconds : float
        Calls are made for as long before the first sample.
    called_before : bool
        The caller has already called the function: the call that only warms up is left out, which may take minutes.
    capture : bool
        False for a function that waits for the device itself: all that the host does in it is part of its time.
    batch : int, optional
        Calls in each sample that is not cold; by default as many as last `batch_seconds`.
    checked : float, optional
        Seconds of a call that the caller has made and checked: the sample, where the function is sampled once, not
        cold, and no compiler can have been in that call.
    once : float
        Seconds of a call up to which it is sampled `min_samples` times in any case.
    watched : repro.run.state.Unwatched, optional
        Watcher that tells whether something disturbed samples; by default by what is known of the clock's device.
    """
    longest = max(LONG * max_seconds, once)
    watched = watched or state.watch(clock)
    watched.settle()
    guard = Guard(watched)
    if checked is not None and checked > max(longest, COMPILED) and not cold:
        return Samples(_told([checked]), 1, "checked call", pace=guard.pace())
    with _no_garbage_collection():
        if not called_before:
            timed(clock, function)
        first = timed(clock, function)
        if first > longest:
            taken = _cold_group(function, clock, 1, 1) if cold else [first]
            return Samples(_told(taken), 1, "calls", cold, state=guard.summary(), pace=guard.pace())

        replay = _Replay(function, clock, capture)
        if width is None:
            width = WIDTH_ALONE if replay.mode == "graph" else WIDTH_WITH_HOST
        # A long call is a sample already; where the replay is a graph it is not, for it had launches in it.
        single = batch in (None, 1) and not cold and replay.mode != "graph"
        seconds = [first] if first > max_seconds / 10 and single else []
        call = first
        if first <= warm_up_seconds:
            call = _warm_up(replay.run, clock, warm_up_seconds)
        if cold:
            flushes = _flushes(replay.run, clock)
            group = 4  # evictions may take longer than the calls
        else:
            lead = None
            if batch is None:
                one = replay.grow(batch_seconds, call)
            else:
                one, lead = batch * call, _lead(function, clock, capture, call)
                replay.of(batch)
                replay.run()
            group = max(1, min(QUEUE_SAMPLES, int(QUEUE_SECONDS / max(one, 1e-9))))

        begun = time.perf_counter()
        look = 6  # the next count of samples at which the interval is worth computing
        while len(seconds) < max_samples:
            count = min(group, max_samples - len(seconds))
            if cold:
                group_taken = guard.of(_cold_group, replay.run, clock, flushes, count)
            else:
                group_taken = guard.of(_warm_group, replay.run, clock, count, lead)
            seconds += [value / replay.batch for value in group_taken]
            if guard.thrown and guard.is_over(len(seconds), time.perf_counter() - begun, max_seconds):
                seconds += [value / replay.batch for value in guard.give_up()]
            if len(seconds) >= min_samples:
                if time.perf_counter() - begun + first >= max_seconds:
                    break
                if len(seconds) >= look:
                    if summarise(seconds).relative_width() <= width:
                        break
                    look = len(seconds) + max(1, len(seconds) // 10)
    if not all(value > 0 for value in seconds):
        raise ClockError(f"the clock of {clock.name} did not advance over {replay.batch} calls: nothing to measure")
    return Samples(
        _told(seconds),
        replay.batch,
        replay.mode,
        cold,
        disturbed=guard.disturbed,
        note=guard.note,
        state=guard.summary(),
        pace=guard.pace(),
    )


def _told(seconds: list[float]) -> list[float]:
    """Return seconds with as many digits as a clock tells of a millisecond: files keep no noise beyond them."""
    return [float(f"{value:.7g}") for value in seconds]


def _warm_up(run: Callable[[], Any], clock: Clock, for_seconds: float) -> float:
    """Call until caches, pools and clock rates have settled; return the least seconds a call took."""
    begun, least = time.perf_counter(), math.inf
    while time.perf_counter() - begun < for_seconds:
        least = min(least, timed(clock, run))
    return least


def _lead(function: Callable[[], Any], clock: Clock, capture: bool, call: float) -> Callable[[], Any] | None:
    """Return what keeps a device busy while the host enqueues a batch too short for that; None where nothing captures.

    A batch of the default size lasts longer than it takes to enqueue the next; one of a single call may not, and the
    host's launch would be in the number.
    """
    replay = _Replay(function, clock, capture)
    if replay.mode != "graph":
        return None
    replay.grow(LEAD_SECONDS, call)
    return replay.run


def _warm_group(run: Callable[[], Any], clock: Clock, count: int, lead: Callable[[], Any] | None = None) -> list[float]:
    """Return the seconds of `count` batches, enqueued back to back behind one that is not timed, or behind a `lead`."""
    clock.synchronize()
    if lead is not None:
        events = []
        for _ in range(count):
            lead()
            start = clock.record()
            run()
            events.append((start, clock.record()))
        clock.synchronize()
        return [_elapsed(clock, start, end) for start, end in events]
    if count > 1:
        run()  # while it executes, the host gets ahead with what is timed
    events = [clock.record()]
    for _ in range(count):
        run()
        events.append(clock.record())
    clock.synchronize()
    return [_elapsed(clock, start, end) for start, end in itertools.pairwise(events)]


def _cold_group(run: Callable[[], Any], clock: Clock, flushes: int, count: int) -> list[float]:
    """Return the seconds of `count` single calls, each enqueued behind `flushes` evictions of the cache."""
    clock.synchronize()
    events = []
    for _ in range(count):
        for _ in range(flushes):
            clock.flush_cache()
        start = clock.record()
        run()
        events.append((start, clock.record()))
    clock.synchronize()
    return [_elapsed(clock, start, end) for start, end in events]


def _flushes(run: Callable[[], Any], clock: Clock) -> int:
    """Return how many evictions keep the device busy until a cold sample is enqueued; of synchronous clocks one."""
    clock.flush_cache()
    clock.synchronize()
    begun = time.perf_counter()
    clock.flush_cache()
    clock.record()
    run()
    clock.record()
    enqueued = time.perf_counter() - begun
    clock.synchronize()
    finished = time.perf_counter() - begun
    if enqueued > 0.5 * finished and not getattr(clock, "is_gpu", False):
        return 1
    flush = max(timed(clock, clock.flush_cache), 1e-6)
    return max(1, min(50, math.ceil(1.5 * enqueued / flush)))
