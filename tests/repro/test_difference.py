"""Slower, faster, the same, undecided: planted changes are called, noise of the size that is usual is not."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from repro.judge.difference import (
    FASTER,
    SAME,
    SLOWER,
    UNDECIDED,
    USUAL_FREEDOM,
    USUAL_SPREAD,
    interval,
    looks,
    of_intervals,
    of_rounds,
    verdict,
)

BENCHMARKS, ROUNDS = 30, 20
CONSISTENT = [1.4, 1.2, 1.3, 1.1, 1.25, 1.02]


def noise(rng, shape, kind):
    """Logarithms of ratios of equal code: a typical change of 1 %, the 95th percentile 8 %, for the first two kinds."""
    if kind == "benchmarks of different spread":
        scales = np.sqrt(USUAL_FREEDOM / rng.chisquare(USUAL_FREEDOM, size=(shape[0], 1)))
        return USUAL_SPREAD * scales * rng.standard_normal(shape)
    if kind == "rounds of different spread":
        return USUAL_SPREAD * rng.standard_t(USUAL_FREEDOM, size=shape)
    return 0.05 * rng.standard_normal(shape)  # a machine that others use


def judged(changes, rounds=ROUNDS):
    """Judge benchmarks as a comparison does: at its looks, until each is decided."""
    planned = list(looks(rounds))
    found = []
    for row in changes:
        for taken in planned:
            old, new = np.ones(taken), np.exp(row[:taken])
            said = of_rounds(old.tolist(), new.tolist(), chances=len(changes) * len(planned)).verdict
            if said != UNDECIDED:
                break
        found.append(said)
    return found


def test_the_noise_is_of_the_size_that_was_seen():
    rng = np.random.default_rng(0)
    for kind in ("benchmarks of different spread", "rounds of different spread"):
        sizes = np.abs(np.expm1(noise(rng, (200_000, 1), kind)))
        assert np.median(sizes) == pytest.approx(0.01, rel=0.1) and np.quantile(sizes, 0.95) == pytest.approx(
            0.08, rel=0.1
        )


@pytest.mark.parametrize("kind", ["benchmarks of different spread", "rounds of different spread", "a noisy machine"])
def test_equal_code_is_called_slower_or_faster_in_at_most_one_set_of_twenty(kind):
    rng = np.random.default_rng(1)
    sets = [judged(noise(rng, (BENCHMARKS, ROUNDS), kind)) for _ in range(40)]
    false = sum(any(said in (SLOWER, FASTER) for said in found) for found in sets)
    assert false <= 5, "of 40 sets, each with a chance of 5 %, six or more are a matter of 1 in 70"
    if kind != "a noisy machine":  # there nothing is known, which is said
        assert sum(found.count(SAME) for found in sets) > 0.6 * 40 * BENCHMARKS


@pytest.mark.parametrize(
    ("kind", "least"), [("benchmarks of different spread", 0.65), ("rounds of different spread", 0.5)]
)
def test_a_planted_three_per_cent_is_called(kind, least):
    rng = np.random.default_rng(2)
    changes = [noise(rng, (BENCHMARKS, ROUNDS), kind) + math.log(1.03) for _ in range(10)]
    found = list(itertools.chain.from_iterable(map(judged, changes)))
    assert found.count(SLOWER) >= least * len(found)
    assert FASTER not in found and found.count(SAME) <= 0.02 * len(found)
    more = noise(rng, (BENCHMARKS, 60), kind) + math.log(1.03)
    assert judged(more, 60).count(SLOWER) > 0.75 * BENCHMARKS, "more rounds tell more"


def test_what_every_round_says_is_called_though_the_rounds_differ():
    ones = [1.0] * 6
    assert of_rounds(ones, CONSISTENT).verdict == SLOWER and of_rounds(CONSISTENT, ones).verdict == FASTER
    found = of_rounds([3.0 * each for each in ones], [3.0 * each for each in CONSISTENT])
    assert found.ratio == pytest.approx(math.sqrt(1.2 * 1.25)) and 1 < found.low < found.ratio < found.high


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ([1.0] * 6, SAME), ([1.1] * 6, SLOWER), ([0.9] * 6, FASTER), ([1.01, 0.99] * 4, SAME),
        ([1.3, 0.8, 1.1, 0.9], UNDECIDED), ([1.5], UNDECIDED),
        ([1.003] * 20, SAME), ([1.017, 1.023] * 5, UNDECIDED), ([1.0] * 19 + [1.6], SAME),
    ],
)  # fmt: skip
def test_rounds(new, said):
    assert of_rounds([1.0] * len(new), new).verdict == said


def test_a_call_of_many_chances_takes_more_rounds():
    assert of_rounds([1.0] * 6, CONSISTENT, chances=300).verdict == UNDECIDED
    assert of_rounds([1.0] * 24, CONSISTENT * 4, chances=300).verdict == SLOWER


def test_the_drift_of_the_machine_is_in_both():
    drift = [1.0, 1.3, 1.7, 2.2, 2.9, 3.5, 4.0, 5.0]
    assert of_rounds(drift, [1.001 * each for each in drift]).verdict == SAME
    assert of_rounds(drift, [1.1 * each for each in drift]).verdict == SLOWER


def test_after_many_rounds_the_interval_is_within_that_of_ranks():
    """Whose confidence SciPy's exact test of signed ranks has: a shift by its ends is just not rejected."""
    changes = np.concatenate([np.random.default_rng(3).standard_normal(18), [-50, 50]])
    low, high = interval(changes, 0.05)
    for end, inwards in ((low, 1e-9), (high, -1e-9)):
        inside, outside = (stats.wilcoxon(changes - end - sign * inwards, method="exact").pvalue for sign in (1, -1))
        assert outside <= 0.025 < inside


def test_rounds_that_agree_by_chance_are_not_certain():
    mean, reach = 0.01, stats.t.ppf(1 - 0.0125, 3) / 2
    low, high = interval([mean] * 4, 0.05)
    assert (high + low) / 2 == pytest.approx(mean)
    assert (high - low) / 2 == pytest.approx(reach * USUAL_SPREAD * math.sqrt(USUAL_FREEDOM / (USUAL_FREEDOM + 3)))
    own = [0.1, -0.1, 0.1, -0.1]  # spread more than is usual: by themselves
    low, high = interval(own, 0.05)
    assert (high - low) / 2 == pytest.approx(reach * np.std(own, ddof=1))


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        ((1.0, 0.981, 1.019), SAME), ((1.015, 1.011, 1.019), SAME), ((1.03, 1.01, 1.05), SLOWER),
        ((1.03, 0.99, 1.07), UNDECIDED), ((1.015, 1.005, 1.03), UNDECIDED), ((0.9, 0.8, 0.99), FASTER),
        ((0.97, 0.9, 1.04), UNDECIDED),
    ],
)  # fmt: skip
def test_a_verdict_is_read_from_the_ratio_and_its_interval(ratio, said):
    assert verdict(*ratio, threshold=0.02) == said


def test_intervals_apart_are_a_difference():
    assert of_intervals((2.0, 1.9, 2.1), (3.0, 2.9, 3.1), 0.02).verdict == SLOWER
    assert of_intervals((2.0, 1.9, 2.1), (2.2, 2.0, 2.4), 0.02).verdict == UNDECIDED
    assert of_intervals((2.0, 1.9, 2.1), (3.0, 0.0, 3.1), 0.02).verdict == UNDECIDED
    assert of_intervals((2.0, None, None), (2.9, None, None), 0.02).verdict == UNDECIDED
    assert of_intervals((2.0, None, None), (3.1, None, None), 0.02).verdict == SLOWER


def test_looks_are_few_and_the_last_round_is_one():
    assert list(looks(20)) == [4, 6, 9, 13, 19, 20] and list(looks(4)) == [4] and list(looks(5)) == [4, 5]
