"""Claims on small stores of rows whose verdicts are known, and what is wrong in a ledger."""

import json
from itertools import chain

import pytest

from repro.judge.claims import FAILS, HOLDS, PART, UNMEASURED, claims, machines, points
from repro.judge.claims.table import measured
from tests.repro.claims_store import TABLE, WHERE, Store, claim, effect, stated

NAMES = {"a": "regular", "b": "heart"}  # of which the second is a stand-in


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.mark.parametrize(
    ("times", "state", "met"),
    [
        ({"a": (10.0, 1.0), "b": (9.0, 1.0)}, HOLDS, 2),
        ({"a": (10.0, 1.0), "b": (2.0, 1.0)}, PART, 1),
        ({"a": (3.0, 1.0), "b": (2.0, 1.0)}, FAILS, 0),
        ({}, UNMEASURED, 0),
    ],
)
def test_a_claim_holds_when_every_point_meets_it_and_does_not_when_none_does(store, times, state, met):
    store.times(**times)
    verdict = store.one(WHERE, stated())
    assert (verdict.state, verdict.stated.state, verdict.stated.met) == (state, state, met)
    assert verdict.effect is None and verdict.artefacts == ("demo-table1",)
    if times:
        assert verdict.stated.requirement == "at least 8 x" and verdict.stated.published == "8"
        assert verdict.stated.points == 2 and verdict.machine == "box" and verdict.stated.scale == "paper"
    else:
        assert verdict.stated.value is None and verdict.reason == "no results are stored"


def test_the_points_that_fail_are_named_and_values_enclosed(store):
    store.times(a=(10.0, 1.0), b=(2.0, 1.0), c=(20.0, 1.0))
    judgement = store.one(WHERE, stated()).stated
    assert judgement.failing == ("b",) and judgement.reason.startswith("2 of 3, not b; ")
    assert (judgement.value, judgement.low, judgement.high) == (10, 2, 20)
    assert measured(judgement) == "10.0 x (2.00 to 20.0 x)"


def test_a_number_is_a_range_of_what_would_be_printed_so(store):
    store.times(a=(7.6, 1.0))
    assert store.one(WHERE, stated()).state == HOLDS  # 7.6 is printed as 8
    store.times(b=(7.4, 1.0))
    assert store.one(WHERE, stated()).state == PART
    assert store.one(WHERE, stated(more="tolerance = 0.05")).state == HOLDS


def test_an_interval_over_the_bound_decides_nothing(store):
    store.row("a", "slow", "solve", 7.6, backend="host", spread=0.1)
    store.row("a", "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated()).stated
    assert (judgement.state, judgement.met, judgement.undecided) == (PART, 0, 1)
    assert judgement.reason.startswith("the interval reaches over the bound")
    assert judgement.low == pytest.approx(6.84) and judgement.high == pytest.approx(8.36)


def test_what_no_point_meets_and_some_miss_does_not_hold_whatever_the_undecided_are(store):
    store.times(a=(3.0, 1.0), b=(2.0, 1.0))
    store.row("c", "slow", "solve", 7.6, backend="host", spread=0.1)
    store.row("c", "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated()).stated
    assert (judgement.state, judgement.points, judgement.met, judgement.undecided) == (FAILS, 3, 0, 1)
    assert judgement.reason.startswith("0 of 3, the interval of 1 reaches over the bound")
    store.times(d=(10.0, 1.0))
    assert store.one(WHERE, stated()).state == PART  # it holds at one
    store.rows.clear()
    for case in "ab":
        store.row(case, "slow", "solve", 7.6, backend="host", spread=0.1)
        store.row(case, "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated()).stated
    assert judgement.state == PART and judgement.reason.startswith("0 of 2, the interval of 2 reaches over the bound")


@pytest.mark.parametrize(
    ("relation", "published", "gains", "state"),
    [
        ("between", '["text gain", "text gain-most"]', (8, 10), HOLDS),
        ("between", '["text gain", "text gain-most"]', (8, 11), PART),
        ("about", '"text gain"', (8, 8.2), HOLDS),
        ("about", '"text gain"', (9, 7), FAILS),
        ("at most", '"text gain"', (8.4, 1), HOLDS),
        ("less than", '"text gain"', (9, 12), FAILS),
        ("more than", '"text gain"', (9, 12), HOLDS),
    ],
)
def test_relations(store, relation, published, gains, state):
    store.times(**{case: (gain, 1.0) for case, gain in zip("ab", gains, strict=True)})
    assert store.one(WHERE, stated(relation=relation, published=published)).state == state


def test_faster_means_faster(store):
    store.times(a=(1.0, 1.0))
    assert store.one(WHERE, effect()).state == FAILS
    assert store.one(WHERE, effect(relation="at least")).state == HOLDS
    assert store.one(WHERE, effect(relation="less than", than=1.01)).state == HOLDS


def test_formulas_reduce_and_units_convert(store):
    store.row("a", "slow", "solve", 2.0, backend="host")
    store.row("b", "slow", "solve", 12000.0, unit="ms", backend="host")
    for case in "ab":
        store.row(case, "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated("max(cpu / gpu)")).stated
    assert judgement.value == 12 and judgement.state == HOLDS and judgement.points == 1
    assert store.one(WHERE, effect("median(cpu / gpu) - 1", than=500, more='unit = "%"')).effect.value == 600
    assert store.one(WHERE, effect("sum(cpu > 3 * gpu)", "about", 1, 'unit = "count"')).state == HOLDS


def test_each_word_and_each_case_is_a_point_with_its_own_number(store):
    for form, factor in (("x", 1), ("y", 2)):
        for case, value in (("a", 3.1), ("b", 2.4)):
            store.row(case, f"{form}-mul", "rate", factor * value, unit="GFLOP/s")
    where = '[claim.each]\nform = ["x", "y"]\n[claim.where]\nrate = "table1 {form}-mul rate @gpu"'
    judgement = store.one(where, stated("rate", published='"text rate-{case}"', more='unit = "GFLOP/s"')).stated
    assert (judgement.points, judgement.met, judgement.failing) == (4, 2, ("b x", "b y"))
    assert judgement.requirement == "at least the published number GFLOP/s"
    assert store.one(f'cases = ["a"]\n{where}', effect("rate", than=3e9, more='unit = "FLOP/s"')).effect.points == 2


def test_numbers_of_tables_are_those_of_the_case(store):
    store.row("a", "fast", "iterations", 10, unit="count", stem="table2", spread=None)
    store.row("b", "fast", "iterations", 21, unit="count", stem="table2", spread=None)
    where = '[claim.where]\nn = "table2 fast iterations @kernels"'
    judgement = store.one(where, stated("n", "about", '"table2 fast iterations"', 'unit = "count"')).stated
    assert judgement.failing == ("b",) and "counts, which the method decides" in judgement.reason
    assert store.one(where, stated("n", "about", '"table2 fast iterations"', "tolerance = 0.1")).state == HOLDS


def test_cases_of_which_the_paper_prints_nothing_are_no_points(store):
    for case, value in (("a", 10), ("b", 20), ("own", 50)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    where = '[claim.where]\nn = "table2 fast iterations"'
    judgement = store.one(where, stated("n", "about", '"table2 fast iterations"', 'unit = "count"')).stated
    assert (judgement.state, judgement.points) == (HOLDS, 2)


def test_a_users_own_case_is_no_point(store):
    ledger = 'users_cases = ["own"]\n' + claim(WHERE, effect("sum(cpu > gpu)", "at most", 2, 'unit = "count"'))
    store.times(a=(10.0, 1.0), b=(10.0, 1.0), own=(10.0, 1.0))
    (verdict,) = store.judged(ledger)
    assert (verdict.state, verdict.effect.value, verdict.effect.missing) == (HOLDS, 2, ())
    store.rows.clear()
    store.times(a=(10.0, 1.0), b=(10.0, 1.0))
    for method, backend in (("slow", "host"), ("fast", "cuda")):
        store.row("own", method, "", None, spread=None, status="skipped", reason="none is given", backend=backend)
    (verdict,) = store.judged(ledger)
    assert (verdict.state, verdict.effect.missing) == (HOLDS, ())


def test_a_point_of_named_cases_is_missing_where_one_of_them_is(store):
    each = '[claim.each]\nmesh = ["a", "b"]\n[claim.where]\n'
    where = 'coarse = "table2 fast iterations {mesh}-16"\nfine = "table2 fast iterations {mesh}-32"'
    for case, value in (("a-16", 10), ("a-32", 20), ("b-16", 10)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    judgement = store.one(each + where, effect("fine / coarse", "at least", 1.5)).effect
    assert (judgement.state, judgement.missing, judgement.points) == (PART, ("b",), 1)


def test_of_equals_the_machine_that_measured_at_the_papers_size_on_a_gpu_tells_why(store):
    for machine, scale in (("a laptop", "small"), ("a server", "paper")):
        store.row("a", "fast", "solve", 1.0, machine=machine, scale=scale)
    verdict = store.one(WHERE, stated())
    assert verdict.machine == "a server" and "slow of demo-table1 was not measured" in verdict.stated.reason


def test_a_median_of_large_counts_has_no_exponent(store):
    for case, value in (("a", 5_769_604), ("b", 21_174_117), ("c", 21_174_118), ("d", 38_976_723)):
        store.row(case, "fast", "nonzeros", value, unit="count", spread=None)
    judgement = store.one(
        '[claim.where]\nn = "table1 fast nonzeros"', effect("n", "more than", 1, 'unit = "count"')
    ).effect
    assert measured(judgement) == "21,174,118 (5,769,604 to 38,976,723)"


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
    assert (judgement.met, judgement.failing) == (2, ("b",)) and measured(judgement) == "∞ (9 to ∞)"


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
    assert (verdict.stated.state, verdict.stated.value) == (UNMEASURED, None)
    assert verdict.stated.reason == f"cpu / gpu has no value: {reason}" and verdict.stated.requirement == "at least 8 x"
    assert verdict.effect.state != UNMEASURED and other.effect.state != UNMEASURED


def test_a_rate_of_a_time_of_nothing_has_no_interval(store):
    store.row("a", "fast", "rate", 100.0, unit="GB/s", spread=None, backend="openmp")
    store.row("a", "fast", "spmv", 0.0, spread=0.1, n=9, backend="openmp")
    store.row("a", "fast", "spmv_cold", 1.0, backend="openmp")
    for metric, unit in (("rate", "GB/s"), ("spmv", "s")):
        where = f'[claim.where]\nours = "table1 fast {metric}"'
        assert store.one(where, effect("ours", than=-1, more=f'unit = "{unit}"')).state == HOLDS


def test_as_stated_is_judged_at_the_papers_sizes_alone(store):
    for case in "ab":
        store.row(case, "slow", "solve", 20.0, backend="host", scale="small")
        store.row(case, "fast", "solve", 1.0, scale="small")
    verdict = store.one(WHERE, stated(), effect())
    assert verdict.stated.state == UNMEASURED and verdict.stated.reason == "demo-table1 is stored at scale small only"
    assert verdict.effect.state == HOLDS and verdict.effect.scale == "small" and verdict.state == HOLDS
    assert verdict.reason == verdict.effect.reason
    for case in "ab":
        store.row(case, "slow", "solve", 0.5, backend="host", scale="paper")
        store.row(case, "fast", "solve", 1.0, scale="paper")
    verdict = store.one(WHERE, stated(), effect())
    assert [each.state for each in verdict.judgements] == [FAILS, FAILS]  # the papers' size goes before others
    assert [each.scale for each in verdict.judgements] == ["paper", "paper"]


def test_pocl_on_a_processor_is_no_gpu(store):
    store.times(a=(10.0, 1.0))
    store.rows["box", "table1"].pop()
    store.row("a", "fast", "solve", 1.0, backend="opencl", device="pthread-CPU 1")
    store.row("b", "slow", "solve", 9.0, backend="host")
    verdict = store.one(WHERE, stated())
    assert verdict.state == UNMEASURED and verdict.reason == "fast of demo-table1 was not measured on a GPU"
    store.row("b", "fast", "solve", 1.0, backend="opencl", device="Radeon")
    assert store.one(WHERE, stated()).stated.points == 1


def test_what_was_skipped_says_why(store):
    store.row("a", "slow", "solve", 1.0, backend="host")
    store.row("a", "fast", "", None, spread=None, status="skipped", reason="no card")
    assert store.one(WHERE, effect()).reason == "fast of demo-table1 was skipped: no card"


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


def ceilings(**bandwidths):
    return {
        name.replace("_", ": ").replace("1", " 1"): {
            "ceilings": {"device": "", "cold": {}, "rates": {"float64": 1e12}, "bandwidths": {"copy": [[1e9, value]]}}
        }
        for name, value in bandwidths.items()
    }


def test_a_gpu_beside_a_processor_is_explained_by_bandwidths(store):
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}
    store.row("a", "slow", "solve", 80.0, backend="host", share=0.02)
    store.row("a", "fast", "solve", 1.0, share=0.8)
    assert store.one(WHERE, effect()).reason == (
        "the GPU's bandwidth over the CPU's has moved: 40 here, 5.0 by the peaks of the paper's; "
        "of what the hardware allows fast 80 %, slow 2.0 %"
    )
    where = '[claim.where]\ngpu = "ceilings memory bandwidth @gpu"\ncpu = "ceilings memory bandwidth @cpu"'
    assert store.one(where, effect("gpu / cpu")).effect.value == 40


def test_an_absolute_number_is_explained_by_the_memory(store):
    store.row("a", "fast", "rate", 100.0, unit="GFLOP/s")
    where = '[claim.where]\nrate = "table1 fast rate @gpu"'
    parts = (where, stated("rate", published='"text rate-{case}"', more='unit = "GFLOP/s"'))
    store.one(*parts)
    (store.results / "box" / "ceilings.json").write_text(json.dumps(ceilings(cuda_GPU1=4e12)))
    assert store.one(*parts).reason == "the memory is 40 times as fast as that of the paper's Old GPU"


def test_on_one_device_launches_caches_and_bounds_explain(store):
    where = '[claim.where]\nx = "table1 x spmv @gpu"\ny = "table1 y spmv @gpu"'
    for method, seconds in (("x", 4e-6), ("y", 6e-6)):
        store.row("a", method, "spmv", seconds, share=0.1)
    assert store.one(where, effect("y / x")).reason == "launches dominate: a run takes 5.0 µs"
    store.rows.clear()
    for method, seconds in (("x", 4e-3), ("y", 6e-3)):
        store.row("a", method, "spmv", seconds, share=0.9)
        store.row("a", method, "spmv_cold", 2 * seconds)
    assert store.one(where, effect("y / x")).reason == (
        "the last cache holds the data: 2.0 times slower when it is evicted"
    )
    for row in chain.from_iterable(store.rows.values()):
        row.value = row.value / 2 if row.metric == "spmv_cold" else row.value
    assert store.one(where, effect("y / x")).reason == "of what the hardware allows x 90 %, y 90 %"


def test_a_number_that_its_own_paper_contradicts_is_said_to_be_one(store):
    store.write("relations.toml", '[[relation]]\nname = "half"\nderived = "table2 fast iterations a"\n'
                'formula = "other / 3"\n[relation.where]\nother = "table2 fast iterations b"\n')  # fmt: skip
    store.row("a", "fast", "iterations", 7, unit="count", stem="table2", spread=None)
    parts = ('[claim.where]\nn = "table2 fast iterations"', stated("n", "about", '"table2 fast iterations"'))
    assert "the published number does not follow from the paper's others" in store.one(*parts).reason


def test_counts_on_stand_ins_say_so(store):
    for case, value in (("a", 10), ("b", 30)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
        store.cells.append({"case": case, "method": "fast", "backend": "cuda", "data": [f"fu2014/{NAMES[case]}"]})
    parts = ('[claim.where]\nn = "table2 fast iterations"', stated("n", "about", '"table2 fast iterations"'))
    assert store.one(*parts).reason == "1 of 2, not b; on stand-ins: heart"
    store.rows.clear()  # and where they agree as well: it is we who made them so
    for case, value in (("a", 10), ("b", 20)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
    assert store.one(*parts).reason == "on stand-ins: heart"


def test_what_is_measured_on_data_unlike_the_papers_tests_no_claim(store, monkeypatch):
    monkeypatch.setattr(points, "unlike", lambda: {"demo/far"})
    for case, value in (("a", 10), ("b", 30)):
        store.row(case, "fast", "iterations", value, unit="count", stem="table2", spread=None)
        data = "demo/near" if case == "a" else "demo/far"
        store.cells.append({"case": case, "method": "fast", "backend": "cuda", "data": [data]})
    where = '[claim.where]\nn = "table2 fast iterations"'
    each = store.one(where, stated("n", "about", '"table2 fast iterations"')).stated
    assert (each.state, each.points) == (HOLDS, 1)
    assert each.reason.startswith("not testable without the data themselves: b")
    mean = store.one(where, stated("mean(n)", "about", '"table2 fast iterations a"')).stated
    assert mean.state == PART, "b may be anything"
    monkeypatch.setattr(points, "unlike", lambda: {"demo/far", "demo/near"})
    none = store.one(where, stated("n", "about", '"table2 fast iterations"')).stated
    assert none.state == UNMEASURED and none.reason == "not testable without the data themselves: a, b"


def test_a_slow_down_is_asked_for_as_the_fraction_that_it_is(store):
    store.write("table2.csv", "case,method,metric,printed,unit,place\na,fast,gain,(1.3),x,Table 2\n")
    store.row("a", "fast", "gain", 0.75, unit="x", stem="table2", spread=None)
    parts = ('[claim.where]\nn = "table2 fast gain"', stated("n", "about", '"table2 fast gain a"'))
    found = store.one(*parts).stated
    assert found.state == HOLDS and found.requirement.startswith("about 1/1.3 x")


def test_each_claim_is_judged_by_the_machine_that_says_most_of_it(store):
    for machine, scale in (("laptop", "small"), ("server", "paper")):
        for method, value, backend in (("slow", 20.0, "host"), ("fast", 1.0, "cuda")):
            store.row("a", method, "solve", value, backend=backend, machine=machine, scale=scale)
    verdict = store.one(WHERE, stated(), effect())
    assert verdict.machine == "server" and verdict.stated.state == HOLDS
    verdict = store.one(WHERE, stated(), effect(), machine="laptop")
    assert verdict.machine == "laptop" and verdict.stated.state == UNMEASURED and verdict.state == HOLDS
    assert machines(store.results) == ["laptop", "server"]
    assert store.one(WHERE, effect(), machine="nowhere").reason == "demo-table1 has no stored result"


def test_a_claim_that_nothing_can_decide_says_so(store):
    verdict = store.one('unmeasured = "a fact about prices"')
    assert (verdict.state, verdict.reason, verdict.judgements) == (UNMEASURED, "a fact about prices", [])
    assert verdict.as_dict()["stated"] is None


def test_numbers_in_the_words_are_those_of_the_statements(store):
    store.write("claims.toml", claim(WHERE, stated(), says="Up to {gain} times, at most {gain-most}."))
    (found,) = claims("demo", store.root)
    assert found.says == "Up to 8 times, at most 10." and found.statements == ("gain", "gain-most")
