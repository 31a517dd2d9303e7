"""Timing against a simulated device whose true times, launch costs and faults are known."""

import gc
import itertools
import time

import pytest

from repro.run import timing
from repro.run.state import Unwatched
from repro.run.statistics import summarise
from repro.run.timing import ClockError, HostClock, sample


class SimulatedDevice:
    """An asynchronous device in virtual time: the host enqueues, the device executes in order."""

    name, backend, is_gpu = "simulated", "simulated", True

    def __init__(self, kernel=2e-6, launch=20e-6, captures=True, cold_penalty=0.0):
        self.kernel, self.launch, self.captures, self.cold_penalty = kernel, launch, captures, cold_penalty
        self.host = self.device = 0.0
        self.captured = None
        self.cached = False
        self.complete_until = 0.0
        self.work = self.flushes = 0
        self.noise = itertools.cycle([0.0])

    def _execute(self, seconds):
        self.device = max(self.device, self.host) + seconds

    def call(self):
        if self.captured is not None:
            self.captured += 1
            return
        self.host += self.launch
        self._kernels(1)

    def _kernels(self, count):
        self.work += count
        penalty = 0.0 if self.cached else self.cold_penalty
        self.cached = True
        self._execute(count * self.kernel * (1 + next(self.noise)) + penalty)

    def capture(self, function):
        if not self.captures:
            raise RuntimeError("operation not permitted when stream is capturing\nsecond line")
        self.captured = 0
        function()
        count, self.captured = self.captured, None

        def replay():
            self.host += self.launch
            self._kernels(count)

        return replay

    def record(self):
        self._execute(0.0)
        return self.device

    def synchronize(self):
        self.host = self.complete_until = max(self.host, self.device)

    def elapsed(self, start, end):
        assert end <= self.complete_until, "events were read before a synchronisation"
        return end - start

    def flush_cache(self):
        self.host += self.launch
        self.cached = False
        self.flushes += 1
        self._execute(30e-6)


def test_small_kernels_are_timed_without_their_launches():
    device = SimulatedDevice(kernel=2e-6, launch=20e-6)
    result = sample(device.call, device)
    assert result.mode == "graph" and not result.cold
    assert result.batch * 2e-6 >= 1e-3
    # every one of them: the first batch after a synchronisation, too, is enqueued behind work
    assert result.seconds == pytest.approx([2e-6] * len(result.seconds), rel=1e-6)


@pytest.mark.parametrize("captures", [True, False])
@pytest.mark.parametrize("batch", [1, 50, 1200])
def test_a_batch_that_is_asked_for_is_the_sample(batch, captures):
    device = SimulatedDevice(kernel=3e-6, launch=20e-6 if captures else 1e-6, captures=captures)
    taken = sample(device.call, device, batch=batch)
    assert taken.batch == batch
    assert all(seconds == pytest.approx(3e-6, rel=1e-6) for seconds in taken.seconds)
    slow = SimulatedDevice(kernel=0.02, captures=captures)
    assert sample(slow.call, slow, batch=batch, max_seconds=0.1).batch == batch


def test_a_refused_capture_is_said_and_calls_are_timed():
    device = SimulatedDevice(kernel=2e-3, launch=20e-6, captures=False)
    result = sample(device.call, device)
    assert result.mode == "calls, not captured: operation not permitted when stream is capturing"
    assert summarise(result.seconds).median == pytest.approx(2e-3, rel=1e-6)


def test_calls_that_are_not_captured_carry_the_launch_cost_that_mode_warns_of():
    device = SimulatedDevice(kernel=2e-6, launch=20e-6, captures=False)
    result = sample(device.call, device)
    assert result.mode.startswith("calls, not captured")
    assert summarise(result.seconds).median == pytest.approx(20e-6, rel=0.05)


def test_every_cold_sample_stands_behind_evictions_of_its_own():
    """As many as keep the device busy while the host, slow to launch a call and quick to launch them, enqueues it."""

    class Quick(SimulatedDevice):
        def flush_cache(self):
            self.host -= self.launch - 1e-6
            super().flush_cache()

    device = Quick(kernel=5e-6, launch=80e-6, captures=False, cold_penalty=40e-6)
    assert timing._cold_group(device.call, device, 4, 5) == pytest.approx([45e-6] * 5, rel=1e-6)
    assert device.flushes == 20 and device.work == 5


def test_what_waits_for_the_device_itself_is_not_captured():
    device = SimulatedDevice(kernel=2e-6, launch=20e-6)

    def solve():
        device.call()
        device.synchronize()

    result = sample(solve, device, capture=False)
    assert result.mode == "calls" and summarise(result.seconds).median >= 20e-6


def test_cold_samples_find_the_cache_evicted_and_no_launch():
    device = SimulatedDevice(kernel=5e-6, launch=1e-6, cold_penalty=40e-6)
    warm, cold = sample(device.call, device), sample(device.call, device, cold=True)
    assert cold.cold and cold.batch == 1
    assert device.flushes >= len(cold.seconds)
    assert summarise(warm.seconds).median == pytest.approx(5e-6, rel=1e-6)
    assert summarise(cold.seconds).median == pytest.approx(45e-6, rel=1e-6)


def test_sampling_ends_when_the_median_is_known():
    device = SimulatedDevice(kernel=1e-3)
    assert len(sample(device.call, device).seconds) <= 32
    device.noise = itertools.cycle([0.0, 0.3, 0.6, 0.9, 0.15, 0.45, 0.75])
    noisy = sample(device.call, device, max_samples=90)
    assert len(noisy.seconds) == 90
    assert summarise(noisy.seconds).relative_width() > 0.01


def test_a_median_that_the_host_has_a_part_in_is_known_sooner_than_a_devices_own():
    """It differs more from round to round, so that more samples of one round tell nothing."""

    def taken(captures, **more):
        device = SimulatedDevice(kernel=2e-2, launch=0.0, captures=captures)
        device.noise = (0.08 * (7 * i % 50) / 50 for i in itertools.count())
        return summarise(sample(device.call, device, batch=1, max_seconds=60.0, **more).seconds)

    alone, shared = taken(True), taken(False)
    assert timing.WIDTH_ALONE < shared.relative_width() <= timing.WIDTH_WITH_HOST
    assert alone.relative_width() <= timing.WIDTH_ALONE and alone.n > shared.n
    assert taken(False, width=timing.WIDTH_ALONE).n > shared.n


def test_a_long_call_counts_as_a_sample_unless_the_others_are_replays():
    launching = 0.5  # a second a call, half of it launches that a graph does not have

    class Launching(SimulatedDevice):
        def call(self):
            if self.captured is None:
                self._execute(launching)
            super().call()

    graph, calls = Launching(kernel=0.5), Launching(kernel=0.5, captures=False)
    replayed = sample(graph.call, graph, max_seconds=5.0, max_samples=6, called_before=True)
    assert replayed.mode == "graph" and replayed.seconds == pytest.approx([0.5] * 6, rel=1e-3)
    called = sample(calls.call, calls, max_seconds=5.0, max_samples=6, called_before=True)
    assert called.seconds == pytest.approx([1.0] * 6, rel=1e-3) and calls.work == 6


def test_functions_of_their_own_faults_raise_them():
    def broken():
        raise ZeroDivisionError("fault of the function")

    with pytest.raises(ZeroDivisionError):
        sample(broken, SimulatedDevice())


class SlowHost(HostClock):
    """A host clock on which a call takes a set time."""

    def __init__(self, seconds):
        super().__init__()
        self.now, self.seconds, self.calls = 0, seconds, 0

    def call(self):
        self.calls += 1
        self.now += int(self.seconds * 1e9)

    def record(self):
        return self.now


@pytest.fixture
def virtual_time(monkeypatch):
    """Let the sampling budget run on the simulated clock too."""

    def use(clock):
        monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now * 1e-9)

    return use


@pytest.mark.parametrize(
    ("seconds", "called_before", "samples", "calls"),
    [(60.0, True, 1, 1), (60.0, False, 1, 2), (4.0, True, 5, 5), (4.0, False, 5, 6), (29.0, True, 5, 5)],
)
def test_long_functions_are_not_repeated_more_than_needed(virtual_time, seconds, called_before, samples, calls):
    clock = SlowHost(seconds)
    virtual_time(clock)
    result = sample(clock.call, clock, max_seconds=10.0, called_before=called_before, watched=Unwatched())
    assert (len(result.seconds), clock.calls) == (samples, calls)
    assert result.seconds == pytest.approx([seconds] * samples)
    assert summarise(result.seconds).ci_low is None


def test_a_checked_call_that_took_long_is_the_sample():
    clock = SlowHost(60.0)
    taken = sample(clock.call, clock, checked=60.0, watched=Unwatched())
    assert taken == timing.Samples([60.0], 1, "checked call") and not clock.calls
    taken = sample(clock.call, clock, checked=60.0, cold=True, called_before=True, watched=Unwatched())
    assert len(taken.seconds) == 1 and clock.calls


def test_a_call_up_to_what_is_sampled_several_times_has_five_samples(virtual_time):
    for seconds, samples in ((20.0, 5), (31.0, 1)):
        clock = SlowHost(seconds)
        virtual_time(clock)
        result = sample(
            clock.call, clock, max_seconds=1.0, checked=seconds, once=30.0, called_before=True, watched=Unwatched()
        )
        assert len(result.seconds) == samples


def test_a_first_call_that_may_have_had_a_compiler_in_it_is_no_sample(virtual_time):
    clock = SlowHost(0.5)
    virtual_time(clock)
    taken = sample(clock.call, clock, checked=5.0, max_seconds=0.1, called_before=True, watched=Unwatched())
    assert taken.seconds == pytest.approx([0.5])


def test_a_cold_sample_of_a_long_function_is_evicted_first(virtual_time):
    clock = SlowHost(60.0)
    clock.flush_cache = lambda: evictions.append(clock.calls)
    evictions = []
    virtual_time(clock)
    result = sample(clock.call, clock, cold=True, called_before=True, watched=Unwatched())
    assert result.cold and result.seconds == pytest.approx([60.0]) and evictions == [1]


def test_a_clock_that_goes_backwards_is_an_error():
    clock = SlowHost(-1e-3)
    with pytest.raises(ClockError, match="backwards"):
        sample(clock.call, clock)


def test_a_clock_that_stands_is_an_error(monkeypatch):
    clock, ticks = SlowHost(0.0), itertools.count()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(ticks) * 1e-3)
    with pytest.raises(ClockError, match="did not advance"):
        sample(clock.call, clock)


def test_garbage_is_not_collected_in_samples():
    seen = []
    assert gc.isenabled()
    sample(lambda: seen.append(gc.isenabled()), HostClock(), max_samples=6, warm_up_seconds=0.0)
    assert not any(seen)
    assert gc.isenabled()


def test_the_host_clock_times_a_sleep():
    clock = HostClock()
    result = sample(lambda: time.sleep(0.004), clock, max_seconds=0.2, max_samples=8)
    assert result.mode == "calls" and clock.name
    assert 0.004 <= summarise(result.seconds).median < 0.02


def test_the_host_cache_is_evicted():
    clock = HostClock()
    clock.flush_cache()
    assert clock._evictor.nbytes >= timing.last_level_cache_bytes()
    assert clock._evictor[0] == clock._evictor[-1] == 1.0
