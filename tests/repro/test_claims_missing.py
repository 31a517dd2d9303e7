"""Points that have no value: a claim is decided only where they cannot change it."""

import math

import pytest

from repro.judge.claims import CONTRADICTED, EXCEEDED, REPRODUCED, UNDECIDED
from repro.judge.claims.judging import _reach
from repro.judge.claims.model import Predicate
from repro.judge.intervals import Interval
from tests.repro.claims_store import WHERE, Store, effect, stated


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_what_holds_at_some_of_a_papers_points_is_open(store):
    where = '[claim.where]\nn = "table2 fast iterations"'
    parts = (where, stated("n", "about", '"table2 fast iterations"', 'unit = "count"'))
    store.row("a", "fast", "iterations", 10, unit="count", stem="table2", spread=None)
    judgement = store.one(*parts).stated
    assert (judgement.outcome, judgement.missing, judgement.met) == (UNDECIDED, ("b",), 1)
    assert judgement.needs == "it needs a value of b"
    more = (where, effect("max(n)", "at least", 10, 'unit = "count"'))
    assert store.one(*more).outcome == REPRODUCED  # a largest value cannot become less
    assert store.one(where, effect("max(n)", "at least", 11, 'unit = "count"')).outcome == UNDECIDED
    assert store.one(where, effect("max(n)", "at most", 9, 'unit = "count"')).outcome == CONTRADICTED
    assert store.one(where, effect("n", "more than", 10, 'unit = "count"')).outcome == CONTRADICTED
    store.row("b", "fast", "", None, spread=None, status="failed", reason="wrong", stem="table2")
    assert store.one(*parts).stated.missing == ("b",)


def test_the_best_of_fewer_than_competed_elsewhere_decides_nothing(store):
    where = WHERE.replace("table1 slow", "table1 slow|slower")
    count = (where, effect("sum(cpu > gpu)", "at least", 2, 'unit = "count"'))
    store.times(a=(10.0, 1.0), b=(10.0, 1.0))
    store.row("a", "slower", "solve", 20.0, backend="host")
    judgement = store.one(*count).effect  # b has not run `slower`
    assert (judgement.outcome, judgement.value, judgement.missing) == (UNDECIDED, 1, ("b without slower",))
    assert judgement.needs == "it needs a value of b without slower"
    assert store.one(where, effect("mean(cpu > gpu)", "more than", 0.5)).outcome == UNDECIDED
    # A mean of 10 and of nothing negative is 5 at least.
    assert store.one(where, effect("mean(cpu / gpu)", "at least", 4)).outcome == REPRODUCED
    assert store.one(where, effect("mean(cpu / gpu)", "at least", 6)).outcome == UNDECIDED
    assert store.one(where, effect("mean(cpu / gpu)", "about", 4)).outcome == EXCEEDED
    assert store.one(where, effect("sum(cpu > gpu)", "about", 2, 'unit = "count"')).outcome == UNDECIDED
    assert store.one(where, effect("min(cpu / gpu)", "at most", 12)).outcome == REPRODUCED
    store.row("b", "slower", "", None, spread=None, status="skipped", reason="it does not fit", backend="host")
    assert store.one(*count).effect.value == 2 and store.one(*count).outcome == REPRODUCED  # that is an answer


@pytest.mark.parametrize(
    ("formula", "value", "low", "high"),
    [
        ("max(cpu / gpu)", (2, 3), 2, math.inf),
        ("max(1 - cpu / gpu)", (-2, -1), -2, math.inf),
        ("sum(cpu > gpu)", (2, 3), 2, math.inf),
        ("sum(cpu - gpu)", (2, 3), -math.inf, math.inf),
        ("mean(cpu / gpu)", (4, 8), 3, math.inf),  # three points and a missing one
        ("mean(cpu / gpu - 1)", (4, 8), -math.inf, math.inf),
        ("min(cpu / gpu)", (2, 3), 0, 3),
        ("min(cpu)", (-2, -1), -2, -1),
        ("min(cpu - gpu)", (2, 3), -math.inf, 3),
        ("median(cpu)", (2, 3), -math.inf, math.inf),
        ("max(cpu) / max(gpu)", (2, 3), -math.inf, math.inf),
        ("max(min(cpu), gpu)", (2, 3), -math.inf, math.inf),
        ("2 * max(cpu)", (2, 3), -math.inf, math.inf),
    ],
)
def test_what_missing_points_may_make_of_one_value(formula, value, low, high):
    found = _reach(Interval(*value), Predicate(formula, "at least"), 3, 1)
    assert (found.low, found.high) == (low, high)


def test_missing_points_leave_a_ratio_of_two_largest_open(store):
    for case in "ab":
        store.row(case, "fast", "iterations", 10, unit="count", stem="table2", spread=None)
    store.row("a", "slow", "iterations", 100, unit="count", stem="table2", spread=None)
    where = '[claim.where]\nslow = "table2 slow iterations"\nfast = "table2 fast iterations"'
    store.row("b", "slow", "", None, spread=None, status="failed", reason="wrong", stem="table2")
    judgement = store.one(where, effect("max(slow) / max(fast)", "at least", 5)).effect
    assert (judgement.outcome, judgement.missing) == (UNDECIDED, ("b",))
