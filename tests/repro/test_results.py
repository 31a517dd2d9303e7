"""Which sampled time a value was worked out from, and the interval that it has of that."""

import pytest

from repro.model import Row
from repro.show.results import interval_behind

TIME = {"ci_low": 3.0, "ci_high": 5.0, "n": 9}  # of 4 s: the ends lie unlike far in ratio


def row(metric, value, unit="s", **more):
    return Row("wong2015-figure15", "paper", "a", "fast", "cuda", "GPU 1", metric, value, unit, **more).as_dict()


def test_the_interval_of_a_time_is_scaled_for_a_time_and_turned_over_for_a_rate():
    cell = [row("run", 4.0, **TIME), row("run_cold", 8.0, **TIME), row("assembly", 1.0)]
    assert interval_behind(row("step", 0.4), cell) == {
        "n": 9,
        "ci_low": pytest.approx(0.3),
        "ci_high": pytest.approx(0.5),
    }
    assert interval_behind(row("rate", 20.0, "GFLOP/s"), cell) == {
        "n": 9,
        "ci_low": 16,
        "ci_high": pytest.approx(80 / 3),
    }


def test_what_is_no_rate_and_comes_from_no_time_has_no_interval():
    cell = [row("run", 4.0, **TIME)]
    assert interval_behind(row("assembly", 1.0), cell) == interval_behind(row("nodes", 8.0, "count"), cell) == {}
    assert interval_behind(row("step", 1.0), []) == {}
