"""The sampled time that a value was worked out from, and the interval that the value has from it."""

import pytest

from repro.model import Row
from repro.rows import frame
from repro.show.results import Results, interval_behind, point

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


def test_a_point_has_the_interval_of_its_own_time_in_the_unit_that_is_asked_for():
    """0.4 GB in 0.01 s once, in 0.008 s each of 50 times, and 1200 times too few for an interval."""
    place = ("wong2015-figure12", "paper", "circuit", "k1", "cuda", "device")
    times = [("spmv", 1, 0.01, 0.0098, 0.0104, 9), ("spmv_cold", 1, 0.02, 0.019, 0.021, 9),
             ("spmv", 50, 0.008, 0.0079, 0.0082, 9), ("spmv", 1200, 0.005, None, None, 3)]  # fmt: skip
    rows = [Row(*place, metric, value, "s", low, high, n, parameters={"repeats": count})
            for metric, count, value, low, high, n in times]  # fmt: skip
    rates = {1: 40.0, 50: 50.0, 1200: 80.0}
    rows += [Row(*place, "bandwidth", rate, "GB/s", parameters={"repeats": count}) for count, rate in rates.items()]
    results = Results(frame([each.as_dict() for each in rows]), "paper", "somewhere", place[0])
    found = {count: point(results, "circuit", "k1", "bandwidth", "MB/s", "cuda", repeats=count) for count in rates}
    assert found[1] == pytest.approx((40e3, 0.4e3 / 0.0104, 0.4e3 / 0.0098))
    assert found[50] == pytest.approx((50e3, 0.4e3 / 0.0082, 0.4e3 / 0.0079)) and found[1200] == (80e3, None, None)
    assert point(results, "circuit", "k1", "nothing", "s") is None
