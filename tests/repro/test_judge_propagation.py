"""Intervals of what is worked out of measured numbers: errors of one direction add up, of two are independent."""

import numpy as np
import pytest

from repro.judge.difference import ALONE, FASTER, SAME, UNDECIDED, of_intervals
from repro.judge.intervals import Interval, Undefined, evaluate_all
from repro.judge.propagation import propagated

WIDTH = 0.2  # of the logarithm, to either side


def times(*values, width=WIDTH):
    return [(Interval(value, value), Interval(value * np.exp(-width), value * np.exp(width))) for value in values]


def reach(found, value):
    return [-np.log(found.low / value), np.log(found.high / value)]


def test_errors_of_a_ratio_are_independent():
    (found,) = propagated("a / b", {"a": times(3.0), "b": times(2.0)})
    assert reach(found, 1.5) == pytest.approx([np.sqrt(2) * WIDTH] * 2)


def test_errors_of_a_sum_and_of_a_product_add_up():
    (found,) = propagated("a + b", {"a": times(3.0), "b": times(1.0)})
    assert reach(found, 4.0) == pytest.approx([WIDTH] * 2)
    (found,) = propagated("a * b", {"a": times(3.0), "b": times(2.0)})
    assert reach(found, 6.0) == pytest.approx([2 * WIDTH] * 2)


@pytest.mark.parametrize("reducer", ["mean", "max", "median"])
def test_points_err_together(reducer):
    """A slow host is slow at all of them, so that many make no narrower interval."""
    found = propagated(f"{reducer}(a / b)", {"a": times(3.0, 3.0, 3.0), "b": times(2.0, 2.0, 2.0)})
    assert reach(found, 1.5) == pytest.approx([np.sqrt(2) * WIDTH] * 2)


def test_a_number_on_both_sides_counts_once():
    (found,) = propagated("100 * a / (a + b)", {"a": times(1.0), "b": [(Interval.of(1.0),) * 2]})
    low, high = (100 * e / (e + 1) for e in np.exp([-WIDTH, WIDTH]))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_what_may_be_negative_goes_by_differences():
    (found,) = propagated("a - b", {"a": times(1.0, width=0.1), "b": times(1.0, width=0.1)})
    assert found.low == pytest.approx(-np.hypot(1 - np.exp(-0.1), np.exp(0.1) - 1)) and found.high == -found.low


def test_a_comparison_is_what_is_certain_and_what_is_not_a_number_has_no_interval():
    spans = {"a": times(1.0, 1.0), "b": times(1.3, 2.0)}
    wide = {name: [pair[1] for pair in pairs] for name, pairs in spans.items()}
    assert propagated("sum(a < b)", spans) == evaluate_all("sum(a < b)", wide) == Interval(1.0, 2.0)
    with pytest.raises(Undefined):
        propagated("a / b", {"a": times(1.0), "b": [(Interval.of(0.0),) * 2]})


@pytest.mark.parametrize("common", [0.0, 0.5, 0.9])
def test_ratios_and_means_of_ratios_of_other_rounds_lie_within(common):
    """The times are heavy-tailed and share a part of their error, as times on one host do."""
    rng, rows = np.random.default_rng(3), 400
    reach_of_one = np.quantile(np.abs(rng.standard_t(1.7, 100_000)), 0.9)

    def errors():
        own, host = rng.standard_t(1.7, (2, 5)), rng.standard_t(1.7)
        return 0.02 * ((1 - common) * own + common * host)

    held = 0
    for _ in range(rows):
        new = np.exp(errors())
        spans = {name: times(*np.ones(5), width=0.02 * reach_of_one) for name in "ab"}
        found = propagated("mean(a / b)", spans)
        held += found.low <= np.mean(new[0] / new[1]) <= found.high
    assert held / rows >= 0.9


def test_two_numbers_are_compared_by_the_same_rule():
    a, b = (1.0, 0.9, 1.1), (1.18, 1.18 * 0.9, 1.18 * 1.1)
    assert of_intervals(a, b, 0.02).verdict == "slower" and b[1] < a[2]  # though the intervals overlap
    assert of_intervals(b, a, 0.02).verdict == FASTER
    assert of_intervals(a, (1.05, 0.95, 1.15), 0.02).verdict == UNDECIDED
    assert of_intervals((1.0, 0.99, 1.01), (1.0, 0.99, 1.01), 0.02).verdict == SAME
    found = of_intervals((1.0, None, None), (1.0, None, None), 0.02)
    assert found.high == pytest.approx(1.5) and ALONE < 1.5
