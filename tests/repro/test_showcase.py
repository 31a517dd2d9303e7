"""The first things shown are computed: rules choose cases and rivals, and README and docs/ say what the results do."""

import ast
import contextlib
import fnmatch
import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from repro import discovery
from repro.cli import main
from repro.judge.claims import claims
from repro.judge.claims.stored import Stored
from repro.model import SCALES, ReproError
from repro.rows import asked
from repro.run import busy
from repro.site.showcase import kernels, losses, tables
from repro.site.showcase.ledger import Family, Ledger, Reason, ledgers
from repro.site.showcase.page import Showcase, filled, markers
from repro.site.showcase.page import texts as texts_of_pages
from repro.site.showcase.runs import EITHER, SUM
from tests.repro.claims_store import WHERE, claim, effect, stated

CHECKOUT = Path(__file__).resolve().parents[2]
FAMILY = Family(
    "demo", "Solves", ("demo-table0", "demo-table1"), "solve", "solve_cold", ("slow*", "host-code"),
    kernels={"fast": ("demo/fast.py", "demo/why.py"), "faster": ("demo/faster.py",)},
)  # fmt: skip


LINK = "[{}]({})".format


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Modules of kernels, the second of which says what binds on a GPU."""
    folder = tmp_path / "root" / "kernels" / "demo"
    folder.mkdir(parents=True)
    for name, text in {"fast": "A kernel.", "why": "On a T1000 its loads bind.", "faster": "On a 2D grid."}.items():
        (folder / f"{name}.py").write_text(f'"""{text}"""\n')
    monkeypatch.setattr("repro.environment.root", lambda: tmp_path / "root")


def measured(store, family=FAMILY, machine="box"):
    store.judged(claim(effect(), '[claim.where]\ncpu = "table1 slow solve"\ngpu = "table1 fast solve"'))
    return kernels.measured(family, Stored(store.results, machine))


def test_a_rival_that_is_faster_is_told_with_its_tested_reason(store, modules):
    reasons = (Reason("host-code", "it is simpler", "tests/test_demo.py::test_simple", cases=("b*",)),)
    family = replace(FAMILY, kernels={"fast": ("demo/fast.py",)}, reasons=reasons)
    others = replace(FAMILY, name="Others", kernels={"faster": ("demo/faster.py",)})
    for case, ours, beside, theirs in (("a", 2.0, 1.0, 0.9), ("b1", 2.0, 3.0, 0.5), ("b2", 2.0, 1.0, 0.985),
                                       ("c", 1.0, 3.0, 2.0)):  # fmt: skip
        store.row(case, "fast", "solve", ours)
        store.row(case, "faster", "solve", beside)
        store.row(case, "host-code", "solve", theirs, backend="host")
    store.row("d", "fast", "solve", 1.0)
    store.judged(claim(effect(), '[claim.where]\ncpu = "table1 slow solve"\ngpu = "table1 fast solve"'))
    stored, given = Stored(store.results, "box"), [Ledger("demo", families=(family, others))]
    found, ran = losses.compared(given, stored)
    assert len(found) == 8 and ran == {"host-code": 8}
    behind = [each for each in found if each.behind]
    assert [(each.family, each.case, each.ours, round(each.difference.ratio, 3), each.reason) for each in behind] == [
        ("Solves", "a", "fast", 0.45, None), ("Solves", "b1", "fast", 0.25, reasons[0]),
        ("Solves", "b2", "fast", 0.492, reasons[0]), ("Others", "a", "faster", 0.9, None),
        ("Others", "b1", "faster", 0.167, None), ("Others", "c", "faster", 0.667, None),
    ]  # fmt: skip
    told = losses.table(given, {"box: GPU 1": stored, "bare": Stored(store.results, "bare")}, LINK)
    assert "bare" not in told  # which ran no rival
    assert "GPU 1: rivals ran 8 cases of our families. We are ahead in 2, behind in 6, and 0 are undecided. C" in told
    assert "undecided. Cases behind without a tested reason: 4.\n  - Rivals: `host-code` in 8\n" in told
    assert (
        "| behind | 2 | 0.250 to 0.492\u00a0× (0.250 to 0.492) | it is simpler | [`test_simple`](tests/test_demo.py)"
        in told
    )
    assert (
        "box | `faster` | `host-code` | behind | 3 | 0.167 to 0.900\u00a0× (0.167 to 0.900) | no tested reason" in told
    )


def test_intervals_decide_where_a_rival_is_faster_and_nothing_that_may_be_lost_is_hidden(store, modules):
    """By case: times of ours, of a rival and of another, each with how far its interval reaches to either side."""
    family = replace(FAMILY, kernels={"fast": ("demo/fast.py",)})
    times = {
        "behind": ((1.0, 0.01), (0.9, 0.02), (5.0, 0.0)),
        "hidden": ((1.0, 0.0), (0.8, 0.5), (0.9, 0.0)),  # the least median decides nothing, the other does
        "wide": ((1.0, 0.2), (0.9, 0.2), (5.0, 0.0)),
        "other": ((1.0, 0.0), (0.99, 0.001), (0.97, 0.2)),  # a rival that is level does not hide one that may be faster
        "likely": ((1.0, 0.2), (1.1, 0.2), (5.0, 0.0)),
        "few": ((1.0, 0.0), (0.9, None), (5.0, 0.0)),
        "level": ((1.0, 0.001), (0.99, 0.001), (5.0, 0.0)),
        "ahead": ((1.0, 0.01), (1.1, 0.01), (5.0, 0.0)),
    }
    for case, rows in times.items():
        for method, (seconds, spread) in zip(("fast", "slow-1", "slow-2"), rows, strict=True):
            store.row(case, method, "solve", 1e3 * seconds, unit="ms", spread=spread)  # ends are in its unit, too
    store.judged(claim(effect(), '[claim.where]\ncpu = "table1 slow solve"\ngpu = "table1 fast solve"'))
    stored, given = Stored(store.results, "box"), [Ledger("demo", families=(family,))]
    found = {each.case: each for each in losses.compared(given, stored)[0]}
    assert {case for case, each in found.items() if each.behind} == {"behind", "hidden"}
    assert {case for case, each in found.items() if each.undecided} == {"wide", "other", "likely", "few"}
    assert {case for case, each in found.items() if each.shown} == {"behind", "hidden", "wide", "other", "few"}
    assert [case for case, each in found.items() if each.few] == ["few"]
    assert (found["hidden"].rival, found["other"].rival) == ("slow-2", "slow-2")
    wide = found["wide"].difference
    apart = math.exp(math.hypot(math.log(1 / 0.8), math.log(1.2)))  # errors of the two are independent
    assert (wide.ratio, wide.low, wide.high) == pytest.approx((0.9, 0.9 / apart, 0.9 * apart))
    lines = losses.table(given, {"box": stored}, LINK).splitlines()
    counts = "- box: rivals ran 8 cases of our families. We are ahead in 2, behind in 2, and 4 are undecided."
    assert f"{counts} Cases behind without a tested reason: 2." in lines
    rows = [line.split(" | ")[3:8] for line in lines if line.startswith("| Solves")]
    assert rows == [
        ["`slow-1`", "behind", "1", "0.900\u00a0× (0.880 to 0.920)", "no tested reason"],
        ["`slow-2`", "behind", "1", "0.900\u00a0× (0.900 to 0.900)", "no tested reason"],
        ["`slow-1`", "undecided", "1", "0.900\u00a0× (0.675 to 1.20)", "–"],
        ["`slow-2`", "undecided", "1", "0.970\u00a0× (0.776 to 1.16)", "–"],
        ["`slow-1`", "undecided, too few samples", "1", "0.900\u00a0× (0.676 to 1.20)", "–"],
    ]  # fmt: skip


def test_a_time_that_was_worked_out_has_the_interval_of_the_time_behind_it(store, modules, monkeypatch):
    monkeypatch.setattr("repro.show.results.sources", lambda artefact, metric: ["whole"] if metric == "solve" else [])
    for method, seconds in (("fast", 2.0), ("slow-1", 1.8)):
        store.row("a", method, "whole", 10 * seconds, spread=0.2, n=9)
        store.row("a", method, "solve", seconds, spread=None)
    family = replace(FAMILY, kernels={"fast": ("demo/fast.py",)})
    ((entry,),) = measured(store, family)
    ((case,), _) = losses.compared([Ledger("demo", families=(family,))], Stored(store.results, "box"))
    assert case.undecided and not case.few and entry.undecided
    apart = math.exp(math.hypot(math.log(1 / 0.8), math.log(1.2)))
    assert (case.difference.low, case.difference.high) == pytest.approx((0.9 / apart, 0.9 * apart))


def test_a_set_up_is_judged_with_its_solve_and_shown_alone(store, modules):
    """A rival that sets up sooner and solves later has won nothing; one that has no set-up to add is left out."""
    for method, set_up, solve in (("fast", 3.0, 2.0), ("slow-1", 1.0, 9.0), ("slow-2", None, 0.1)):
        if set_up:
            store.row("a", method, "setup", set_up)
        store.row("a", method, "solve", solve, share=0.5)
    alone = replace(FAMILY, metric="setup", kernels={"fast": ("demo/fast.py",)}, judged=False)
    both = replace(alone, name="Both", metric="setup + solve", judged=True)
    (((shown,),), ((added,),)) = (measured(store, family) for family in (alone, both))
    assert shown.faster.value == pytest.approx(1 / 3)
    assert (added.seconds, added.rival, added.faster.value, added.warm) == (5.0, "slow-1 (cuda)", 2.0, None)
    (case,), _ = losses.compared([Ledger("demo", families=(alone, both))], Stored(store.results, "box"))
    assert case.family == "Both" and not case.shown and not case.undecided


@pytest.mark.parametrize(
    ("spread", "low", "few"),
    [(0.1, 0.9 / math.exp(math.hypot(math.log(1 / 0.9), math.log(1.1))), False), (None, 0.9 / 1.5, True)],
)
def test_the_interval_of_a_sum_adds_the_ends_of_its_parts(store, modules, spread, low, few):
    """A part without an interval leaves the sum without one."""
    family = replace(FAMILY, metric="setup + solve", kernels={"fast": ("demo/fast.py",)})
    for method, seconds in (("fast", 1.0), ("slow-1", 0.9)):
        store.row("a", method, "setup", seconds, spread=spread)
        store.row("a", method, "solve", 3 * seconds, spread=0.1)
    ((entry,),) = measured(store, family)
    ((case,), _) = losses.compared([Ledger("demo", families=(family,))], Stored(store.results, "box"))
    assert (case.undecided, case.shown, case.few, entry.undecided) == (True, True, few, True)
    assert case.difference.low == pytest.approx(low)


def test_a_processor_may_have_its_rivals_at_another_metric_and_of_two_the_shorter_counts(store, modules):
    family = replace(FAMILY, metric="solve|short", on_processors="solve_once", kernels={"fast": ("demo/fast.py",)})
    for machine, backend, rival in (("card", "cuda", "slow-1"), ("cores", "openmp", "slow-2")):
        place = {"machine": machine, "backend": backend}
        for metric, ours, theirs in (("solve", 1.0, 3.0), ("solve_once", 2.0, 8.0)):
            store.row("a", "fast", metric, ours, **place)
            store.row("a", rival, metric, theirs, **place)
        store.row("a", "fast", "short", 0.5, **place)
    for machine, faster in (("card", 6.0), ("cores", 4.0)):
        ((entry,),) = measured(store, family, machine)
        assert entry.faster.value == faster


def test_rivals_are_compared_with_ours_of_the_same_algorithm():
    def compared(paper, method):
        words = {"element": "q1", "numbering": "xyz"}
        families = [each for ledger in ledgers() if ledger.paper == paper for each in ledger.families]
        return {rival.format(**words) for each in families
                for rival in each.rivals if method in {name.format(**words) for name in each.kernels}}  # fmt: skip

    assert compared("fu2014", "cg") == {"hypre-cg", "numba-cg"}
    assert {"amgcl", "hypre-extended", "amgx-*"} <= compared("fu2014", "patch-pcgamg")
    assert {"q1-xyz-cusparse", "q1-xyz-cpu-*"} <= compared("geveler2011", "q1-xyz-sell")
    assert {"q1-xyz-amgcl", "q1-xyz-hypre"} <= compared("geveler2011", "q1-xyz-amg")


def test_the_tests_of_reasons_are_there():
    for each in (reason for ledger in ledgers() for family in ledger.families for reason in family.reasons):
        path, _, name = each.test.partition("::")
        assert f"def {name}(" in (CHECKOUT / path).read_text(), each.test


def test_the_case_is_the_largest_that_a_rival_ran_and_the_range_is_over_all(store, modules):
    # By their bounds, a is the longest, b comes next, c after it; only b and c have rivals.
    for case, seconds, share in (("a", 2.5, 0.9), ("b", 2.0, 0.8), ("c", 2.4, 0.5)):
        store.row(case, "fast", "solve", seconds, share=share)
        store.row(case, "fast", "solve_cold", 2 * seconds, share=share / 2)
    store.row("a", "faster", "solve", 1.0, share=0.9, problem_bytes=0.45e12)
    store.row("d", "faster", "solve", 0.1, share=0.9)
    store.row("b", "slow-1", "solve", 12.0)
    store.row("b", "slow-2", "solve", 6.0, backend="host")
    store.row("c", "host-code", "solve", 24.0, backend="host")
    store.row("b", "host-code", "solve_cold", 0.1, backend="host")  # cold is not compared with warm
    ((first, second),) = measured(store)
    assert (first.method, first.case, first.seconds, first.artefact) == ("fast", "b", 2.0, "demo-table1")
    assert first.warm == kernels.Span(0.8, 0.5, 0.9, 3) and first.cold == kernels.Span(0.4, 0.25, 0.45, 3)
    assert first.rival == "slow-2 (host)" and first.faster == kernels.Span(3.0, 3.0, 10.0, 2)
    assert first.on_gpu and (first.explained, first.profiled) == ("demo/why.py", "T1000")
    told = [tables._cells(replace(first, device=device), "", store.results / "box", lambda text, path: text)[3]
            for device in ("GPU 1", "Maker T1000 8GB")]  # fmt: skip
    assert [each.rpartition(", ")[2] for each in told] == ["why (T1000)", "why"]
    # A kernel without that case shows its own largest, and comes last, however fast it is there.
    assert (second.method, second.case, second.rival, second.faster) == ("faster", "a", "", None)
    assert not second.wants_explanation and second.explained == ""
    assert first.problem is None and second.problem == kernels.Span(0.45, 0.45, 0.45, 1)
    shown = tables._cells(second, "", store.results / "box", lambda text, path: text)
    assert shown[3] == "90\u00a0%, 45\u00a0% of any format's"


def test_times_in_any_unit_are_compared_and_what_is_no_time_is_left_out(store, modules):
    for case, seconds in (("a", 2.0), ("b", 1.0)):
        store.row(case, "fast", "solve", 1000 * seconds, unit="ms")
        store.row(case, "faster", "solve", 0.9 * seconds, share=0.5)
        store.row(case, "slow-1", "solve", 5.0)
        store.row(case, "slow-2", "solve", 4000.0, unit="ms")
    store.row("c", "fast", "solve", 0.0)
    store.row("c", "slow-1", "solve", 50.0)
    store.row("d", "fast", "solve", 50.0, unit="GB/s")
    ((first, second),) = measured(store)
    assert [(each.method, each.case, each.seconds, each.rival) for each in (first, second)] == [
        ("faster", "a", 1.8, "slow-2 (cuda)"), ("fast", "a", 2.0, "slow-2 (cuda)"),
    ]  # fmt: skip
    assert second.faster == kernels.Span(2.0, 2.0, 4.0, 2)


def test_a_rival_whose_processor_had_more_to_do_is_told(tmp_path):
    def cells(name, *made):
        path = tmp_path / "box" / "demo" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        found = [{"case": "a", "method": method, "backend": backend, "status": "done", "seconds": seconds,
                  "date": f"2026-11-21T18:00:{end:02d}+00:00"} for method, backend, end, seconds in made]  # fmt: skip
        path.write_text(json.dumps({"artefact": f"demo-{name}", "scale": "paper", "cells": found}))

    # Dates are ends, to a second: what ends at 20 has begun by 11, and ends before 21.
    cells("table1", ("busy", "host", 20, 10.0), ("alone", "host", 40, 10.0), ("next", "host", 41, 1.5))
    cells("table2", ("other", "cuda", 15, 2.0), ("alone", "host", 40, 10.0))  # the last is the same cell in two tables

    def told(method, backend="host"):
        row = dict(zip(("artefact", "scale", "case", "method", "backend"),
                       ("demo-table1", "paper", "a", method, backend), strict=True))  # fmt: skip
        return busy.shared(tmp_path / "box", row)

    assert told("busy") and not told("alone") and not told("next") and not told("nothing")


def test_cells_of_two_machines_of_a_cluster_have_not_shared_one(tmp_path):
    """Cells of one host have, and cells that name none, as older ones."""
    made = [("first", "one", 20), ("second", "two", 21), ("third", "two", 22), ("older", "", 40), ("later", "one", 41)]
    cells = [
        {"case": "a", "method": method, "backend": "host", "status": "done", "seconds": 10.0,
         "date": f"2026-11-21T18:00:{end:02d}+00:00", "revision": {"commit": None} | ({"host": host} if host else {})}
        for method, host, end in made
    ]  # fmt: skip
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "t.json").write_text(json.dumps({"artefact": "demo-t", "scale": "paper", "cells": cells}))
    row = {"artefact": "demo-t", "scale": "paper", "case": "a", "backend": "host"}
    told = [method for method, *_ in made if busy.shared(tmp_path, {**row, "method": method})]
    assert told == ["second", "third", "older", "later"]


def test_sizes_of_the_paper_come_first_then_large_ones_on_the_best_back_end(store, modules):
    store.row("a", "fast", "solve", 5.0, scale="large")
    store.row("a", "fast", "solve", 1.0, scale="small")
    store.row("a", "fast", "solve", 7.0, backend="openmp", share=0.1)
    store.row("a", "fast", "solve", 6.0, backend="opencl", share=0.1)  # which not every processor has
    store.row("a", "slow", "solve", 14.0, backend="openmp")
    (paper,), (large,) = measured(store)
    assert (paper.scale, paper.backend, paper.seconds, paper.faster.value) == ("paper", "openmp", 7.0, 2.0)
    assert not paper.on_gpu and not paper.wants_explanation
    assert (large.scale, large.backend, large.seconds, large.rival) == ("large", "cuda", 5.0, "")


def test_what_was_not_measured_or_is_not_explained_says_so(store, modules):
    text = tables.kernels([Ledger("demo", families=(FAMILY,))], Stored(store.results, "box"), LINK)
    assert text == "Not measured there: Solves (demo).\n"
    store.row("a", "faster", "solve", 2e-3, share=0.5)
    assert measured(store)[0][0].wants_explanation
    text = tables.kernels([Ledger("demo", families=(FAMILY,))], Stored(store.results, "box"), LINK)
    (line,) = text.splitlines()[2:]
    assert "[demo Table 1](results/box/demo/table1.md), a, cuda" in line
    assert line.replace(tables.FIRM, " ").endswith("| 2.00 ms | 50 %, not profiled | – | no rival in this run | – |")


@pytest.mark.parametrize(("spread", "span", "end"), [(0.01, "1.08 to 1.12", ""), (0.2, "0.825 to 1.47", ", undecided")])
def test_a_ratio_inside_the_intervals_is_no_win_in_any_table(store, modules, spread, span, end):
    store.row("a", "fast", "solve", 1.0, spread=spread, share=0.9)
    store.row("a", "slow-1", "solve", 1.1, spread=spread)
    measured(store)
    for table, reach in ((tables.kernels, f" ({span})"), (partial(tables.best, most=1), "")):
        text = table([Ledger("demo", families=(FAMILY,))], Stored(store.results, "box"), LINK)
        assert text.splitlines()[2].replace(tables.FIRM, " ").endswith(f"| 1.10 ×{reach}{end} |")
    assert "- *Undecided*: " in tables.caption()


def test_a_ledger_says_what_is_wrong_in_it(tmp_path):
    path = tmp_path / "demo2020" / "showcase.toml"
    path.parent.mkdir()
    family = '[[family]]\nname = "n"\nartefacts = ["table1"]\nmetric = "solve"\n'
    path.write_text(f'figures = ["figure1"]\n{family}rivals = "a|b"\n[family.kernels]\nm = "n.py"\n')
    (found,) = ledgers(tmp_path)
    assert found.figures == ("demo2020-figure1",) and found.families[0].cold == "solve_cold"
    assert found.families[0].rivals == ("a", "b") and found.families[0].kernels == {"m": ("n.py",)}
    for text, says in ((family, "'kernels' is missing"), (f"{family}colour = 1", "colour is not known"), ("=", "")):
        path.write_text(text)
        with pytest.raises(ReproError, match=f"showcase.toml: .*{says}"):
            ledgers(tmp_path)


def texts(paper):
    """Every text in a paper's modules: what is recorded under a name is named there."""
    trees = [ast.parse(path.read_text()) for path in (CHECKOUT / "experiments" / paper).glob("*.py")]
    return {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("ledger", ledgers(), ids=lambda ledger: ledger.paper)
def test_the_ledgers_name_what_there_is(ledger):
    modules = {artefact.id: discovery.load(artefact) for artefact in discovery.find() if artefact.paper == ledger.paper}
    assert {*ledger.figures, *filter(None, [ledger.front])} <= set(modules)
    assert ledger.headlines and set(ledger.headlines) <= {claim.id for claim in claims(ledger.paper)}
    for family in ledger.families:
        for artefact in family.artefacts:
            methods = {cell.method for scale in SCALES for cell in modules[artefact].cells(scale)}
            for words in family.words():
                for name in family.kernels:
                    there = {name.format(**words, **choice) for choice in family.choices()}
                    assert there & methods, (family.name, artefact, name)
                for rival in family.rivals:
                    patterns = {rival.format(**words, **choice) for choice in family.choices()}
                    assert any(fnmatch.filter(methods, each) for each in patterns), (family.name, rival)
        assert {asked(each)[0] for each in family.metric.replace(EITHER, SUM).split(SUM)} <= texts(ledger.paper), family
        for module in (each for modules_of in family.kernels.values() for each in modules_of):
            assert (CHECKOUT / "kernels" / module).is_file()


def test_text_goes_between_its_markers_and_nowhere_else(tmp_path):
    begin, end = markers("results")
    text = f"before\n{begin}\nzebra\n{end}\nafter\n"
    assert filled(text, "results", "text") == f"before\n{begin}\n\ntext\n\n{end}\nafter\n"
    with pytest.raises(ReproError, match=r"README\.md has no"):
        filled(f"{end} {begin}", "results", "text")
    with pytest.raises(ReproError, match="there is no"):
        texts_of_pages(tmp_path, tmp_path)


def test_repro_verify_names_a_page_whose_verdicts_are_not_those_of_the_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("repro.environment.results_folder", lambda: tmp_path)
    monkeypatch.setattr("repro.judge.trees.committed", lambda results: contextlib.nullcontext(results))
    monkeypatch.setattr("repro.site.showcase.page.outdated", lambda root, results: {"docs/claims/index.md": "others"})
    monkeypatch.setattr("repro.cli.verify.require_some", lambda folder: None)
    assert main(["verify", "--results", str(tmp_path)]) == 1
    assert "docs/claims/index.md: is not what `repro readme` writes of the stored results" in capsys.readouterr().err


def test_the_readme_shows_the_claims_that_the_ledgers_put_first(store, monkeypatch):
    store.times(a=(20.0, 1.0))
    today = '[claim.today]\nsays = "the fastest"\nformula = "cpu / gpu"\n'
    shown = Showcase(store.results)
    shown.verdicts = store.judged(claim(WHERE, stated(relation="about", more="tolerance = 0.1"), today))
    monkeypatch.setattr("repro.site.showcase.page.headlines", lambda: [("demo", "it")])
    blocks = shown.blocks()
    assert blocks["numbers"].splitlines()[-1] == (
        "| [demo](docs/claims/demo.md): It is faster. | about 8 x | 20.0 x | 20.0 x | box, `paper` | **exceeded** |"
    )
    assert "| [demo](docs/claims/demo.md) | 1 | 0 | 1 | 0 | 0 | 0 |" in blocks["verdicts"]


def test_the_command_writes_what_is_not_up_to_date(store, tmp_path, monkeypatch, capsys):
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    text = "".join(f"{begin}\n{end}\n" for begin, end in map(markers, ("verdicts", "numbers", "picture")))
    (root / "README.md").write_text(text)
    monkeypatch.setattr("repro.environment.root", lambda: root)
    store.results.mkdir()
    monkeypatch.setattr("repro.cli.readme.require_some", lambda folder: None)
    assert main(["readme", "--results", str(store.results)]) == 0
    assert "README.md, docs/claims/index.md, " in capsys.readouterr().err
    assert "not decided" in (root / "README.md").read_text()
    assert "# Kernels" in (root / "docs/kernels/index.md").read_text()
    assert main(["readme", "--results", str(store.results)]) == 0 and "up to date" in capsys.readouterr().err
