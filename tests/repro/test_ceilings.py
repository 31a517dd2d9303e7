"""Bounds by measured ceilings, against a device of known bandwidth and rate."""

import dataclasses
import itertools
import json

import pytest

from repro.model import ReproError, Work
from repro.run import state
from repro.run.ceilings import KEPT, CeilingKernel, Ceilings, from_probes, measure


class RatedDevice:
    """A synchronous device that moves data at 100 GB/s in cache and 10 GB/s cold, with a latency of 1 µs."""

    name, backend = "rated", "rated"

    def __init__(self):
        self.now, self.cached = 0.0, False

    def stream(self, size):
        def run():
            self.now += 1e-6 + size / (100e9 if self.cached else 10e9)
            self.cached = True

        return run

    def arithmetic(self, flops, rate):
        def run():
            self.now += flops / rate

        return run

    def record(self):
        return self.now

    def elapsed(self, start, end):
        return end - start

    def synchronize(self):
        pass

    def capture(self, function):
        return function

    def flush_cache(self):
        self.cached = False
        self.now += 1e-4


@pytest.fixture(scope="module")
def ceilings():
    device = RatedDevice()
    probes = [CeilingKernel(f"copy {n}", "copy", n, device.stream(n), n) for n in (10**8, 10**5)]
    probes += [CeilingKernel("read", "read", 10**5, device.stream(5 * 10**4), 10**5)]
    probes += [CeilingKernel("slow", "flops", 0, device.arithmetic(1e9, 1e11), 0, 1e9)]
    probes += [CeilingKernel("fma", "flops", 0, device.arithmetic(1e9, 2e11), 0, 1e9)]
    probes += [CeilingKernel("fma32", "flops", 0, device.arithmetic(1e9, 4e11), 0, 1e9, "float32")]
    return measure(iter(probes), device, max_seconds=0.05)


def test_bandwidths_and_rates_are_those_of_the_device(ceilings):
    assert ceilings.device == "rated"
    sizes, rates = zip(*ceilings.bandwidths["copy"], strict=True)
    assert sizes == (1e5, 1e8)
    assert rates == pytest.approx((1e5 / 2e-6, 1e8 / 1.001e-3))
    assert dict(ceilings.cold["copy"])[1e8] == pytest.approx(1e8 / 10.001e-3)
    assert ceilings.rates == pytest.approx({"float64": 2e11, "float32": 4e11})


def test_they_follow_from_the_fastest_samples_of_the_probes_also_as_stored(ceilings):
    assert len(ceilings.probes) == 9 and all(0 < len(probe["seconds"]) <= KEPT for probe in ceilings.probes)
    stored = Ceilings(**json.loads(json.dumps(dataclasses.asdict(ceilings))))
    assert from_probes(stored.device, stored.probes) == stored == ceilings


def test_disturbances_do_not_lower_a_ceiling():
    device, turn = RatedDevice(), itertools.cycle([5.0, 1.0, 8.0])

    def disturbed():
        device.now += 0.004 * next(turn)

    found = measure([CeilingKernel("copy", "copy", 10**6, disturbed, 1e6)], device, max_seconds=0.02)
    assert found.bandwidth(1e6) == pytest.approx(1e6 / 0.004)


def test_probes_do_not_wait_until_the_cores_are_quiet(monkeypatch):
    """Only the fastest sample counts, and on many cores the waits took longer than the probes."""
    monkeypatch.setattr(state, "watch", lambda clock: pytest.fail("watched"))
    device = RatedDevice()
    assert measure([CeilingKernel("copy", "copy", 10**6, device.stream(10**6), 10**6)], device, max_seconds=0.02).probes


def test_the_ceiling_is_the_best_probe_interpolated_in_the_logarithm_of_the_size():
    curves = {"copy": [(1e3, 10.0), (1e5, 30.0)], "read": [(1e3, 15.0), (1e5, 20.0)]}
    ceilings = Ceilings("d", curves)
    assert [ceilings.bandwidth(size) for size in (1, 1e3, 1e4, 1e5, 1e9)] == pytest.approx([15, 15, 20, 30, 30])


def test_the_bound_is_the_longer_of_moving_and_computing():
    ceilings = Ceilings("d", {"copy": [(1.0, 100.0)]}, {"copy": [(1.0, 10.0)]}, {"float64": 5.0, "float32": 10.0})
    assert ceilings.bound_seconds(Work(bytes=200)) == 2.0
    assert ceilings.bound_seconds(Work(bytes=200), cold=True) == 20.0
    assert ceilings.bound_seconds(Work(bytes=200, flops=50)) == 10.0
    assert ceilings.bound_seconds(Work(bytes=200, flops=50, precision="float32")) == 5.0
    assert ceilings.bound_seconds(Work(bytes=0, flops=50)) == 10.0


def test_what_was_not_measured_is_an_error():
    with pytest.raises(ReproError, match="bandwidth"):
        Ceilings("d").bandwidth(1e6)
    with pytest.raises(ReproError, match="float32"):
        Ceilings("d", rates={"float64": 1.0}).rate("float32")
    with pytest.raises(ReproError, match="no streaming probe"):
        measure([], RatedDevice())
    with pytest.raises(ValueError, match="none of"):
        CeilingKernel("x", "scale", 1, lambda: None, 1)
