"""Notes beside a verdict: the interval or the range, the points, what a reader should know, the page."""

import pytest

from repro.judge.claims import CONTRADICTED
from repro.judge.claims.model import MISSED
from repro.judge.claims.table import RULE, absolute, linked, measured, numbers, page, points, section, summary, told
from repro.run.state import LOST
from repro.site.showcase.page import Showcase
from tests.repro.claims_store import WHERE, claim, effect, stated


def test_what_was_timed_too_few_times_for_an_interval_is_named(store):
    store.row("a", "slow", "solve", 10.0, backend="host", spread=None, n=1)
    store.row("a", "fast", "solve", 1.0, spread=0.01, n=9)
    assert store.one(WHERE, effect()).notes == ("too few runs for an interval: slow (1)",)


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
    verdict = store.one(WHERE, effect())
    assert (verdict.effect.low, verdict.effect.high) == (10, 20)
    assert verdict.notes == ("not sampled, so without an interval: slow solve",)


def test_a_rate_of_too_few_runs_has_no_interval_either(store):
    store.row("a", "slow", "rate", 1.0, unit="GFLOP/s", spread=None)
    store.row("a", "slow", "spmv", 2.0, spread=None, n=3)
    store.row("a", "fast", "rate", 5.0, unit="GFLOP/s", spread=0.1, n=9)
    where = '[claim.where]\ngpu = "table1 fast rate"\ncpu = "table1 slow rate"'
    verdict = store.one(where, effect("gpu / cpu"))
    assert verdict.effect.low is None and verdict.notes == ("too few runs for an interval: slow (3)",)


def test_what_lost_its_cores_is_told(store):
    store.row("a", "slow", "solve", 10.0, backend="openmp")
    store.row("a", "fast", "solve", 1.0)
    store.cell("a", "slow", 20, 10.0, backend="openmp")
    store.cells[0]["notes"] = [f"slow on openmp: {LOST}"]
    where = '[claim.where]\ngpu = "table1 fast solve"\ncpu = "table1 slow solve"'
    told = "other work disturbed the samples of 1 of 2 cells, of slow, which may slow them"
    assert store.one(where, stated()).notes == (told,)
    assert store.one('[claim.where]\ngpu = "table1 fast solve"', stated("gpu")).notes == ()


def test_a_section_has_the_sentence_the_numbers_and_the_evidence(store):
    store.times(a=(9.0, 1.0))
    text = section(store.one(WHERE, stated(relation="up to"), effect()), linked(""))
    assert text.startswith("## it: exceeded\n\n> It is faster.\n>\n> *Abstract*")
    assert "- **paper**: up to 8 x\n- **here**: 9.00 x, on box at scale paper" in text
    assert "- **the effect**: An effect. Asked: more than 1 x; here: 9.00 x" in text
    assert "- **why**: unexplained" in text and "- **evidence**: Table 1" in text
    bound = effect().replace("claim.effect", "claim.stated")  # the first of two may be a sentence with a bound, too
    text = section(store.one(WHERE, bound, effect(than=2)), linked(""))
    assert "- **asked**: more than 1 x. An effect.\n- **here**: 9.00 x" in text


def test_points_that_differ_are_a_table_and_those_that_do_not_a_count(store):
    store.times(**{f"c{k:02}": (10.0 + (k == 3) * -5, 1.0) for k in range(14)})
    judgement = store.one(WHERE, stated()).stated
    text = points(judgement)
    assert text.startswith("14 points: 13 reproduced, 1 weaker.") and "| c03 | 8 | 5.00 x | weaker |" in text
    assert "| c02 |" not in text and text.endswith("The other 13 are reproduced.")
    store.rows.clear()
    store.times(a=(10.0, 1.0), b=(2.0, 1.0))
    tolerant = stated(relation="about", more="tolerance = 0.1")  # the paper's number is shown as it is printed
    assert "| a | 8 | 10.0 x | exceeded |" in points(store.one(WHERE, tolerant).stated)
    text = section(store.one(WHERE, effect()), linked(""))  # what is asked is no number of the paper
    assert "- **asked**: more than 1 x. An effect.\n- **here**: " in text
    assert "| a | 10.0 x | reproduced |" in text


def test_the_summary_counts_every_claim_once(store):
    store.times(a=(10.0, 1.0))
    other = claim('unmeasured = "a fact about prices"').replace('"it"', '"price"')
    found = store.judged("\n\n".join([claim(WHERE, stated(), effect()), other]))
    assert "| demo | 2 | 1 | 0 | 0 | 0 | 1 |" in summary(found)
    assert "| [demo](claims/demo.md) | 2 |" in summary(found, "claims/{}.md")
    ours = claim("ours = true", WHERE, stated(), effect()).replace('"it"', '"ours"')
    apart = store.judged("\n\n".join([ours, claim(WHERE, stated(), effect()), other]))
    assert "| demo | 2 | 1 | 0 | 0 | 0 | 1 |\n| our own tests | 1 | 1 | 0 | 0 | 0 | 0 |\n" in summary(apart)
    assert "not a claim of the paper, a test of ours" in section(apart[0], linked("")) and apart[0].as_dict()["ours"]
    assert summary(found).endswith(
        "\n\nWhy claims of the papers are not decided: measurements or downloads are lacking (1).\n"
    )
    assert "not decided:" not in summary(apart[:1])
    text = page(found, linked(""), root=store.root)
    assert text.count("\n## ") == 2 and "- **why**: a fact about prices" in text
    assert all(f"| {name} |" in RULE for name in ("reproduced", "exceeded", "weaker", "contradicted", "not decided"))


def test_numbers_that_newer_hardware_exceeds_by_itself_are_counted(store):
    store.row("a", "fast", "rate", 90.0, unit="GFLOP/s")
    store.times(a=(20.0, 1.0))
    rate = claim(
        '[claim.where]\nrate = "table1 fast rate"', stated("rate", "up to", '"text rate-a"', 'unit = "GFLOP/s"')
    )
    quotient = claim(WHERE, stated(relation="up to")).replace('"it"', '"other"')
    met = claim(WHERE, stated()).replace('"it"', '"met"')
    text = absolute(store.judged("\n".join([rate, quotient, met])))
    assert text.startswith(
        "2 claims of the papers have an exceeded number. 1 of these numbers are times, rates or sizes, "
    )
    assert absolute(store.judged("\n".join([quotient, met]))) == ""


def test_what_undecided_claims_wait_for_is_counted_and_what_is_cited_apart(store):
    store.times(a=(10.0, 1.0))
    reasons = ("unmeasured", "not_public", "not_public", "no_test", "cited")
    texts = [claim(f'{name} = "why"').replace('"it"', f'"c{k}"') for k, name in enumerate(reasons)]
    ours = claim('ours = true\nunmeasured = "why"').replace('"it"', '"ours"')
    found = store.judged("\n\n".join([claim(WHERE, stated(), effect()), ours, *texts]))
    text = summary(found)
    assert text.splitlines()[2:5] == [
        "| demo | 5 | 1 | 0 | 0 | 0 | 4 |", "| our own tests | 1 | 0 | 0 | 0 | 0 | 1 |",
        "| cited, not claimed | 1 | – | – | – | – | – |",
    ]  # fmt: skip
    assert text.splitlines()[-1] == (
        "Why claims of the papers are not decided: measurements or downloads are lacking (1); "
        "the authors alone have the data (2); nothing that exists can test them (1)."
    )
    assert [each.as_dict()["waits"] for each in found[:2]] == ["", "measurements"]
    assert [each.label for each in (found[0], found[1], found[-1])] == [found[0].outcome, "not decided", "cited"]
    assert section(found[-1], linked("")).startswith("## c4: cited\n") and "**why**: why" in told(found[-1], linked(""))


def test_the_page_tells_what_the_paper_contradicts_itself_in(store):
    store.write("relations.toml", '[[relation]]\nname = "half"\nderived = "table2 fast iterations a"\n'
                'formula = "other / 3"\n[relation.where]\nother = "table2 fast iterations b"\n')  # fmt: skip
    store.times(a=(10.0, 1.0))
    text = page(store.judged(claim(WHERE, stated())), linked(""), root=store.root)
    assert "## Numbers that contradict one another" in text and "printed 10" in text


def test_todays_rivals_are_named_with_the_one_that_wins_most_points_first(store):
    store.times(a=(8.0, 1.0), b=(8.0, 1.0), c=(8.0, 1.0))
    for case, seconds in (("a", 9.0), ("b", 6.0), ("c", 7.0)):
        store.row(case, "q1-amg", "solve", seconds, backend="host")
    today = (
        '[claim.today]\nsays = "all"\nformula = "best / gpu"\n[claim.today.where]\nbest = "table1 slow|{el}-amg solve"'
    )
    text = section(store.one("[claim.each]\nel = ['q1']", WHERE, stated(), today), linked(""))
    assert "- **today, all**: 7.00 x (6.00 to 8.00 x) (best: q1-amg, slow)" in text
    store.row("d", "slow", "solve", 8.0, backend="host")
    store.row("d", "fast", "solve", 1.0)  # where the other rival has not run
    text = section(store.one("[claim.each]\nel = ['q1']", WHERE, stated(), today), linked(""))
    assert "(best: q1-amg, slow); without a value: d q1 (no q1-amg)" in text


def test_where_both_sides_have_rivals_each_winner_is_told_with_its_place(store):
    store.times(a=(8.0, 1.0))
    today = (
        '[claim.today]\nsays = "all"\nformula = "theirs / ours"\n[claim.today.where]\n'
        'theirs = "table1 slow|amg solve @cpu"\nours = "table1 fast|amg solve @gpu"'
    )
    assert store.one(WHERE, stated(), today).today.winners == ("slow on cpu", "fast on gpu")


def test_where_the_paper_prints_both_sides_each_is_told_beside_its_own(store):
    head = "case,method,metric,printed,unit,place"
    store.write("table1.csv", f"{head}\na,slow,solve,20,s,Table 1\na,fast,solve,5000,ms,Table 1\n")
    store.times(a=(10.0, 1.0))
    told = "our times against the paper's for the same method: slow 2.0 times as fast, fast 5.0 times as fast"
    assert store.one(WHERE, stated()).notes == (told,)
    assert store.one('[claim.where]\ngpu = "table1 fast solve"', effect("gpu", more='unit = "s"')).notes == ()
    store.rows.clear()
    for method, seconds, backend in (("slow", 10.0, "host"), ("fast", 1.0, "cuda")):
        store.row("a", method, "solve", seconds, backend=backend, scale="small")
    assert store.one(WHERE, effect()).notes == ()  # of another size


def test_a_missed_point_whose_direction_is_open_is_only_missed(store):
    store.times(a=(9.0, 1.0), b=(9.0, 1.0), c=(0.5, 1.0))
    store.row("d", "slow", "solve", 1.1, backend="host", spread=0.2)
    store.row("d", "fast", "solve", 1.0)
    judgement = store.one(WHERE, stated()).stated
    assert [each.outcome for each in judgement.points[2:]] == [CONTRADICTED, MISSED] and judgement.missed == 2
    assert "4 points: 2 reproduced, 1 contradicted, 1 missed." in points(judgement)


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        ({"a": 1.0}, "the value lies on the bound, which leaves no gap to explain"),
        ({"a": 1.0, "b": 0.5, "c": 0.5}, "every point that misses lies on the bound, which leaves no gap to explain"),
        ({"a": 1.0, "b": 2.0, "c": 0.5, "d": 0.5}, "no cause was tested"),  # b leaves a gap, and has no row without it
    ],
)
def test_a_value_on_the_bound_that_it_misses_leaves_no_gap_that_a_cause_explains(store, seconds, why):
    store.times(**{case: (each, 1.0) for case, each in seconds.items()})
    store.row("a", "other", "solve", 0.5, backend="host")
    cause = '[[claim.cause]]\nsays = "it is another"\nformula = "other / gpu"\n'
    cause += '[claim.cause.where]\nother = "table1 other solve @host"\n'
    assert store.one(WHERE, effect(relation="less than"), cause).why == f"unexplained; {why}"


def test_a_number_that_is_met_beside_an_effect_that_is_missed_is_no_bound_that_a_value_lies_on(store):
    store.times(a=(8.0, 1.0))
    assert store.one(WHERE, stated(relation="about"), effect(than=10)).why == "unexplained; no cause was tested"


def test_the_limits_that_few_digits_and_the_tolerance_make_are_told(store):
    store.times(a=(9.0, 1.0))
    told = store.one(WHERE, stated(relation="about", more="tolerance = 0.2")).stated.requirement
    assert told == "about 8 x (± 20 %: 6.00 to 10.2)"
    assert store.one(WHERE, stated(more="tolerance = 0.2")).stated.requirement == "at least 8 x (± 20 %)"


def test_the_interval_of_one_side_is_not_shown_as_that_of_a_point(store):
    for case, spread in (("a", None), ("b", 0.1)):
        store.row(case, "slow", "solve", 9.0, backend="host", spread=spread)
        store.row(case, "fast", "solve", 1.0, spread=0.1)
    shown = {each.name: each.low < each.high for each in store.one(WHERE, stated()).stated.points}
    assert shown == {"a": False, "b": True}


@pytest.mark.parametrize("reducer, shown", [("max", "up to 8.00 x"), ("min", "2.00 x"), ("mean", "5.00 x")])
def test_the_table_of_claims_says_of_a_value_that_it_is_the_largest(store, reducer, shown):
    store.times(a=(8.0, 1.0), b=(2.0, 1.0))
    verdict = store.one(WHERE, stated(f"{reducer}(cpu / gpu)"))
    assert f" | {shown} " in numbers([verdict], [("demo", "it")], "{paper}{id}")
    assert f"- **here**: {shown}, on box" in section(verdict, linked(""))


def test_an_effect_that_is_not_the_one_shown_says_at_how_many_points_it_is_missed(store):
    store.times(a=(9.0, 1.0), b=(9.0, 1.0), c=(9.0, 1.0))
    for case, other in (("a", 2.0), ("b", 0.5), ("c", 3.0)):
        store.row(case, "other", "solve", other)
    other = effect("other / gpu", more='[claim.effect.where]\nother = "table1 other solve"')
    text = section(store.one(WHERE, stated(), other), linked(""))
    assert text.startswith("## it: reproduced") and "on box at scale paper; missed at 1 of 3 points" in text
    store.rows["box", "table1"][-1].status = "failed"
    text = section(store.one(WHERE, stated(), other), linked(""))
    assert "; missed at 1 of 2 points; without a value: c" in text


def test_the_ceilings_that_decide_a_claim_are_evidence(store):
    where = '[claim.where]\ntop = "ceilings memory bandwidth @gpu"\ngpu = "table1 fast rate"'
    store.row("a", "fast", "rate", 1.0, unit="GB/s", share=0.5)
    verdict = store.one(where, effect("top / gpu"))
    assert "- **evidence**: Table 1, the ceilings" in section(verdict, linked(""))


def test_a_papers_page_says_which_of_its_results_are_unverified(store):
    store.times(a=(20.0, 1.0))
    shown = Showcase(store.results)
    shown.verdicts = store.judged(claim(WHERE, stated(relation="about", more="tolerance = 0.1")))
    assert "Unverified" not in shown.pages()["claims/demo.md"]
    (store.results / "unverified.csv").write_text("file,reason\nbox/demo/table1,edited\nother/demo/table1,edited\n")
    assert "\n\n**Unverified results, all of box: edited.**\n\n" in shown.pages()["claims/demo.md"]


def test_the_table_of_claims_names_the_cases_where_todays_methods_are_compared(store):
    store.times(a=(8.0, 1.0), b=(2.0, 1.0))
    today = '[claim.today]\nsays = "all"\nformula = "theirs / ours"\n[claim.today.where]\n'
    for case, shown in (("", "5.00 x (2.00 to 8.00 x)"), (" b", "2.00 x, at b")):
        where = f'theirs = "table1 slow solve{case} @cpu"\nours = "table1 fast solve{case} @gpu"'
        verdict = store.one(WHERE, stated(), today + where)
        assert f" | {shown} | " in numbers([verdict], [("demo", "it")], "{paper}{id}")
    size = today.replace("[claim.today.where]", 'at = "two bricks"\n[claim.today.where]')
    assert " | 2.00 x, at two bricks | " in numbers([store.one(WHERE, stated(), size + where)], [("demo", "it")], "")
    own = '[claim.each]\nruns = ["solve b"]\n' + WHERE.replace(" solve", " {runs}")
    verdict = store.one(own, stated(), today + where)
    assert " | 2.00 x | " in numbers([verdict], [("demo", "it")], "{paper}{id}")  # the claim's own case
