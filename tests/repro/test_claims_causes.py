"""A cause is printed when the value without it is nearer to the paper's, with how much of the gap that is."""

import math

import pytest

from repro.judge.claims import EXCEEDED, WEAKER
from repro.model import ReproError
from tests.repro.claims_store import HARDWARE, TEXT, WHERE, effect, stated

ABOUT = stated(relation="about")  # eight times
TEN = '[[statement]]\nid = "ten"\nmetric = "speedup"\nprinted = "10"\nunit = "x"\nplace = "Abstract"\nexact = true\n'
NONE_EXPLAINS = "unexplained; no tested cause explains a tenth of the gap"


def cause(formula="other / gpu", says="it is another", where='other = "table1 other solve @host"'):
    return f'[[claim.cause]]\nsays = "{says}"\nformula = "{formula}"\n[claim.cause.where]\n{where}\n'


@pytest.mark.parametrize(
    ("other", "share"),
    [(8.0, 1.0), (16.0, 1 - math.log(2) / math.log(10)), (5.0, 1 - math.log(8 / 5) / math.log(10)), (70.0, None)],
)
def test_a_declared_cause_explains_as_much_as_rows_with_the_other_choice_show(store, other, share):
    store.times(a=(80.0, 1.0))
    store.row("a", "other", "solve", other, backend="host")
    verdict = store.one(WHERE, ABOUT, cause())
    assert verdict.outcome == EXCEEDED
    if share is None:  # less than half of it
        assert verdict.explanations == () and verdict.why == NONE_EXPLAINS
        return
    (found,) = verdict.explanations
    assert found.share == pytest.approx(share) and found.value == pytest.approx(other)
    assert verdict.why == f"it is another (explains {100 * share:.0f} % of the gap)"


def test_a_cause_may_read_what_the_paper_prints(store):
    """It prints 10 ms for a part that takes 1 ms here: a time in another unit, which counts as exact."""
    store.write("table3.csv", "case,method,metric,printed,unit,place\na,old,part,10,ms,Table 3\n")
    store.times(a=(80.0, 1.0))
    store.row("a", "fast", "part", 1e-3)
    part = 'ours = "table1 fast part"\ntheirs = "paper:table3 old part"'
    verdict = store.one(WHERE, ABOUT, cause("cpu / gpu * ours / theirs", where=part))
    (found,) = verdict.explanations
    assert found.value == pytest.approx(8.0) and found.low == found.high == found.share == pytest.approx(1)
    assert verdict.claim.artefacts == ("demo-table1",)  # which alone is evidence
    missing = cause("cpu / gpu * ours / theirs", where=part.replace("old", "new"))
    assert store.one(WHERE, ABOUT, missing).explanations == ()
    with pytest.raises(ReproError, match="is no selector"):
        store.one(WHERE, ABOUT, cause("cpu / gpu * ours / theirs", where=part.replace("old part", "old part @gpu")))


def test_a_cause_without_a_word_of_the_claim_stands_for_all_its_points(store):
    """Two kernels in two cases: the cause names a row of the case, or one of the paper's of no case."""
    for case, other in (("a", 8.0), ("b", 80.0)):
        store.row(case, "slow", "solve", 80.0, backend="host")
        store.row(case, "other", "solve", other, backend="host")
        for kernel in ("one", "two"):
            store.row(case, kernel, "solve", 1.0)
    varied = WHERE.replace("[claim.where]", '[claim.each]\nkernel = ["one", "two"]\n[claim.where]')
    varied = varied.replace("table1 fast", "table1 {kernel}")
    (found,) = store.one(varied, ABOUT, cause("other")).explanations
    assert (found.points, found.most) == (4, 2)  # case b's other is no other
    (found,) = store.one(varied, ABOUT, cause("other", where='other = "table1 other solve a @host"')).explanations
    assert (found.points, found.most) == (4, 4)


def test_why_a_claim_is_exceeded_is_asked_of_the_points_that_exceed_it(store):
    """The others are within what is asked, and the cause takes them out of it."""
    store.times(a=(8.1, 1.0), b=(8.1, 1.0), c=(80.0, 1.0), d=(80.0, 1.0), e=(80.0, 1.0))
    for case, other in {"a": 1.0, "b": 1.0, "c": 8.0, "d": 8.0, "e": 8.0}.items():
        store.row(case, "other", "solve", other, backend="host")
    verdict = store.one(WHERE, ABOUT, cause())
    (found,) = verdict.explanations
    assert verdict.outcome == EXCEEDED and (found.points, found.most) == (3, 3)


@pytest.mark.parametrize(("other", "share"), [(9.0, 1.0), (20.0, 1 - math.log(2) / math.log(8)), (79.0, None)])
def test_of_a_range_a_cause_explains_how_far_the_value_is_from_its_nearer_end(store, other, share):
    """The paper has 8 to 10; the value is 80."""
    numbers = '["text gain", "text ten"]'
    store.write("text.toml", TEXT + TEN)
    store.times(a=(80.0, 1.0))
    store.row("a", "other", "solve", other, backend="host")
    verdict = store.one(WHERE, stated(relation="between", published=numbers), cause())
    assert verdict.outcome == EXCEEDED
    assert [each.share for each in verdict.explanations] == ([] if share is None else [pytest.approx(share)])


def test_what_goes_the_other_way_explains_nothing(store):
    store.times(a=(80.0, 1.0))
    store.row("a", "other", "solve", 800.0, backend="host")
    assert store.one(WHERE, ABOUT, cause()).why == NONE_EXPLAINS


def test_a_cause_without_rows_is_not_printed(store):
    store.times(a=(80.0, 1.0))
    assert store.one(WHERE, ABOUT, cause()).why == "unexplained; no cause was tested"


def test_what_is_reproduced_needs_no_cause(store):
    store.times(a=(8.0, 1.0))
    store.row("a", "other", "solve", 8.0, backend="host")
    verdict = store.one(WHERE, ABOUT, cause())
    assert verdict.explanations == () and verdict.why == ""


def test_bandwidths_of_gpu_and_processor_predict_a_ratio(store):
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}  # 40 to 1; the paper's are 5 to 1
    store.row("a", "slow", "solve", 64.0, backend="host", share=1.0)
    store.row("a", "fast", "solve", 1.0, share=1.0)
    verdict = store.one(WHERE, ABOUT)
    says = "the GPU's memory has 40 times the bandwidth of the processor's here"
    says += "; the paper's had 5.0 times, by the vendors' peaks"
    assert verdict.why == f"{says} (explains 100 % of the gap)" and verdict.explanations[0].value == pytest.approx(8)
    slow = store.rows["box", "table1"][0]
    slow.value = slow.ci_low = slow.ci_high = 40000.0  # of a factor of 5000 the bandwidths are not most
    verdict = store.one(WHERE, ABOUT)
    assert verdict.explanations == () and verdict.why.startswith(f"unexplained. Nearest cause: {says} (explains 4")


@pytest.mark.parametrize(("threads", "is_explained"), [(4, True), (1, False)])
def test_bandwidths_predict_rates_that_name_no_device_and_not_those_of_a_paper_with_one_thread(
    store, threads, is_explained
):
    store.write("hardware.toml", HARDWARE.replace('"Old CPU"', f'"Old CPU"\nthreads_used = {threads}'))
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}
    for method, rate, backend in (("slow", 1.0, "host"), ("fast", 64.0, "cuda")):
        store.row("a", method, "spmv", 1 / rate, backend=backend, share=1.0, n=9)
        store.row("a", method, "rate", rate, unit="GFLOP/s", backend=backend, device="")
    where = '[claim.where]\ncpu = "table1 slow rate @host"\ngpu = "table1 fast rate"'
    verdict = store.one(where, stated("gpu / cpu", "about"))
    assert ("the bandwidth of the processor's" in verdict.why) == is_explained


def test_of_a_paper_with_one_thread_the_memory_of_the_gpu_alone_predicts_a_ratio(store):
    store.write("hardware.toml", HARDWARE.replace('"Old CPU"', '"Old CPU"\nthreads_used = 1'))
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}  # the paper's GPU has a fortieth
    store.row("a", "slow", "solve", 320.0, backend="host", share=0.02)
    store.row("a", "fast", "solve", 1.0, share=1.0)
    says = "the GPU's memory is 40 times as fast as the memory of the paper's Old GPU"
    assert (
        store.one(WHERE, ABOUT).why
        == f"{says}, and the processor runs one thread, as there (explains 100 % of the gap)"
    )


@pytest.mark.parametrize(
    ("share", "why"),
    [
        (None, "unexplained; no cause was tested"),
        (1.0, "the memory is 40 times as fast as the memory of the paper's Old GPU (explains 100 % of the gap)"),
        # Half of the time grows by 40: of a factor of 40 a faster memory explains 20.5.
        (0.5, "the memory, which takes 50 % of the time, is 40 times as fast as the memory of the paper's Old GPU"
              " (explains 82 % of the gap)"),
        (0.05, "unexplained. Nearest cause: the memory, which takes 5.0 % of the time,"
               " is 40 times as fast as the memory of the paper's Old GPU (explains 29 % of the gap)"),
    ],
)  # fmt: skip
def test_the_memory_predicts_the_part_of_a_time_or_rate_that_it_takes(store, share, why):
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e12}
    where = '[claim.where]\nrate = "table1 fast rate @gpu"'
    store.row("a", "fast", "rate", 120.0, unit="GFLOP/s")
    store.row("a", "fast", "spmv", 1.0, share=share, n=9)
    store.row("a", "other", "spmv", 1.0, share=1.0)  # where the device and its memory are known
    verdict = store.one(where, stated("rate", "about", published='"text rate-{case}"', more='unit = "GFLOP/s"'))
    assert (verdict.outcome, verdict.why) == (EXCEEDED, why)


def test_the_memory_explains_nothing_of_bytes_that_the_cache_holds(store):
    store.bandwidths, store.cached = {"GPU 1": 4e12, "CPU 1": 1e12}, 8e12
    where = '[claim.where]\nrate = "table1 fast rate @gpu"'
    reading = stated("rate", "about", published='"text rate-{case}"', more='unit = "GFLOP/s"')
    store.row("a", "fast", "rate", 120.0, unit="GFLOP/s")
    for seconds, why in ((1.0, "the memory is 40 times"), (1e-7, "unexplained")):  # 4 TB, and 0.4 MB
        store.rows["box", "table1"][1:] = []
        store.row("a", "fast", "spmv", seconds, share=1.0, n=9)
        assert store.one(where, reading).why.startswith(why)


def test_an_evicted_cache_predicts_what_the_cache_is_the_cause_of(store):
    for method, seconds, cold in (("x", 1e-3, 1e-2), ("y", 2e-3, 8e-2)):
        store.row("a", method, "spmv", seconds)
        store.row("a", method, "spmv_cold", cold)
    where = '[claim.where]\nx = "table1 x spmv @gpu"\ny = "table1 y spmv @gpu"'
    verdict = store.one(where, stated("y / x", "about"), effect("y / x"))
    assert verdict.outcome == WEAKER and verdict.explanations[0].share == pytest.approx(1)
    assert verdict.explanations[0].value == pytest.approx(8) and "the last cache holds the data" in verdict.why


def test_the_strongest_rival_has_a_value_and_no_verdict(store):
    store.times(a=(80.0, 1.0))
    store.row("a", "best", "solve", 4.0, backend="host")
    where = '[claim.today.where]\nbest = "table1 * solve @host"\n'
    today = f'[claim.today]\nsays = "the fastest"\nformula = "best / gpu"\n{where}'
    verdict = store.one(WHERE, ABOUT, today)
    assert verdict.outcome == EXCEEDED and verdict.today.value == 4 and verdict.claim.today.says == "the fastest"


def quotient_of(store, slow, derived, printed="", case=""):
    """Have a paper print two times, of which the quick one is 1 s, and a number that their quotient is to be."""
    head = f"case,method,metric,printed,unit,place\n{printed}"
    store.write("table3.csv", f"{head}a,fast,solve,1.00,s,Table 3\na,slow,solve,{slow:.2f},s,Table 3\n")
    where = f'[relation.where]\nslow = "table3 slow solve{case}"\nfast = "table3 fast solve{case}"'
    relation = f'[[relation]]\nname = "one over the other"\nderived = "{derived}"\nformula = "slow / fast"\n'
    store.write("relations.toml", relation + where)


def test_a_number_that_the_papers_others_do_not_give_is_why_it_is_missed(store):
    quotient_of(store, 8, derived="table3 fast speedup", printed="a,fast,speedup,4,x,Table 3\n")
    store.times(a=(8.0, 1.0))
    numbers = stated(relation="about", published='"table3 fast speedup"')
    why = "the paper's number does not follow from its others; tested with the nearest that does"
    assert (
        store.one(WHERE, numbers).why == f"{why} (explains 99 % of the gap)"
    )  # of what is printed 8.00 and 1.00 the nearest


def test_a_mean_of_several_points_is_beside_what_follows_for_the_text(store):
    quotient_of(store, 2, derived="text gain", case=" a")
    store.times(a=(1.5, 1.0), b=(2.5, 1.0))  # eight are printed
    why = "the paper's number does not follow from its others; tested with the nearest that does"
    assert store.one(WHERE, stated("mean(cpu / gpu)", "about")).why == f"{why} (explains 99 % of the gap)"


def quotients(store, **seconds):
    """Have a paper print some times, and return the relation that its eight is one of them over the first."""
    head = "case,method,metric,printed,unit,place\n"
    times = "".join(f"a,{name},solve,{time}.00,s,Table 3\n" for name, time in {"one": 1, **seconds}.items())
    store.write("table3.csv", head + times)
    return '[[relation]]\nname = "{0}"\nderived = "text gain"\nformula = "of / one"\n[relation.where]\n' \
           'of = "table3 {0} solve a"\none = "table3 one solve a"\n'  # fmt: skip


@pytest.mark.parametrize(("ours", "why"), [(2.0, "unexplained"), (6.0, "explains 98 %")])
def test_of_several_numbers_that_follow_the_nearest_to_the_papers_stands_in_its_place(store, ours, why):
    relation = quotients(store, two=2, six=6)
    store.write("relations.toml", relation.format("six") + relation.format("two"))
    store.times(a=(ours, 1.0))  # eight are printed
    assert why in store.one(WHERE, stated(relation="about")).why


def test_a_number_that_one_of_several_relations_gives_does_follow(store):
    """Its eight is the quotient of two times, and is not the quotient of two others."""
    relation = quotients(store, two=2, eight=8)
    store.write("relations.toml", relation.format("two") + relation.format("eight"))
    store.times(a=(2.0, 1.0))
    verdict = store.one(WHERE, stated(relation="about"))
    assert verdict.why.endswith("no cause was tested")
    assert not [each for each in verdict.notes if "does not follow" in each]
    one = '[[relation]]\nname = "more"\nderived = "{}"\nformula = "{}"\n[relation.where]\nof = "{}"\n'
    most = one.format("text gain", "between(0, of)", "table3 two solve a")  # a bound, which forbids eight
    copy = one.format("text gain", "2 * of", "table2 fast speedup a")  # of the four that is printed
    doubtful = one.format("table2 fast speedup a", "of", "table3 two solve a")
    for more, follows in ((most + copy, False), (copy, True), (copy + doubtful, False)):
        store.write("relations.toml", relation.format("two") + more)
        notes = store.one(WHERE, stated(relation="about")).notes
        assert not [each for each in notes if "does not follow" in each] == follows


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (40.0, "unexplained. Nearest cause: it is another (explains 30 % of the gap)"),
        (70.0, NONE_EXPLAINS),
    ],
)
def test_what_explains_less_than_half_is_told_as_a_part_from_a_tenth_on(store, seconds, why):
    store.times(a=(80.0, 1.0))
    store.row("a", "other", "solve", seconds, backend="host", spread=0.02)  # which no half is within
    store.row("a", "less", "solve", 75.0, backend="host")
    less = cause("less / gpu", "it is less", where='less = "table1 less solve @host"')
    verdict = store.one(WHERE, ABOUT, less, cause())
    assert verdict.why == why and verdict.explanations == ()


def others(store, **seconds):
    for case, (slow, other) in seconds.items():
        store.times(**{case: (slow, 1.0)})
        store.row(case, "other", "solve", other, backend="host")


def test_of_several_points_a_cause_explains_the_median_of_what_it_explains_at_each(store):
    others(store, a=(80.0, 8.0), b=(80.0, 16.0), c=(80.0, 800.0))
    (found,) = store.one(WHERE, ABOUT, cause()).explanations
    assert found.share == pytest.approx(1 - math.log(2) / math.log(10)) and (found.most, found.points) == (2, 3)
    assert found.told == "it is another (explains 70 % of the gap; more than half at 2 of 3 points)"


@pytest.mark.parametrize(("without", "why"), [("b", "{}2 of 3{}"), ("bd", "unexplained. Nearest cause: {}2 of 4{}")])
def test_a_cause_without_rows_at_some_points_is_tested_at_the_others_and_explains_by_most(store, without, why):
    others(store, a=(80.0, 40.0))
    store.times(**{case: (800.0, 1.0) for case in without})
    others(store, c=(80.0, 8.0))
    told = (
        "it is another (explains 65 % of the gap at the ",
        " points where it was tested; more than half at 1 of 2 points)",
    )
    assert store.one(WHERE, ABOUT, cause()).why == why.format(*told)


def test_medians_that_agree_explain_nothing_where_the_points_do_not(store):
    others(store, a=(80.0, 8.0), b=(40.0, 36.0), c=(20.0, 2.0))  # medians of 40 and of 8, which is the paper's
    assert store.one(WHERE, ABOUT, cause()).why == NONE_EXPLAINS


def test_a_bound_that_the_paper_prints_no_number_for_has_causes_too(store):
    bound = '[claim.stated]\nformula = "cpu / gpu"\nis = "less than"\nthan = 1\n'
    store.times(a=(4.0, 1.0))
    store.row("a", "other", "solve", 1.0, backend="host")
    (found,) = store.one(WHERE, bound, cause()).explanations
    assert found.share == pytest.approx(1) and found.value == pytest.approx(1)


def test_a_missed_effect_without_a_number_beside_it_has_causes_too(store):
    store.times(a=(4.0, 1.0))
    store.row("a", "other", "solve", 2.0, backend="host")
    missed = '[claim.effect]\nformula = "cpu / gpu"\nis = "less than"\nthan = 1\n'
    (found,) = store.one(WHERE, missed, cause()).explanations
    assert found.share == pytest.approx(0.5) and found.value == pytest.approx(2)


def test_without_a_number_of_the_paper_its_hardware_is_no_cause(store):
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}
    store.row("a", "slow", "solve", 64.0, backend="host", share=0.02)
    store.row("a", "fast", "solve", 1.0, share=0.8)
    bound = '[claim.stated]\nformula = "cpu / gpu"\nis = "less than"\nthan = 8\n'
    assert store.one(WHERE, bound).why == "unexplained; no cause was tested"


@pytest.mark.parametrize(("relation", "cpu", "other"), [("less than", 4.0, 0.25), ("more than", 0.25, 4.0)])
def test_a_cause_without_which_a_bound_is_met_explains_all(store, relation, cpu, other):
    store.times(a=(cpu, 1.0))
    store.row("a", "other", "solve", other, backend="host")
    bound = f'[claim.stated]\nformula = "cpu / gpu"\nis = "{relation}"\nthan = 1\n'
    (found,) = store.one(WHERE, bound, cause()).explanations
    assert found.share == pytest.approx(1) and found.value == pytest.approx(other)


def log(base, value):
    return math.log(value) / math.log(base)


@pytest.mark.parametrize(
    ("spread", "low", "high", "told"),
    [
        (0.0, 1 - log(10, 2), 1 - log(10, 2), "explains 70 % of the gap"),
        (0.5, 1 - log(10, 3), 1.0, "explains 70 % of the gap"),  # 8 to 24, and 8 is the paper's
        (
            0.9,
            1 - log(10, 5),
            1.0,
            "explains 70 % of the gap, by the intervals 30 to 100 %",
        ),  # 1.6, which goes beyond it, to 30.4
    ],
)
def test_the_part_that_a_cause_explains_has_an_interval_by_the_rows_without_it(store, spread, low, high, told):
    store.times(a=(80.0, 1.0))
    store.row("a", "other", "solve", 16.0, backend="host", spread=spread)
    (found,) = store.one(WHERE, ABOUT, cause()).explanations
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.told == f"it is another ({told})"


def test_a_time_of_both_values_moves_both(store):
    """Of 80 beside 8, and of 16 without the cause, the same time is half as long, or half as long again."""
    store.row("a", "slow", "solve", 80.0, backend="host")
    store.row("a", "fast", "solve", 1.0, spread=0.5)
    store.row("a", "other", "solve", 16.0, backend="host")
    (found,) = store.one(WHERE, ABOUT, cause()).explanations
    assert found.low == pytest.approx(1 - log(20, 4)) and found.high == pytest.approx(1 - log(20 / 3, 4 / 3))


def test_of_one_name_that_is_bound_to_two_rows_each_moves_its_own_value(store):
    store.row("a", "slow", "solve", 80.0, backend="host", spread=0.5)
    store.row("a", "fast", "solve", 1.0)
    store.row("a", "other", "solve", 16.0, backend="host", spread=0.5)
    named = cause("cpu / gpu", where='cpu = "table1 other solve @host"')
    (found,) = store.one(WHERE, ABOUT, named).explanations
    way, faster, more = 1 - log(10, 2), 1 - log(5, 2), 1 - log(10, 3)
    assert found.low == pytest.approx(way - math.hypot(way - faster, way - more)) and found.high == 1


def test_a_faster_memory_explains_between_ends_too(store):
    store.bandwidths = {"GPU 1": 4e12, "CPU 1": 1e11}  # an eighth of the factor is left
    store.row("a", "slow", "solve", 64.0, backend="host", share=1.0, spread=0.25)
    store.row("a", "fast", "solve", 1.0, share=1.0)
    (found,) = store.one(WHERE, ABOUT).explanations
    assert found.low == pytest.approx(1 + log(6, 0.75)) and found.high == 1


def test_where_an_end_is_beyond_the_papers_number_a_cause_may_explain_anything(store):
    store.row("a", "slow", "solve", 8.4, backend="host", spread=0.06)
    store.row("a", "fast", "solve", 1.0)
    store.row("a", "other", "solve", 8.1, backend="host")
    less = stated(relation="about", more="tolerance = 0.2\n")
    verdict = store.one(WHERE, less, effect("gpu", "less than", 0.5, more='unit = "s"\n'), cause())
    assert verdict.outcome == WEAKER and "by the intervals 0 to 100 %" in verdict.why
