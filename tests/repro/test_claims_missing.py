"""Claims on cases that are not there, or of which there is too little: what is missing, and what is said of it."""

import pytest

from repro.judge.claims import CONTRADICTED, REPRODUCED, UNDECIDED, WEAKER, needed, notes
from repro.judge.claims.model import MEASUREMENTS, OWN_DATA
from repro.judge.claims.table import measured
from tests.repro.claims_store import WHERE, claim, effect, stated


def test_cases_of_which_the_paper_prints_nothing_are_no_points(store):
    for case, value in (("a", 10), ("b", 20), ("own", 50)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    where = '[claim.where]\nn = "table2 fast iterations"'
    judgement = store.one(where, stated("n", "about", '"table2 fast iterations"', 'unit = "count"')).stated
    assert (judgement.outcome, len(judgement.points)) == (REPRODUCED, 2)


def test_a_users_own_case_is_no_point(store):
    ledger = 'users_cases = ["own"]\n' + claim(WHERE, effect("sum(cpu > gpu)", "at most", 2, 'unit = "count"'))
    store.times(a=(10.0, 1.0), b=(10.0, 1.0), own=(10.0, 1.0))
    (verdict,) = store.judged(ledger)
    assert (verdict.outcome, verdict.effect.value, verdict.effect.missing) == (REPRODUCED, 2, ())
    assert measured(verdict.effect) == "2, of 2"
    store.rows.clear()
    store.times(a=(10.0, 1.0), b=(10.0, 1.0))
    for method, backend in (("slow", "host"), ("fast", "cuda")):
        store.row("own", method, "", None, spread=None, status="skipped", reason="none is given", backend=backend)
    (verdict,) = store.judged(ledger)
    assert (verdict.outcome, verdict.effect.missing) == (REPRODUCED, ())


def test_a_case_that_the_paper_has_not_is_a_point_where_it_was_measured_and_missing_nowhere(store):
    ledger = 'added_cases = ["extra"]\n' + claim(WHERE, stated(), effect())
    store.row("a", "slow", "solve", 10.0, backend="host")
    store.row("a", "fast", "solve", 1.0)
    store.row("b", "slow", "solve", 10.0, backend="host")
    skipped = {"spread": None, "status": "skipped", "reason": "not downloaded"}
    store.row("extra", "fast", "", None, **skipped)
    (verdict,) = store.judged(ledger)
    assert verdict.effect.missing == ("b",)
    store.rows["box", "table1"].pop(1)
    (verdict,) = store.judged(ledger)
    assert verdict.needs == "fast of Table 1 was not measured"  # and not: fast of the added case was skipped
    store.rows["box", "table1"].pop()
    for method, seconds, backend in (("slow", 30.0, "host"), ("fast", 1.0, "cuda")):
        store.row("extra", method, "solve", seconds, backend=backend)
    (verdict,) = store.judged(ledger)
    assert [point.name for point in verdict.effect.points] == ["extra"]


def test_a_claim_on_one_case_says_that_this_one_was_not_measured(store):
    store.times(a=(10.0, 1.0))
    where = '[claim.where]\ngpu = "table1 fast|faster solve b @gpu"'
    assert store.one(where, effect("gpu")).needs == "fast or faster of Table 1 (b) was not measured"


def test_a_method_without_the_metric_that_is_asked_for_was_measured(store):
    store.times(a=(10.0, 1.0))
    where = '[claim.where]\ngpu = "table1 fast energy @gpu"'
    assert store.one(where, effect("gpu")).needs == "fast of Table 1 ran on a GPU that tells no energy"
    store.row("a", "slow", "solve", 10.0, backend="host")
    where = where.replace("fast", "slow").replace("@gpu", "@host")
    assert store.one(where, effect("gpu")).needs == "slow of Table 1 ran on a processor that tells no energy"
    where = where.replace("energy", "nodes")
    assert store.one(where, effect("gpu")).needs == "the nodes of slow of Table 1 was not measured"


def test_a_point_of_named_cases_is_missing_where_one_of_them_is(store):
    each = '[claim.each]\nmesh = ["a", "b"]\n[claim.where]\n'
    where = 'coarse = "table2 fast iterations {mesh}-16"\nfine = "table2 fast iterations {mesh}-32"'
    for case, value in (("a-16", 10), ("a-32", 20), ("b-16", 10)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    judgement = store.one(each + where, effect("fine / coarse", "at least", 1.5)).effect
    assert (judgement.outcome, judgement.missing, len(judgement.points)) == (UNDECIDED, ("b",), 1)
    assert judgement.needs == "it needs a value of b"


@pytest.mark.parametrize(("metric", "unit", "ends"), [("solve", "s", (1.54, 2.2)), ("rate", "GB/s", (3.6, 4.94))])
def test_the_interval_of_the_best_of_several_has_room_for_another_one_to_be_the_best(store, metric, unit, ends):
    for method, value, spread in (("fast", 2.0, 0.1), ("fast-too", 2.2, 0.3), ("fast-long", 4.0, 0.1)):
        store.row("a", method, metric, value if unit == "s" else 6.0 - value, unit=unit, spread=spread)
    where = f'[claim.where]\nours = "table1 fast* {metric}"'
    judgement = store.one(where, effect("ours", more=f'unit = "{unit}"')).effect
    assert (judgement.low, judgement.high) == pytest.approx(ends)


def test_words_of_one_name_go_together(store):
    store.write("table1.csv", "case,method,metric,printed,unit,place\n")
    for case, method in (("a", "q1"), ("b", "q1"), ("a", "q2")):
        store.row(case, method, "solve", 2.0)
    each = (
        '[claim.each]\n"element largest" = ["q1 b", "q2 a"]\n[claim.where]\ntime = "table1 {element} solve {largest}"'
    )
    judgement = store.one(each, effect("time", more='unit = "s"')).effect
    assert [point.name for point in judgement.points] == ["q1 b", "q2 a"]


def test_a_case_that_the_paper_has_not_for_an_element_is_not_missing_of_what_it_has_not_at_all(store):
    head = "case,method,metric,printed,unit,place"
    store.write(
        "table1.csv", f"{head}\na,q1-slow,solve,2,s,Table 1\nb,q1-slow,solve,2,s,Table 1\na,q2-slow,solve,2,s,Table 1\n"
    )
    for element in ("q1", "q2"):
        store.row("a", f"{element}-best", "solve", 2.0)
    each = '[claim.each]\nelement = ["q1", "q2"]\n[claim.where]\ntime = "table1 {element}-best solve"'
    assert store.one(each, effect("time", more='unit = "s"')).effect.missing == ("b q1",)


def test_what_was_skipped_says_why(store):
    store.row("a", "slow", "solve", 1.0, backend="host")
    store.row("a", "fast", "", None, spread=None, status="skipped", reason="no card")
    assert store.one(WHERE, effect()).why == "fast of Table 1 was skipped: no card"


def test_what_failed_is_not_called_skipped(store):
    store.row("a", "slow", "solve", 1.0, backend="host")
    store.row("a", "fast", "", None, spread=None, status="failed", reason="no memory")
    assert store.one(WHERE, effect()).why == "fast of Table 1 failed: no memory"


def test_a_rival_that_has_run_elsewhere_alone_is_lacking_where_it_competes(store):
    store.times(a=(8.0, 1.0), b=(8.0, 1.0))
    store.row("a", "other", "solve", 4.0, backend="host")
    store.row("b", "other", "solve", 4.0)  # on the GPU
    rivals = effect(more='[claim.effect.where]\ncpu = "table1 slow|other solve @cpu"')
    found = store.one(WHERE, rivals).effect
    assert ([point.name for point in found.points], found.missing) == (["a"], ("b (no other)",))


def test_a_cell_that_opened_no_device_has_run_wherever_it_competes(store):
    store.times(a=(8.0, 1.0), b=(8.0, 1.0))
    store.row("a", "other", "solve", 2.0)
    store.row("b", "other", "", None, spread=None, backend="opencl", device="", status="skipped", reason="no driver")
    rivals = effect(more='[claim.effect.where]\ngpu = "table1 fast|other solve @gpu"')
    found = store.one(WHERE, rivals).effect
    assert ([point.name for point in found.points], found.missing) == (["a", "b"], ())


def test_words_that_a_reading_has_not_do_not_repeat_its_points(store):
    for word in ("x", "y"):
        store.row("a", f"slow-{word}", "solve", 8.0, backend="host")
        store.row("a", f"fast-{word}", "solve", 1.0)
    where = '[claim.each]\nword = ["x", "y"]\n[claim.where]\ncpu = "table1 slow-{word} solve"\n' \
            'gpu = "table1 fast-{word} solve"'  # fmt: skip
    today = '[claim.today]\nsays = "x"\nformula = "one / gpu_x"\n[claim.today.where]\none = "table1 slow-x solve"\n' \
            'gpu_x = "table1 fast-x solve"'  # fmt: skip
    verdict = store.one(where, stated(), today)
    assert [point.name for point in verdict.stated.points] == ["a x", "a y"]
    assert [point.name for point in verdict.today.points] == ["a"]


def test_what_was_not_sampled_needs_samples_and_not_more_of_them(store):
    store.row("a", "slow", "solve", 1.2, backend="host")
    store.row("a", "fast", "solve", 1.0, spread=None)
    assert store.one(WHERE, effect()).needs == "fast solve has no interval, since no run takes samples of it"


def test_a_point_by_request_alone_is_left_out_and_named(store, monkeypatch):
    store.times(a=(10.0, 1.0))
    store.row("b", "slow", "solve", 10.0, backend="host")
    assert store.one(WHERE, effect()).needs == "it needs a value of b"

    def why(claim, selectors, scale="paper", point=None):
        return "long" if point and (point.case, scale) == ("b", "paper") else ""

    monkeypatch.setattr(needed, "by_request", why)
    verdict = store.one(WHERE, effect())
    assert (verdict.outcome, verdict.effect.missing, verdict.effect.spared) == (REPRODUCED, (), ("b",))
    assert "not measured here, since a run leaves these out unless asked: b" in verdict.notes
    assert store.one(WHERE, effect("min(cpu / gpu)")).needs == "it needs a value of b"


def test_points_that_are_lacking_leave_open_what_they_could_change_alone(store, monkeypatch):
    monkeypatch.setattr(notes, "unlike", lambda: {"demo/far"})
    gains = {"a": 10.0, "b": 10.0, "c": 10.0, "d": 0.5}
    store.times(**{case: (gain, 1.0) for case, gain in gains.items()}, e=(10.0, 1.0))
    store.cell("e", "fast", 20, 1.0, backend="cuda", data=["demo/far"])

    def outcome(formula, relation, than, unit="%"):
        return store.one(WHERE, effect(formula, relation, than, f'unit = "{unit}"')).outcome

    share = "mean(cpu > gpu)"  # at three of four, so at three or four of five
    assert outcome(share, "at least", 50) == REPRODUCED and outcome(share, "at least", 85) == CONTRADICTED
    assert outcome(share, "at least", 70) == UNDECIDED
    assert outcome("sum(cpu > gpu)", "at most", 4, "count") == REPRODUCED
    assert outcome("sum(cpu > gpu)", "at most", 3, "count") == UNDECIDED
    assert outcome("median(cpu / gpu)", "at least", 10, "x") == REPRODUCED  # three of five are
    assert outcome("median(cpu / gpu)", "at least", 11, "x") == CONTRADICTED
    assert outcome("max(cpu / gpu)", "at least", 10, "x") == REPRODUCED
    assert outcome("mean(cpu / gpu)", "at most", 10, "x") == UNDECIDED  # a number that is none of a comparison
    assert outcome("mean(cpu - gpu)", "at least", 1, "s") == UNDECIDED  # nothing bounds it
    verdict = store.one(WHERE, effect(share, "at least", 50, 'unit = "%"'))
    assert "without a value, and unable to change the outcome: e" in verdict.notes
    alone = f'cases = ["a", "e"]\n{WHERE}'  # one point that is measured, and one that is not
    assert (
        "without a value, and unable to change the outcome: e"
        in store.one(alone, effect("max(cpu / gpu)", "at least", 10, 'unit = "x"')).notes
    )


def test_data_that_can_be_downloaded_are_asked_for_before_the_papers_own(store, monkeypatch):
    monkeypatch.setattr(notes, "unlike", lambda: {"demo/public", "demo/private"})
    monkeypatch.setattr(notes, "public", lambda: {"demo/public"})
    store.times(a=(10.0, 1.0), b=(10.0, 1.0), c=(10.0, 1.0))
    for case, data in (("b", "demo/private"), ("c", "demo/public")):
        store.cell(case, "fast", 20, 1.0, backend="cuda", data=[data])
    share = effect("mean(cpu > gpu)", "at least", 90, 'unit = "%"')
    verdict = store.one(WHERE, share)
    assert verdict.needs == "it needs a download of the public data of c, and the paper's own of b"
    assert verdict.waits == MEASUREMENTS
    monkeypatch.setattr(notes, "public", set)
    verdict = store.one(WHERE, share)
    assert (verdict.needs, verdict.waits) == ("it needs the paper's own data of b, c", OWN_DATA)
    assert store.one(WHERE, effect()).waits == ""  # it is decided by the first alone


def test_a_rival_by_request_alone_where_it_has_not_run_does_not_hold_a_case(store, monkeypatch):
    store.times(a=(10.0, 1.0), b=(10.0, 1.0))
    store.row("a", "rare", "solve", 5.0, backend="host")
    where = '[claim.where]\ncpu = "table1 * solve @host"\ngpu = "table1 fast solve @gpu"'
    assert store.one(where, effect()).effect.missing == ("b (no rare)",)
    asked = []

    def alone(paper, selector, scale, case, method):
        asked.append((selector.methods, scale, case, method))
        return method == "rare"

    monkeypatch.setattr(needed, "alone", alone)
    verdict = store.one(where, effect())
    assert (verdict.outcome, verdict.effect.missing) == (REPRODUCED, ())
    assert [point.value for point in verdict.effect.points] == [5, 10] and (("*",), "paper", "b", "rare") in asked


def test_a_number_that_is_missed_is_weaker_where_no_open_point_can_undo_the_effect(store):
    store.times(a=(3.0, 1.0), b=(3.0, 1.0))

    def leave_open(case):
        store.row(case, "slow", "solve", 1.0, backend="host", spread=0.1)
        store.row(case, "fast", "solve", 1.0)
        return store.one(WHERE, stated("max(cpu / gpu)"), effect())

    verdict = leave_open("c")  # the effect is at two or at three of three
    assert (verdict.effect.outcome, verdict.outcome, verdict.needs) == (UNDECIDED, WEAKER, "")
    verdict = leave_open("d")  # at two of four it would not be there
    assert (verdict.effect.outcome, verdict.outcome) == (UNDECIDED, UNDECIDED)
    assert verdict.needs.startswith("missed, and whether the effect is there is open: it needs more rounds")


def test_a_number_that_is_met_is_not_decided_while_its_effect_is_open(store):
    store.times(a=(10.0, 1.0))
    met = stated("max(cpu / gpu)", "at least")
    assert store.one(WHERE, met, effect()).outcome == REPRODUCED
    other = effect() + '\n[claim.effect.where]\ncpu = "table1 idle solve @host"'
    store.row("a", "idle", "solve", 1.0, backend="host", spread=0.1)
    verdict = store.one(WHERE, met, other)
    assert (verdict.stated.outcome, verdict.effect.outcome, verdict.outcome) == (REPRODUCED, UNDECIDED, UNDECIDED)
    assert verdict.needs.startswith("met, and whether the effect is there is open: it needs more rounds")


def test_a_number_that_is_met_is_not_decided_while_its_effect_was_not_measured(store):
    store.times(a=(9.0, 1.0))
    other = effect("other", more='[claim.effect.where]\nother = "table3 fast solve"')
    verdict = store.one(WHERE, stated(), other)
    assert (verdict.outcome, verdict.needs) == (UNDECIDED, "met, and its effect has no value: Table 3 was not measured")


def test_a_stand_in_that_was_made_to_have_a_number_does_not_reproduce_it(store, monkeypatch):
    monkeypatch.setattr(notes, "stand_ins", lambda: {"demo/near"})
    for case, value in (("a", 10), ("b", 20)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
        store.cells.append({"case": case, "method": "fast", "backend": "cuda", "data": ["demo/near"]})
    where, numbers = '[claim.where]\nn = "table2 fast iterations"', stated("n", "about", '"table2 fast iterations"')
    assert store.one("of_data = true", where, numbers).outcome == REPRODUCED
    verdict = store.one("of_data = true\nfitted = true", where, numbers)
    assert (verdict.outcome, verdict.why) == (UNDECIDED, "it needs the paper's own data of a, b")
    monkeypatch.setattr(notes, "stand_ins", set)  # the public ones were fetched
    assert store.one('fitted = ["demo/near"]', where, numbers).why == "it needs the paper's own data of a, b"
    assert store.one('fitted = ["demo/other"]', where, numbers).outcome == REPRODUCED
    assert store.one("of_data = true\nfitted = true", where, numbers).outcome == REPRODUCED


@pytest.mark.parametrize(("seconds", "outcome"), [(20.0, REPRODUCED), (2.0, WEAKER)])
def test_of_machines_with_as_many_points_one_that_decides_a_claim_judges_it_whichever_way(store, seconds, outcome):
    for machine, spread in (("a-card", 0.9), ("b-card", 0.01)):
        store.row("a", "slow", "solve", seconds, backend="host", machine=machine, spread=spread)
        store.row("a", "fast", "solve", 1.0, machine=machine)
    verdict = store.one(WHERE, stated(), effect())
    assert (verdict.machine, verdict.outcome) == ("b-card", outcome)
    store.row("b", "slow", "solve", seconds, backend="host", machine="a-card", spread=0.9)
    store.row("b", "fast", "solve", 1.0, machine="a-card")
    verdict = store.one(WHERE, stated(), effect())
    assert (verdict.machine, verdict.outcome) == ("a-card", UNDECIDED)
