"""The interval of another round holds nine of ten of them, whatever the noise between rounds."""

import numpy as np
import pytest

from repro.judge.spread import DEVICE_ALONE, WITH_HOST, interval, of_samples
from repro.model import ReproError


def rounds_of(noise, prior, count, repeats, rng):
    """Logarithms of medians of `count` + 1 rounds: each row has a variance of its own, or all have one."""
    deviates = rng.standard_normal((repeats, count + 1))
    if noise == "heavy":
        variances = prior.freedom * prior.scale**2 / rng.chisquare(prior.freedom, (repeats, 1))
        return np.sqrt(variances) * deviates
    return prior.scale * deviates


@pytest.mark.parametrize("prior", [DEVICE_ALONE, WITH_HOST], ids=["alone", "host"])
@pytest.mark.parametrize("count", [1, 3, 5])
def test_heavy_tailed_noise_is_covered_with_ninety_percent(prior, count):
    logs = rounds_of("heavy", prior, count, 4000, np.random.default_rng(count))
    logs = np.clip(logs, -300, 300)  # of what a number holds
    held = [low <= np.exp(new) <= high for *old, new in logs for low, high in [interval(np.exp(old), prior)]]
    assert 0.88 <= np.mean(held) <= 0.92


@pytest.mark.parametrize("count", [3, 5])
def test_rows_that_repeat_better_than_usual_are_covered_as_well_and_get_narrower_intervals(count):
    """Normal noise has no tails, so that it is covered at least as often; rounds take the width back."""
    logs = rounds_of("normal", DEVICE_ALONE, count, 4000, np.random.default_rng(count))
    ends = np.array([interval(np.exp(old), DEVICE_ALONE) for *old, _ in logs])
    held = (ends[:, 0] <= np.exp(logs[:, -1])) & (np.exp(logs[:, -1]) <= ends[:, 1])
    assert held.mean() >= 0.88
    low, high = interval([1.0], DEVICE_ALONE)
    assert np.median(ends[:, 1] - ends[:, 0]) < 0.75 * (high - low)


def test_it_goes_by_ratios():
    low, high = interval([2.0, 2.1, 1.9], WITH_HOST)
    assert interval([2e-6, 2.1e-6, 1.9e-6], WITH_HOST) == pytest.approx((1e-6 * low, 1e-6 * high))
    assert low < 1.9 and high > 2.1


def launched(seconds, mode="graph", cold=True):
    return {"seconds": [seconds] * 20, "mode": mode, "cold": cold}


@pytest.mark.parametrize("count", [1, 3])
def test_single_launches_differ_between_hosts_by_a_time_that_rounds_do_not_tell(count):
    """Medians of 8, 15 and 30 µs were lower by 1.4 µs on another host, and one of a millisecond by as much."""
    for seconds in (8e-6, 15e-6, 30e-6):
        low, high = of_samples(count * [launched(seconds)])
        assert low < seconds - 1.4e-6 and high > seconds + 1.4e-6
        warm, cold = (np.diff(of_samples(count * [launched(seconds, cold=each)])) for each in (False, True))
        assert warm < 0.75 * cold
    warm, cold = (of_samples(count * [launched(1e-3, cold=each)]) for each in (False, True))
    assert cold == pytest.approx(warm, rel=1e-3)


def test_the_host_has_its_own_room_in_calls():
    assert of_samples([launched(8e-6, "calls")]) == of_samples([launched(8e-6, "calls", cold=False)])


def test_a_time_of_nothing_has_no_interval():
    with pytest.raises(ReproError, match="not positive"):
        interval([0.0], WITH_HOST)
