"""Verdicts at the edges: values that meet their bound exactly, that nothing is over, and points that are missing."""

import pytest

from repro.claims.model import FAILS, HOLDS, PART, UNMEASURED
from tests.repro.claims_store import WHERE, Store, effect, stated


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.mark.parametrize(
    ("relation", "state"),
    [("at least", HOLDS), ("more than", FAILS), ("at most", HOLDS), ("less than", FAILS), ("about", HOLDS)],
)
def test_a_value_that_is_its_bound(store, relation, state):
    store.times(a=(3.0, 1.0))
    assert store.one(WHERE, effect(relation=relation, than=3)).state == state


@pytest.mark.parametrize(
    ("relation", "state"), [("at least", HOLDS), ("more than", PART), ("at most", PART), ("less than", FAILS)]
)
def test_an_interval_that_begins_at_the_bound(store, relation, state):
    store.row("a", "slow", "solve", 2.0, backend="host", ci_low=1.0, ci_high=3.0)
    store.row("a", "fast", "solve", 1.0)
    assert store.one(WHERE, effect(relation=relation, than=1)).state == state


def test_what_is_over_zero_is_not_measured_and_the_other_claims_are_judged(store):
    store.times(a=(3.0, 0.0))
    verdict = store.one(WHERE, effect(), stated("max(cpu)"))
    assert verdict.effect.state == UNMEASURED and "cpu / gpu has no value" in verdict.effect.reason
    assert verdict.stated.state != UNMEASURED


def test_what_never_ends_over_what_never_ends_is_not_measured(store):
    store.times(a=(float("inf"), float("inf")))
    assert store.one(WHERE, effect()).effect.state == UNMEASURED


@pytest.mark.parametrize(
    ("formula", "state"),
    [
        ("max(cpu / gpu)", HOLDS),  # whatever that of b is, the largest is 10 at least
        ("max(cpu) / max(gpu)", PART),  # b may have a larger time on the GPU
        ("max(cpu) - 1", PART),  # no reducer alone, though this one could be told
    ],
)
def test_missing_points_decide_nothing_where_they_may_change_it(store, formula, state):
    store.times(a=(10.0, 1.0))
    for method, backend in (("slow", "host"), ("fast", "cuda")):
        store.row("b", method, "", None, spread=None, status="failed", reason="wrong", backend=backend)
    judgement = store.one(WHERE, effect(formula, "at least", 5)).effect
    assert (judgement.state, judgement.missing) == (state, ("b",))


def test_the_least_of_what_may_be_negative_is_no_more_than_it_is(store):
    store.times(a=(1.0, 3.0))
    for method, backend in (("slow", "host"), ("fast", "cuda")):
        store.row("b", method, "", None, spread=None, status="failed", reason="wrong", backend=backend)
    assert store.one(WHERE, effect("min(cpu - gpu)", "at most", -1, 'unit = "s"')).state == HOLDS


def test_a_claim_is_judged_by_the_machine_that_says_most_of_it(store):
    for machine, cases in (("few", "a"), ("many", "ab"), ("none", "")):
        for case in cases:
            store.row(case, "slow", "solve", 2.0, backend="host", machine=machine)
            store.row(case, "fast", "solve", 1.0, machine=machine)
    store.row("a", "slow", "solve", 2.0, backend="host", machine="none")
    assert store.one(WHERE, effect()).machine == "many"


def test_the_papers_sizes_go_before_more_points(store):
    for machine, scale in (("a small one", "small"), ("papers", "paper")):
        for case in "ab" if scale == "small" else "a":
            store.row(case, "slow", "solve", 2.0, backend="host", machine=machine, scale=scale)
            store.row(case, "fast", "solve", 1.0, machine=machine, scale=scale)
    assert store.one(WHERE, effect()).machine == "papers"
