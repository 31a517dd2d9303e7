"""Stamps on any OpenCL device, by a timer that counts how often it has been read."""

from functools import partial

import numpy as np
import pytest

from kernels.device import Unavailable, open_device, stamps

COUNTER = "now = (stamps[99] += {});"


@pytest.fixture(scope="module")
def opencl():
    try:
        return open_device("opencl")
    except Unavailable as missing:
        pytest.skip(str(missing))


def made(opencl, step):
    return stamps.Stamps(opencl.context, opencl.queue, COUNTER.format(step))


def test_seconds_between_stamps_are_the_timers_nanoseconds(opencl):
    clock = made(opencl, 40)
    assert clock.resolution == pytest.approx(40e-9)
    numbers = [clock.record() for _ in range(12)]
    assert clock.elapsed(numbers[2], numbers[9]) == pytest.approx(7 * 40e-9)
    assert clock.elapsed(numbers[9], numbers[2]) == pytest.approx(-7 * 40e-9)


def test_stamps_that_were_written_over_are_refused(opencl, monkeypatch):
    monkeypatch.setattr(stamps, "SLOTS", 99)
    clock = stamps.Stamps(opencl.context, opencl.queue, "now = stamps[97] += 40;")
    numbers = [clock.record() for _ in range(96)] + [clock.record() for _ in range(60)]
    with pytest.raises(ValueError, match="last 99"):
        clock.elapsed(numbers[0], numbers[-1])
    with pytest.raises(ValueError, match="last 99"):
        clock.elapsed(numbers[-1], numbers[0])


@pytest.mark.parametrize("timer", ["now = 7;", COUNTER.format(1000), "now = (stamps[99] -= 40);", "no C"])
def test_a_clock_that_stands_ticks_coarsely_or_does_not_build_is_not_taken(opencl, monkeypatch, timer):
    monkeypatch.setattr("kernels.device.opencl.Stamps", partial(stamps.Stamps, timer=timer))
    assert opencl._own_clock() is None


def test_a_device_with_a_clock_of_its_own_is_timed_by_it(opencl, monkeypatch):
    monkeypatch.setattr("kernels.device.opencl.Stamps", partial(stamps.Stamps, timer=COUNTER.format(50)))
    monkeypatch.setattr(opencl, "_stamps", opencl._own_clock())
    assert opencl._stamps
    start = opencl.record()
    opencl.fill(opencl.empty(10, np.float64), 1.0)
    opencl.record()
    assert opencl.elapsed(start, opencl.record()) == pytest.approx(100e-9)
