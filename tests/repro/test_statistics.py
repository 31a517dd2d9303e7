"""Medians and their intervals against SciPy's binomial distribution, and by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from repro.model import ReproError
from repro.run.statistics import median, median_ranks, outliers, quartiles, summarise


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_fewer_than_six_samples_have_no_interval(n):
    assert median_ranks(n) is None
    summary = summarise(range(n))
    assert (summary.ci_low, summary.ci_high, summary.n) == (None, None, n)
    assert summary.relative_width() == math.inf


@pytest.mark.parametrize("n", [6, 7, 8, 9, 10, 20, 37, 100, 101, 500])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_ranks_are_the_tightest_that_the_binomial_allows(n, confidence):
    ranks = median_ranks(n, confidence)
    if ranks is None:
        assert 1 - 2 * stats.binom.cdf(0, n, 0.5) < confidence
        return
    low, high = ranks
    assert high == n + 1 - low
    assert 1 - 2 * stats.binom.cdf(low - 1, n, 0.5) >= confidence
    assert 1 - 2 * stats.binom.cdf(low, n, 0.5) < confidence or low + 1 > high - 1


def test_ranks_of_small_samples_are_the_tabulated_ones():
    # Hahn and Meeker, Statistical Intervals, and any table of the sign test
    assert [median_ranks(n) for n in (6, 8, 9, 12, 20)] == [(1, 6), (1, 8), (2, 8), (3, 10), (6, 15)]


def test_coverage_that_is_exactly_the_wanted_one_is_enough():
    assert median_ranks(3, 0.75) == (1, 3)  # 1 - 2 / 2**3


@pytest.mark.parametrize("distribution", ["lognormal", "exponential", "cauchy"])
def test_interval_covers_the_median_as_often_as_it_says(distribution):
    rng = np.random.default_rng(20130819)
    n, trials = 20, 4000
    truth = {"lognormal": 1.0, "exponential": math.log(2), "cauchy": 0.0}[distribution]
    draws = {
        "lognormal": lambda: rng.lognormal(size=(trials, n)),
        "exponential": lambda: rng.exponential(size=(trials, n)),
        "cauchy": lambda: rng.standard_cauchy(size=(trials, n)),
    }[distribution]()
    covered = 0
    for draw in draws:
        summary = summarise(draw)
        covered += summary.ci_low <= truth <= summary.ci_high
    exact = 1 - 2 * stats.binom.cdf(median_ranks(n)[0] - 1, n, 0.5)
    assert covered / trials == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / trials))
    assert covered / trials > 0.94


def test_median_quartiles_and_fences_agree_with_numpy():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 10, 31):
        values = rng.normal(size=n)
        assert median(values) == pytest.approx(np.median(values), rel=1e-15)
        assert quartiles(values) == pytest.approx(tuple(np.quantile(values, [0.25, 0.75])), rel=1e-12)


def test_outliers_are_counted_and_kept():
    values = [1.0] * 5 + [1.1] * 5 + [9.0]
    assert outliers(values) == [10]
    summary = summarise(values)
    assert (summary.outliers, summary.n, summary.ci_high) == (1, 11, 1.1)


def test_relative_width_is_the_farther_end():
    summary = summarise([1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    assert (summary.median, summary.ci_low, summary.ci_high) == (2.0, 1.0, 2.0)
    assert summary.relative_width() == 0.5
    assert summarise([3.0] * 8).relative_width() == 0.0


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf]])
def test_what_cannot_be_summarised_is_an_error(bad):
    with pytest.raises(ReproError):
        summarise(bad)
