"""Claims on small stores of rows whose verdicts are known, and what is wrong in a ledger."""

import pytest

from repro.judge.claims import CONTRADICTED, EXCEEDED, REPRODUCED, UNDECIDED, WEAKER, machines, notes
from repro.judge.claims.stored import Stored
from repro.judge.claims.table import measured
from tests.repro.claims_store import TABLE, WHERE, claim, effect, stated

NAMES = {"a": "regular", "b": "heart"}  # of which the second is a stand-in


@pytest.mark.parametrize(
    ("times", "outcome", "met"),
    [
        ({"a": (8.1, 1.0), "b": (7.9, 1.0)}, REPRODUCED, 2),
        ({"a": (20.0, 1.0), "b": (30.0, 1.0)}, EXCEEDED, 2),
        ({"a": (20.0, 1.0), "b": (8.0, 1.0)}, REPRODUCED, 2),  # no more than half exceed it
        ({"a": (8.0, 1.0), "b": (2.0, 1.0)}, WEAKER, 1),
        ({"a": (3.0, 1.0), "b": (2.0, 1.0)}, WEAKER, 0),
        ({"a": (0.9, 1.0), "b": (0.5, 1.0)}, CONTRADICTED, 0),
        ({}, UNDECIDED, 0),
    ],
)
def test_a_claim_has_one_of_five_outcomes(store, times, outcome, met):
    store.times(**times)
    verdict = store.one(WHERE, stated(relation="about"), effect())
    assert (verdict.outcome, verdict.claim.artefacts) == (outcome, ("demo-table1",))
    if times:
        assert verdict.stated.met == met and verdict.machine == "box" and verdict.stated.scale == "paper"
        assert verdict.stated.requirement == "about 8 x" and verdict.stated.published == "8"
        assert len(verdict.stated.points) == 2
    else:
        assert verdict.stated is None and verdict.why == "no results are stored"


def test_a_bound_is_fulfilled_and_never_exceeded(store):
    store.times(a=(30.0, 1.0))
    assert store.one(WHERE, stated()).outcome == REPRODUCED  # at least 8
    assert store.one(WHERE, stated(relation="up to")).outcome == EXCEEDED
    assert store.one(WHERE, stated(relation="about", more='better = "less"')).outcome == CONTRADICTED  # 30 is no less
    assert store.one(WHERE, stated(relation="about", more='better = "neither"')).outcome == CONTRADICTED


def test_what_misses_its_number_is_weaker_only_where_the_effect_is_there(store):
    store.times(a=(3.0, 1.0))
    assert store.one(WHERE, stated()).outcome == WEAKER  # three times as fast, on the paper's side of one
    assert store.one(WHERE, stated(), effect(than=2)).outcome == WEAKER
    assert store.one(WHERE, stated(), effect(than=4)).outcome == CONTRADICTED
    assert store.one(WHERE, stated("gpu / cpu")).outcome == CONTRADICTED  # slower, where the paper is faster
    store.times(b=(30.0, 1.0))
    assert store.one(WHERE, stated("max(cpu / gpu)"), effect(than=40)).outcome == WEAKER  # the number, but no effect


def test_an_effect_at_most_of_its_points_is_weaker_and_at_fewer_contradicted(store):
    store.times(a=(3.0, 1.0), b=(2.0, 1.0), c=(0.5, 1.0))
    assert store.one(WHERE, effect()).outcome == WEAKER
    store.times(d=(0.5, 1.0))
    verdict = store.one(WHERE, effect())
    assert verdict.outcome == CONTRADICTED and verdict.effect.met == 2
    assert {point.name: point.outcome for point in verdict.effect.points} == {
        "a": REPRODUCED, "b": REPRODUCED, "c": CONTRADICTED, "d": CONTRADICTED,
    }  # fmt: skip


def test_values_of_points_are_enclosed(store):
    store.times(a=(10.0, 1.0), b=(2.0, 1.0), c=(20.0, 1.0))
    judgement = store.one(WHERE, stated()).stated
    assert (judgement.value, judgement.low, judgement.high) == (10, 2, 20)
    assert measured(judgement) == "10.0 x (2.00 to 20.0 x)"
    assert [(point.name, point.value, point.published) for point in judgement.points][1] == ("b", 2.0, "8")


def test_a_number_is_a_range_of_what_would_be_printed_so(store):
    store.times(a=(7.6, 1.0))
    assert store.one(WHERE, stated()).outcome == REPRODUCED  # 7.6 is printed as 8
    store.times(b=(7.4, 1.0))
    assert store.one(WHERE, stated()).outcome == WEAKER
    assert store.one(WHERE, stated(more="tolerance = 0.05")).outcome == REPRODUCED


def test_an_interval_over_the_bound_decides_nothing(store):
    store.row("a", "slow", "solve", 7.6, backend="host", spread=0.1)
    store.row("a", "fast", "solve", 1.0)
    verdict = store.one(WHERE, stated())
    judgement = verdict.stated
    assert (verdict.outcome, judgement.met, judgement.points[0].outcome) == (UNDECIDED, 0, UNDECIDED)
    assert verdict.why.endswith(
        "or rounds on a quieter machine, since the interval reaches across a limit: a (6.84 to 8.36)"
    )
    assert judgement.low == pytest.approx(6.84) and judgement.high == pytest.approx(8.36)


def test_undecided_points_leave_open_what_they_could_change_alone(store):
    store.times(a=(3.0, 1.0), b=(2.0, 1.0))
    store.row("c", "slow", "solve", 7.6, backend="host", spread=0.1)
    store.row("c", "fast", "solve", 1.0)
    verdict = store.one(WHERE, stated())
    assert (verdict.outcome, len(verdict.stated.points), verdict.stated.met) == (WEAKER, 3, 0)
    store.times(d=(10.0, 1.0))
    assert store.one(WHERE, stated()).outcome == WEAKER  # at two of four at best: the effect is there
    store.rows.clear()
    store.times(a=(9.0, 1.0))
    for case in "bc":
        store.row(case, "slow", "solve", 7.6, backend="host", spread=0.1)
        store.row(case, "fast", "solve", 1.0)
    assert store.one(WHERE, stated()).outcome == UNDECIDED  # all of them, or one of three


def test_a_time_of_too_few_samples_or_beside_others_decides_what_is_far_alone(store):
    store.row("a", "slow", "solve", 9.0, backend="host", spread=None, n=1)
    store.row("a", "fast", "solve", 1.0, spread=0.01, n=9)
    verdict = store.one(WHERE, stated())
    assert verdict.outcome == UNDECIDED
    assert verdict.why == "it needs more samples of slow"
    store.rows["box", "table1"][0].value = 90.0
    assert store.one(WHERE, stated()).outcome == REPRODUCED


def test_a_time_whose_samples_were_disturbed_may_be_too_long(store):
    store.times(a=(20.0, 1.0), b=(30.0, 1.0))
    store.cell("a", "slow", 20, 10.0)
    store.cells[0]["notes"] = ["solve of slow on host was disturbed, and not to be had otherwise: heat"]
    verdict = store.one(WHERE, stated())
    assert [each.outcome for each in verdict.stated.points] == [UNDECIDED, REPRODUCED]
    assert verdict.outcome == UNDECIDED and "it needs a quiet machine for slow" == verdict.why


@pytest.mark.parametrize(
    ("relation", "published", "gains", "outcome"),
    [
        ("between", '["text gain", "text gain-most"]', (8, 10), REPRODUCED),
        ("between", '["text gain", "text gain-most"]', (11, 12), EXCEEDED),
        ("between", '["text gain", "text gain-most"]', (5, 6), WEAKER),
        ("about", '"text gain"', (8, 8.2), REPRODUCED),
        ("about", '"text gain"', (7, 6), WEAKER),
        ("at most", '"text gain"', (8.4, 1), REPRODUCED),
        ("less than", '"text gain"', (9, 12), CONTRADICTED),
        ("more than", '"text gain"', (9, 12), REPRODUCED),
    ],
)
def test_relations(store, relation, published, gains, outcome):
    store.times(**{case: (gain, 1.0) for case, gain in zip("ab", gains, strict=True)})
    assert store.one(WHERE, stated(relation=relation, published=published)).outcome == outcome


def test_formulas_reduce_and_units_convert(store):
    store.row("a", "slow", "solve", 2.0, backend="host")
    store.row("b", "slow", "solve", 12000.0, unit="ms", backend="host")
    for case in "ab":
        store.row(case, "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated("max(cpu / gpu)")).stated
    assert judgement.value == 12 and judgement.outcome == REPRODUCED and len(judgement.points) == 1
    assert store.one(WHERE, effect("median(cpu / gpu) - 1", than=500, more='unit = "%"')).effect.value == 600
    assert store.one(WHERE, effect("sum(cpu > 3 * gpu)", "about", 1, 'unit = "count"')).outcome == REPRODUCED


def test_each_word_and_each_case_is_a_point_with_its_own_number(store):
    for form, factor in (("x", 1), ("y", 2)):
        for case, value in (("a", 3.1), ("b", 2.4)):
            store.row(case, f"{form}-mul", "rate", factor * value, unit="GFLOP/s")
    where = '[claim.each]\nform = ["x", "y"]\n[claim.where]\nrate = "table1 {form}-mul rate @gpu"'
    judgement = store.one(where, stated("rate", published='"text rate-{case}"', more='unit = "GFLOP/s"')).stated
    assert (len(judgement.points), judgement.met) == (4, 2)
    assert [each.name for each in judgement.points if each.outcome != REPRODUCED] == ["b x", "b y"]
    assert judgement.requirement == "at least the published number"
    assert store.one(f'cases = ["a"]\n{where}', effect("rate", than=3e9, more='unit = "FLOP/s"')).effect.met == 2


def test_numbers_of_tables_are_those_of_the_case(store):
    store.row("a", "fast", "iterations", 10, unit="count", stem="table2", spread=None)
    store.row("b", "fast", "iterations", 21, unit="count", stem="table2", spread=None)
    where = '[claim.where]\nn = "table2 fast iterations @kernels"'
    judgement = store.one(where, stated("n", "about", '"table2 fast iterations"', 'unit = "count"')).stated
    assert [each.outcome for each in judgement.points] == [REPRODUCED, CONTRADICTED]
    assert store.one(where, stated("n", "about", '"table2 fast iterations"', "tolerance = 0.1")).outcome == REPRODUCED


def test_of_equals_the_machine_that_measured_at_the_papers_size_on_a_gpu_tells_why(store):
    for machine, scale in (("a laptop", "small"), ("a server", "paper")):
        store.row("a", "fast", "solve", 1.0, machine=machine, scale=scale)
    verdict = store.one(WHERE, stated())
    assert verdict.machine == "a server" and "slow of Table 1 was not measured" in verdict.why


def test_what_never_pays_is_infinite(store):
    store.write("table2.csv", TABLE + "c,fast,iterations,∞,count,Table 2\n")
    for case, value in (("a", 9), ("b", float("inf")), ("c", float("inf"))):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    parts = (
        '[claim.where]\nn = "table2 fast iterations"',
        '"table2 fast iterations"',
        'unit = "count"\ntolerance = 0.1',
    )
    judgement = store.one(parts[0], stated("n", "at most", *parts[1:])).stated
    assert [each.outcome for each in judgement.points] == [REPRODUCED, WEAKER, REPRODUCED]
    assert measured(judgement) == "∞ (9 to ∞)"


@pytest.mark.parametrize(
    ("slow", "fast", "reason"),
    [
        (1.0, 0.0, "division by 0, which holds zero; fast solve of a is 0"),
        (float("inf"), float("inf"), "inf and inf make no number; slow solve of a is inf, fast solve of a is inf"),
    ],
)
def test_a_value_that_a_formula_cannot_take_leaves_its_claim_unmeasured_and_others_alone(store, slow, fast, reason):
    store.times(a=(slow, fast), b=(10.0, 1.0))
    other = claim(WHERE, effect("gpu", "at most", 2, 'unit = "s"')).replace('"it"', '"other"')
    verdict, other = store.judged("\n\n".join([claim(WHERE, stated(), effect("cpu", more='unit = "s"')), other]))
    assert (verdict.stated.outcome, verdict.stated.value) == (UNDECIDED, None)
    assert verdict.stated.needs == f"cpu / gpu has no value: {reason}" and verdict.stated.requirement == "at least 8 x"
    assert verdict.effect.value is not None and other.effect.value is not None


def test_a_rate_of_a_time_of_nothing_has_no_interval(store):
    store.row("a", "fast", "rate", 100.0, unit="GB/s", spread=None, backend="openmp")
    store.row("a", "fast", "spmv", 0.0, spread=0.1, n=9, backend="openmp")
    store.row("a", "fast", "spmv_cold", 1.0, backend="openmp")
    for metric, unit in (("rate", "GB/s"), ("spmv", "s")):
        where = f'[claim.where]\nours = "table1 fast {metric}"'
        assert store.one(where, effect("ours", than=-1, more=f'unit = "{unit}"')).outcome == REPRODUCED


def test_as_stated_is_judged_at_the_papers_sizes_alone(store):
    for case in "ab":
        store.row(case, "slow", "solve", 20.0, backend="host", scale="small")
        store.row(case, "fast", "solve", 1.0, scale="small")
    verdict = store.one(WHERE, stated(), effect())
    assert (
        verdict.stated.value is None and verdict.stated.needs == "Table 1 was measured at scale small, and not at paper"
    )
    assert verdict.effect.scale == "small" and verdict.outcome == UNDECIDED
    assert verdict.why == "Table 1 was measured at scale small, and not at paper"
    for case in "ab":
        store.row(case, "slow", "solve", 0.5, backend="host", scale="paper")
        store.row(case, "fast", "solve", 1.0, scale="paper")
    verdict = store.one(WHERE, stated(), effect())
    assert verdict.outcome == CONTRADICTED  # the papers' size goes before others
    assert [each.scale for each in verdict.judgements] == ["paper", "paper"]


def test_pocl_on_a_processor_is_no_gpu(store):
    store.times(a=(10.0, 1.0))
    store.rows["box", "table1"].pop()
    store.row("a", "fast", "solve", 1.0, backend="opencl", device="pthread-CPU 1")
    store.row("b", "slow", "solve", 9.0, backend="host")
    verdict = store.one(WHERE, stated())
    assert verdict.outcome == UNDECIDED and verdict.needs == "fast of Table 1 was not measured on a GPU"
    store.row("b", "fast", "solve", 1.0, backend="opencl", device="Radeon")
    assert len(store.one(WHERE, stated()).stated.points) == 1


def test_the_best_of_several_rows_counts(store):
    store.row("a", "slow", "solve", 10.0, backend="host")
    store.row("a", "fast", "solve", 2.0)
    store.row("a", "fast", "solve", 1.0, backend="opencl", device="GPU 1")
    store.row("a", "faster", "solve", 0.5)
    assert store.one(WHERE, effect()).effect.value == 10
    where = WHERE.replace("table1 fast", "table1 fast*")
    assert store.one(where, effect()).effect.value == 20
    assert store.one(WHERE.replace("@gpu", "@opencl+gpu"), effect()).effect.value == 10
    assert store.one(WHERE.replace("@gpu", "@cuda"), effect()).effect.value == 5


@pytest.mark.parametrize(
    ("metric", "best", "others"),
    [("solve", (2.0, "ms"), (1.0, "s")), ("rate", (1.0, "TFLOP/s"), (900.0, "GFLOP/s"))],
)
def test_the_best_is_so_in_any_unit(store, metric, best, others):
    for method, (value, unit) in (("fast-1", others), ("fast-2", best), ("fast-3", others)):
        store.row("a", method, metric, value, unit=unit)
    unit = others[1]
    found = store.one(f'[claim.where]\nours = "table1 fast* {metric}"', effect("ours", more=f'unit = "{unit}"')).effect
    assert found.value == pytest.approx(0.002 if unit == "s" else 1000)


def test_counts_on_stand_ins_say_so(store):
    for case, value in (("a", 10), ("b", 30)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
        store.cells.append({"case": case, "method": "fast", "backend": "cuda", "data": [f"fu2014/{NAMES[case]}"]})
    parts = ('[claim.where]\nn = "table2 fast iterations"', stated("n", "about", '"table2 fast iterations"'))
    assert store.one(*parts).notes == ("on stand-ins: heart",)
    store.rows.clear()  # and where they agree as well: it is we who made them so
    for case, value in (("a", 10), ("b", 20)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    assert store.one(*parts).notes == ("on stand-ins: heart",)


def test_a_slow_down_is_asked_for_as_the_fraction_that_it_is(store):
    store.write("table2.csv", "case,method,metric,printed,unit,place\na,fast,gain,(1.3),x,Table 2\n")
    store.row("a", "fast", "gain", 0.75, unit="x", stem="table2", spread=None)
    parts = ('[claim.where]\nn = "table2 fast gain"', stated("n", "about", '"table2 fast gain a"'))
    found = store.one(*parts).stated
    assert found.outcome == REPRODUCED and found.requirement.startswith("about 1/1.3 x")


def test_one_value_of_all_cases_is_judged_by_the_machine_that_lacks_fewest_of_them(store):
    for machine, cases in (("first", "a"), ("second", "ab")):
        for case in cases:
            store.row(case, "slow", "solve", 10.0, backend="host", machine=machine)
            store.row(case, "fast", "solve", 1.0, machine=machine)
    store.row("b", "slow", "solve", 10.0, backend="host", machine="first")
    verdict = store.one(WHERE, effect("sum(cpu > gpu)", "at least", 2, 'unit = "count"'))
    assert (verdict.machine, verdict.outcome) == ("second", REPRODUCED)


def test_results_that_are_not_verified_judge_where_no_others_do(store):
    for machine, cases in (("edited", "ab"), ("measured", "a")):
        for case in cases:
            store.row(case, "slow", "solve", 10.0, backend="host", machine=machine)
            store.row(case, "fast", "solve", 1.0, machine=machine)
    asked = WHERE, effect("sum(cpu > gpu)", "at least", 1, 'unit = "count"')
    assert store.one(*asked).machine == "edited"
    (store.results / "unverified.csv").write_text("file,reason\nedited/demo/table1,edited\n")
    assert store.one(*asked).machine == "measured"
    assert store.one(*asked, machine="edited").outcome == REPRODUCED


def test_what_is_to_be_alike_is_not_exceeded(store):
    for ratio, outcome in ((1.05, REPRODUCED), (2.0, CONTRADICTED), (0.5, CONTRADICTED)):
        store.rows.clear()
        store.times(a=(ratio, 1.0))
        assert store.one(WHERE, effect("cpu / gpu", "about", 1, "tolerance = 0.1")).outcome == outcome


def test_each_claim_is_judged_by_the_machine_that_says_most_of_it(store):
    for machine, scale in (("laptop", "small"), ("server", "paper")):
        for method, value, backend in (("slow", 20.0, "host"), ("fast", 1.0, "cuda")):
            store.row("a", method, "solve", value, backend=backend, machine=machine, scale=scale)
    verdict = store.one(WHERE, stated(), effect())
    assert verdict.machine == "server" and verdict.outcome == REPRODUCED
    verdict = store.one(WHERE, stated(), effect(), machine="laptop")
    assert verdict.machine == "laptop" and verdict.stated.value is None and verdict.outcome == UNDECIDED
    assert machines(store.results) == ["laptop", "server"]
    assert store.one(WHERE, effect(), machine="nowhere").needs == "Table 1 was not measured"


def test_what_is_measured_on_data_unlike_the_papers_tests_no_claim(store, monkeypatch):
    monkeypatch.setattr(notes, "unlike", lambda: {"demo/far"})
    for case, value in (("a", 10), ("b", 30)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
        data = "demo/near" if case == "a" else "demo/far"
        store.cells.append({"case": case, "method": "fast", "backend": "cuda", "data": [data]})
    where = '[claim.where]\nn = "table2 fast iterations"'
    each = store.one(where, stated("n", "about", '"table2 fast iterations"')).stated
    assert (each.outcome, len(each.points), each.untestable) == (REPRODUCED, 1, ("b",))
    mean = store.one(where, stated("mean(n)", "about", '"table2 fast iterations a"'))
    assert mean.outcome == UNDECIDED and mean.needs == "it needs the paper's own data of b"
    store.row("a", "fast", "iterations", 10, unit="count", stem="table2", spread=None, scale="small")
    monkeypatch.setattr(notes, "unlike", lambda: {"demo/far", "demo/near"})
    none = store.one(where, stated("n", "about", '"table2 fast iterations"'))
    assert none.outcome == UNDECIDED and none.needs == "it needs the paper's own data of a, b"
    text = claim(where, stated("n", "about", '"table2 fast iterations"'))
    (alike,) = store.judged(f'of_size = ["table2"]\n{text}')  # for which data need have the paper's size alone
    assert len(alike.stated.points) == 2 and not alike.stated.untestable


@pytest.mark.parametrize(("of_data", "outcome"), [("of_data = true", UNDECIDED), ("", CONTRADICTED)])
def test_a_count_that_a_stand_in_misses_contradicts_nothing(store, monkeypatch, of_data, outcome):
    monkeypatch.setattr(notes, "stand_ins", lambda: {"demo/near"})
    for case, iterations in (("a", 10), ("b", 40)):
        store.row(case, "fast", "iterations", iterations, unit="count", stem="table2")
        store.cell(case, "fast", 20, 1.0, backend="cuda", data=["demo/near"])
    numbers = stated("n", "about", '"table2 fast iterations"', 'unit = "count"')
    ledger = (of_data, '[claim.where]\nn = "table2 fast iterations"', numbers)
    store.rows["box", "table2"][0].value = 11
    grown = ledger[0], ledger[1], effect("max(n) / min(n)", "at most", than=1.2)  # one value of all points
    for verdict in (store.one(*ledger), store.one(*grown)):
        assert verdict.outcome == outcome
        assert not of_data or verdict.why == "it needs the paper's own data of near"


def test_only_the_points_that_are_left_open_need_more_samples(store):
    store.times(a=(100.0, 1.0))
    store.row("a", "slow", "solve", 100.0, backend="host", spread=None, n=1)
    store.rows["box", "table1"].pop(0)
    where = '[claim.where]\ncpu = "table1 slow|tired solve @host"\ngpu = "table1 fast solve"'
    store.row("b", "tired", "solve", 8.5, backend="host", spread=None, n=1)
    store.row("b", "fast", "solve", 1.0)
    store.row("b", "slow", "solve", 9.0, backend="host", spread=None, n=1)
    store.row("a", "tired", "solve", 101.0, backend="host", spread=None, n=1)
    assert store.one(where, stated()).why == "it needs more samples of tired"


def test_a_point_that_misses_says_which_way_it_goes(store):
    store.times(a=(9.0, 1.0), b=(9.0, 1.0), c=(3.0, 1.0), d=(0.5, 1.0), e=(9.0, 1.0))
    verdict = store.one(WHERE, stated())
    assert verdict.outcome == WEAKER
    assert [each.outcome for each in verdict.stated.points[2:4]] == [WEAKER, CONTRADICTED]
    assert store.one(WHERE, stated("(cpu / gpu - 1) * 100", more='unit = "%"')).stated.points[3].outcome == CONTRADICTED


def test_of_several_processors_the_one_that_measured_the_paper_has_the_ceilings(store):
    store.bandwidths |= {"CPU 2": 4e12}  # of another host, which measured nothing of it
    store.row("a", "slow", "solve", 2.0, backend="host", share=0.5)
    store.row("a", "fast", "solve", 1.0)
    store.one(WHERE, stated(), effect())
    roofs = Stored(store.results, "box").rows("demo-ceilings")
    assert {row["device"] for row in roofs} == {"GPU 1", "CPU 1"}
