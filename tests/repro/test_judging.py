"""Judgements: one value against one requirement, the machine whose results say most, and the part of a cache."""

import itertools
import json

import pytest

from repro.judge.claims import CONTRADICTED, EXCEEDED, REPRODUCED, UNDECIDED, WEAKER, Claim, Judgement, Verdict
from repro.judge.claims.judging import _worth
from repro.judge.claims.model import MISSED, PointOutcome, Predicate
from repro.judge.claims.outcomes import UNDER, _classes
from repro.judge.claims.stored import Stored
from repro.judge.intervals import Interval
from tests.repro.claims_store import WHERE, Store, effect, stated

CLAIM = Claim("it", "demo", "Abstract", "It is faster.", artefacts=("demo-table1",))
BY_A_HAIR = 1e-8  # more than rounding


def meets(value, bound, relation):
    """Whether the whole interval of a value meets a requirement, or none of it does; None in between."""
    found = _classes(value, bound, Predicate("x", relation, better="neither"))
    return {frozenset([REPRODUCED]): True, frozenset([UNDER]): False}.get(found)


@pytest.mark.parametrize(
    ("relation", "low", "high", "met"),
    [
        ("at least", 8, 8, True),
        ("at least", 8, 9, True),
        ("at least", 7, 8, None),
        ("at least", 7, 8 - BY_A_HAIR, False),
        ("at least", 8 * (1 - 1e-12), 9, True),  # rounding of the arithmetic
        ("more than", 8, 8, False),
        ("more than", 8, 9, None),
        ("more than", 7, 8, False),
        ("more than", 8 + BY_A_HAIR, 9, True),
        ("at most", 10, 10, True),
        ("at most", 9, 10, True),
        ("at most", 10, 11, None),
        ("at most", 10 + 2 * BY_A_HAIR, 11, False),
        ("at most", 9, 10 * (1 + 1e-12), True),
        ("less than", 10, 10, False),
        ("less than", 9, 10, None),
        ("less than", 10, 11, False),
        ("less than", 9, 10 - BY_A_HAIR, True),
        ("between", 8, 10, True),
        ("between", 8, 8, True),
        ("between", 10, 10, True),
        ("between", 7, 8, None),
        ("between", 10, 11, None),
        ("between", 7, 11, None),
        ("between", 7, 8 - BY_A_HAIR, False),
        ("between", 10 + 2 * BY_A_HAIR, 11, False),
        ("about", 8, 10, True),
        ("about", 7, 9, None),
    ],
)
def test_a_value_at_the_very_bound_meets_what_allows_for_it(relation, low, high, met):
    assert meets(Interval(low, high), Interval(8, 10), relation) is met


@pytest.mark.parametrize(
    ("relation", "low", "high", "met"),
    [
        ("at least", 0, 1, True), ("at least", -1, 0, None), ("at most", -1, 0, True), ("at most", 0, 1, None),
        ("about", 0, 0, True), ("about", -1, 0, None), ("about", 0, 1, None),
    ],
)  # fmt: skip
def test_at_a_bound_of_nothing_no_rounding_helps(relation, low, high, met):
    assert meets(Interval(low, high), Interval(0, 0), relation) is met


def verdict(stated=None, effect=None, machine="box"):
    """Make a verdict of readings, each a scale and a number of points; None where it was not measured."""
    point = PointOutcome("a", 1.0, 1.0, 1.0, "1", REPRODUCED)
    readings = (
        Judgement(UNDECIDED) if each is None else Judgement(REPRODUCED, 1.0, scale=each[0], points=(point,) * each[1])
        for each in (stated, effect)
    )
    return Verdict(CLAIM, machine, UNDECIDED, "", *readings)


@pytest.mark.parametrize(("formula", "outcome"), [("cpu / gpu", CONTRADICTED), ("gpu / cpu", EXCEEDED)])
def test_a_number_takes_its_effects_side_only_where_both_are_one_formula(store, formula, outcome):
    store.times(a=(30.0, 1.0))
    less = f'[claim.effect]\nformula = "{formula}"\nis = "at most"\nthan = 1'
    assert store.one(WHERE, stated(relation="about"), less).stated.points[0].outcome == outcome


def test_a_reading_that_is_missed_while_its_effect_is_open_is_called_missed(store):
    store.times(a=(3.0, 1.0))
    store.row("a", "other", "solve", 1.0, spread=0.5)
    other = '[claim.effect]\nformula = "other / gpu"\nis = "more than"\nthan = 1\n'
    verdict = store.one(WHERE, stated(), other + '[claim.effect.where]\nother = "table1 other solve"')
    assert (verdict.outcome, verdict.stated.outcome) == (UNDECIDED, MISSED)


def test_a_cause_is_tested_at_a_point_whose_direction_is_open_too(store):
    """The cause explains nothing there, and all of the other point's gap."""
    store.times(a=(4.0, 1.0))
    store.row("b", "slow", "solve", 1.1, backend="host", spread=0.2)
    store.row("b", "fast", "solve", 1.0)
    for case, seconds in (("a", 8.0), ("b", 1.1)):
        store.row(case, "other", "solve", seconds, backend="host")
    cause = '[[claim.cause]]\nsays = "it is another"\nformula = "other / gpu"\n'
    verdict = store.one(WHERE, stated(), cause + '[claim.cause.where]\nother = "table1 other solve @host"\n')
    assert [each.outcome for each in verdict.stated.points] == [WEAKER, MISSED]
    assert [(each.points, each.most) for each in verdict.tested if each.says == "it is another"] == [(2, 1)]


def test_what_says_more_of_a_claim_is_worth_more(tmp_path):
    store = Store(tmp_path)
    store.row("a", "fast", "solve", 1.0, machine="gpu")
    store.row("a", "fast", "solve", 1.0, machine="smaller", scale="small")
    store.row("a", "fast", "solve", 1.0, machine="processor", backend="openmp")
    store.row("a", "fast", "solve", None, machine="failing", spread=None, status="failed", reason="wrong")
    store.one('[claim.where]\ngpu = "table1 fast solve"', effect("gpu"))
    gpu, *others = (Stored(store.results, name) for name in ("gpu", "smaller", "processor", "failing"))
    in_order = [
        (verdict(("large", 1), ("paper", 1)), gpu),
        (verdict(("small", 9), ("paper", 9)), gpu),  # the papers' sizes go before more points
        (verdict(("small", 1), ("small", 9)), gpu),
        (verdict(("small", 1), ("small", 1)), gpu),
        (verdict(None, ("paper", 9)), gpu),  # both readings before one at the papers' size
        (verdict(None, ("small", 9)), gpu),
        (verdict(), gpu),
        (verdict(), others[0]),  # a GPU at the papers' sizes tells why
        (verdict(machine=""), gpu),
        (verdict(machine=""), None),
    ]
    for name, cores in (("processor", 16), ("smaller", 2)):
        (store.results / name / "machine.json").write_text(json.dumps({"hosts": [{"host": "a", "cores": cores}]}))
    more, less = verdict(("paper", 9)), verdict(("paper", 1))
    assert _worth(less, others[1], 4) > _worth(more, others[0], 4), "two cores stand for no four"
    assert _worth(less, others[1], 2) < _worth(more, others[0], 2), "with as many, points tell"
    assert _worth(verdict(("small", 9)), others[1], 4) < _worth(less, others[0], 4), "sizes go first"
    worth = [_worth(*pair) for pair in in_order]
    assert all(more > less for more, less in itertools.pairwise(worth[:-1])) and worth[-2] > worth[-1]
    assert len({_worth(verdict(), other) for other in others}) == 1


def test_a_rate_is_lower_by_as_much_as_its_product_takes_longer_cold(tmp_path):
    store = Store(tmp_path)
    for method in ("x", "y"):
        store.row("a", method, "rate", 100.0, unit="GFLOP/s", spread=None)
        store.row("a", method, "spmv", 1e-3, n=9, share=0.9)
        store.row("a", method, "spmv_cold", 4e-3)
    store.one('[claim.where]\nx = "table1 x rate @gpu"', effect("x"))
    stored = Stored(store.results, "box")
    rate, time = (next(row for row in stored.rows("demo-table1") if row["metric"] == each) for each in ("rate", "spmv"))
    assert (stored.cold(rate), stored.cold(time)) == pytest.approx((25, 4e-3))
