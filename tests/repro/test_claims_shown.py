"""What is shown beside a verdict: the interval or the range, what may be too long, and the page of all claims."""

import dataclasses

import pytest

from repro.judge.claims.table import RANGE, RULE, SHARED, UNDER_HALF, marked, measured, page
from repro.run.state import LOST
from tests.repro.claims_store import WHERE, Store, claim, effect, stated


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_what_was_timed_too_few_times_for_an_interval_is_named(store):
    store.row("a", "slow", "solve", 10.0, backend="host", spread=None, n=1)
    store.row("a", "fast", "solve", 1.0, spread=0.01, n=9)
    assert store.one(WHERE, effect()).reason.endswith("; too few runs for an interval: slow (1)")


def test_where_a_side_has_no_interval_that_of_the_other_is_not_shown_as_one_of_both(store):
    store.row("a", "slow", "solve", 10.0, backend="host", spread=None, n=1)
    store.row("a", "fast", "solve", 1.0, spread=0.1, n=9)
    judgement = store.one(WHERE, effect()).effect
    assert (judgement.value, judgement.low, judgement.high) == (10, None, None) and measured(judgement) == "10.0 x"
    store.row("b", "slow", "solve", 20.0, backend="host", spread=0.1, n=9)
    store.row("b", "fast", "solve", 1.0, spread=0.1, n=9)
    judgement = store.one(WHERE, effect()).effect
    assert (judgement.value, judgement.low, judgement.high) == (15, 10, 20)  # how far the points lie apart
    assert measured(store.one(WHERE, effect("max(cpu / gpu)")).effect) == "20.0 x"
    store.rows["box", "table1"][0].n = None  # not sampled at all
    judgement = store.one(WHERE, effect()).effect
    assert (judgement.low, judgement.high) == (10, 20)
    assert judgement.reason.endswith("; not sampled, so without an interval: slow solve")


def test_a_rate_of_too_few_runs_has_no_interval_either(store):
    store.row("a", "slow", "rate", 1.0, unit="GFLOP/s", spread=None)
    store.row("a", "slow", "spmv", 2.0, spread=None, n=3)
    store.row("a", "fast", "rate", 5.0, unit="GFLOP/s", spread=0.1, n=9)
    where = '[claim.where]\ngpu = "table1 fast rate"\ncpu = "table1 slow rate"'
    judgement = store.one(where, effect("gpu / cpu")).effect
    assert judgement.low is None and judgement.reason.endswith("; too few runs for an interval: slow (3)")


def test_what_ran_beside_other_cells_is_marked(store):
    store.times(a=(10.0, 1.0), b=(10.0, 1.0))
    store.cell("a", "slow", 20, 10.0)
    store.cell("b", "other", 15, 5.0)
    store.cell("b", "slow", 40, 10.0)
    verdict = store.one(WHERE, stated())
    assert verdict.stated.shared == 1 and "of 2 on the processor 1 beside other cells" in verdict.reason
    assert marked(verdict.stated) == "10.0 x, shared" and measured(verdict.stated) == "10.0 x"
    text = page([verdict], store.root)
    assert "| 10.0 x, shared | **holds** |" in text and SHARED in text
    assert marked(dataclasses.replace(verdict.stated, shared=0)) == "10.0 x"


def test_kernels_on_a_processor_that_was_busy_are_marked_as_baselines_are(store):
    store.row("a", "slow", "solve", 10.0, backend="openmp")
    store.row("a", "fast", "solve", 1.0)
    store.cell("a", "slow", 20, 10.0, backend="openmp")
    store.cell("b", "other", 15, 5.0, backend="cuda")
    store.cells[0]["notes"] = [f"slow on openmp: {LOST}"]
    where = '[claim.where]\ngpu = "table1 fast solve"\ncpu = "table1 slow solve"'
    verdict = store.one(where, stated())
    assert verdict.stated.shared == 1
    told = (
        "of 1 on the processor 1 beside other cells and 1 by threads that lost their cores often, which may slow them"
    )
    assert verdict.reason.endswith(told)
    store.cell("a", "fast", 15, 5.0, backend="cuda")  # a GPU's own times are not marked
    assert store.one('[claim.where]\ngpu = "table1 fast solve"', stated("gpu")).stated.shared == 0


def test_the_page_has_a_line_a_reading(store):
    store.times(a=(10.0, 1.0))
    text = page(store.judged(claim(WHERE, stated(), effect())), store.root)
    assert "| at least 8 x | 10.0 x | **holds** |" in text and "effect: An effect." in text
    assert RULE in text and RANGE in text


def test_the_summary_counts_what_cannot_be_measured(store):
    store.times(a=(10.0, 1.0))
    other = claim('unmeasured = "a fact about prices"').replace('"it"', '"price"')
    text = page(store.judged("\n\n".join([claim(WHERE, stated(), effect()), other])), store.root)
    assert "| `demo` | 2 | as stated | 1 | 0 | 0 | 1 |" in text and "| effect | 1 | 0 | 0 | 1 |" in text


@pytest.mark.parametrize(
    ("slow", "text", "few"),
    [
        ((10, 2, 1), "holds in part (1 of 3)", 1),
        ((10, 9, 1), "holds in part (2 of 3)", 0),
        ((10, 1), "holds in part (1 of 2)", 0),  # half of them is not under half
        ((10, None), "holds in part (1 of 2)", 0),
        ((10, None, None), "holds in part (1 of 3)", 1),
        ((10, 1, None), "holds in part (1 of 3)", 1),
        ((10, 9), "holds", 0),
        ((1, 2, 3), "does not hold", 0),
    ],
)
def test_what_holds_in_part_says_at_how_many_of_its_points(store, slow, text, few):
    for case, seconds in zip("abc", slow, strict=False):
        failed = {"spread": None, "status": "failed", "reason": "wrong"} if seconds is None else {}
        store.row(case, "slow", "solve", seconds, backend="host", **failed)
        store.row(case, "fast", "solve", 1.0)
    verdict = store.one(WHERE, stated())
    shown = page([verdict], store.root)
    assert f"| **{text}** |" in shown
    assert ("| as stated | 0 | 1 (1) | 0 | 0 |" in shown) == bool(few) and UNDER_HALF in shown
    assert ("1 of 3, not b; " in verdict.reason) == (slow == (10, 1, None))


def test_what_is_undecided_says_so_beside_its_verdict(store):
    for case in "ab":
        store.row(case, "slow", "solve", 7.6, backend="host", spread=0.1)
        store.row(case, "fast", "solve", 1.0)
    assert store.one(WHERE, stated()).stated.verdict == "holds in part (0 of 2, 2 undecided)"
    assert store.one(WHERE, stated("max(cpu / gpu)")).stated.verdict == "holds in part (undecided)"
    store.row("c", "slow", "solve", 1.0, backend="host", spread=None, status="failed", reason="wrong")
    store.row("c", "fast", "solve", 1.0)
    assert store.one(WHERE, effect("median(cpu / gpu)", than=7.7)).effect.verdict == "holds in part (undecided)"
