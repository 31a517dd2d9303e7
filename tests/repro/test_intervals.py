"""Interval arithmetic: results enclose the results of all numbers from intervals, and formulas hold nothing else."""

import operator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repro.judge.intervals import Interval, Undefined, evaluate, evaluate_all, names_of
from repro.model import ReproError

ends = st.floats(-1e3, 1e3, allow_nan=False).filter(lambda x: abs(x) > 1e-3 or x == 0)
intervals = st.tuples(ends, ends).map(lambda pair: Interval(min(pair), max(pair)))
shares = st.floats(0, 1)
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy


@patient
@given(
    intervals, intervals, shares, shares, st.sampled_from([operator.add, operator.sub, operator.mul, operator.truediv])
)
def test_results_enclose_those_of_members(left, right, s, t, operation):
    if operation is operator.truediv and right.low <= 0 <= right.high:
        with pytest.raises(ReproError, match="zero"):
            operation(left, right)
        return
    a = min(left.high, left.low + s * (left.high - left.low))
    b = min(right.high, right.low + t * (right.high - right.low))
    result, value = operation(left, right), operation(a, b)
    margin = 1e-9 * (1 + abs(value))
    assert result.low - margin <= value <= result.high + margin


@patient
@given(intervals, shares, st.integers(0, 4))
def test_powers_enclose_those_of_members(base, s, power):
    a = min(base.high, base.low + s * (base.high - base.low))
    result = base**power
    assert result.low - 1e-9 * (1 + abs(a**power)) <= a**power <= result.high + 1e-9 * (1 + abs(a**power))


def test_formulas_work_out_intervals_and_lists_of_them():
    names = {"a": Interval(1, 2), "b": [Interval(1, 1), Interval(4, 5)], "c": [Interval(2, 2), Interval(1, 2)]}
    assert evaluate("2 * a ** 2 - 1", names) == Interval(1, 7)
    assert evaluate("-a / 2", names) == Interval(-1, -0.5)
    assert evaluate("max(b / c)", names) == Interval(2, 5)
    assert evaluate("min(b, 3)", names) == Interval(1, 1)
    assert evaluate("sum(b)", names) == Interval(5, 6)
    assert evaluate("between(4, a, 9)", names) == Interval(1, 9)
    assert evaluate("max(-b)", names) == Interval(-1, -1)


@pytest.mark.parametrize(
    "formula", ["x + 1", "a +", "__import__('os')", "a.low", "b * 2", "a ** a", "max()", "'text'", "a[0]"]
)
def test_anything_else_in_a_formula_is_refused(formula):
    with pytest.raises(ReproError):
        evaluate(formula, {"a": Interval(1, 2), "b": [Interval(1, 1)]})


def test_an_interval_is_ordered():
    with pytest.raises(ReproError):
        Interval(2, 1)
    with pytest.raises(ReproError):
        Interval(float("nan"), 1)


INFINITE = Interval(float("inf"), float("inf"))


@pytest.mark.parametrize(
    ("formula", "left", "right"),
    [
        ("a / b", Interval(1, 1), Interval(0, 0)), ("a / b", Interval(1, 2), Interval(-1, 1)),
        ("a / b", INFINITE, INFINITE), ("a - b", INFINITE, INFINITE),
        ("a * b", Interval(1, INFINITE.high), Interval(0, 1)), ("a * b", Interval(0, 1), Interval(1, INFINITE.high)),
        ("a ** 4 / b", Interval(1, 1e200), Interval(1, 1)),
    ],
)  # fmt: skip
def test_what_has_no_value_is_told_from_what_is_no_formula(formula, left, right):
    with pytest.raises(Undefined):
        evaluate(formula, {"a": left, "b": right})
    with pytest.raises(ReproError) as refused:
        evaluate("a // b", {"a": left, "b": right})
    assert not isinstance(refused.value, Undefined)


def test_meeting_allows_for_rounding_of_the_arithmetic_alone():
    assert Interval(1, 2).meets(Interval(2 + 1e-13, 3)) and Interval(2 + 1e-13, 3).meets(Interval(1, 2))
    assert not Interval(1, 2).meets(Interval(2.001, 3))


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (2.10779, 2.13115, "2.108 to 2.131"),
        (3, 3, "3"),
        (3837953, 3837953, "3,837,953"),  # geveler2011's Table 1 prints it in full
        (1172480, 1172496, "1,172,480 to 1,172,496"),
        (171234.5, 60412968, "171,000 to 60,412,968"),
        (494, 1e9, "494 to 1,000,000,000"),
        (2.5e-8, 2.5e-8, "2.5e-08"),
        (1, float("inf"), "1 to inf"),
    ],
)
def test_intervals_are_shown_to_the_digits_that_tell_their_ends_apart_and_as_papers_print_numbers(low, high, text):
    assert str(Interval(low, high)) == text


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("mean(x)", 2.0, 3.0), ("median(x)", 1, 4), ("sum(x < 3.5)", 1, 2), ("sum(x <= 0.5)", 0, 0),
        ("sum(x < 1)", 0, 0), ("sum(x > 3.5)", 1, 2), ("sum(x >= 4)", 1, 2), ("max(least(x, y))", 2, 2),
        ("min(greatest(x, y))", 2, 2), ("max(least(x, 2))", 2, 2),
    ],
)  # fmt: skip
def test_statistics_and_comparisons(formula, low, high):
    names = {"x": [Interval(1, 1), Interval(1, 4), Interval(4, 4)], "y": [Interval(2, 2)] * 3}
    value = evaluate(formula, names)
    assert (value.low, value.high) == pytest.approx((low, high))


def test_names_of_a_formula_leave_functions_out():
    assert names_of("max(a / b) + least(c, 2) - (d > 1)") == {"a", "b", "c", "d"}
    assert evaluate_all("a + 1", {"a": [Interval(1, 2)]}) == [Interval(2, 3)]
    for formula in ("a < b < c", "least()", "a == b"):
        with pytest.raises(ReproError):
            evaluate(formula, {name: Interval(1, 1) for name in "abc"})
