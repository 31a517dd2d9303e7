"""The papers' ledgers: what they name is there."""

import ast
import json
import re
import shutil
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

from repro import discovery, environment, published
from repro.cli import main
from repro.judge.claims import OUTCOMES, causes, claims, machines, needed, verdicts
from repro.judge.claims.judging import judge
from repro.judge.claims.points import combinations, selectors_of
from repro.judge.claims.stored import CEILINGS, PRINTED, Selector, Stored
from repro.judge.intervals import names_of
from repro.model import SCALES, Row
from repro.rows import asked
from repro.show.render import as_csv
from repro.units import is_time

CHECKOUT = Path(__file__).resolve().parents[2]
RESULTS = CHECKOUT / "results"
MACHINE = "h100-80gb-hbm3"
PAPERS = published.papers()


@cache
def stores():
    return [Stored(RESULTS, name) for name in machines(RESULTS)]


@cache
def stored_metrics(artefact):
    return {row["metric"] for store in stores() for row in store.rows(artefact)}


@cache
def cells(artefact, scales=SCALES):
    """Cells that an artefact measures at some scales, by its module; None without one."""
    modules = {module.id: module for module in discovery.find()}
    if artefact not in modules:
        return None
    module = discovery.load(modules[artefact])
    return [cell for scale in scales for cell in module.cells(scale)]


@cache
def kinds(artefact):
    """Methods of an artefact's cells with their back ends, and the cases, each once."""
    found = cells(artefact)
    return {(cell.method, cell.backend) for cell in found}, {str(cell.case) for cell in found}


@cache
def words(paper):
    """Every text in a paper's modules: what is recorded under a name is named there."""
    found = set()
    for path in (CHECKOUT / "experiments" / paper).glob("*.py"):
        found |= {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
    return {word for word in found if isinstance(word, str)}


def selectors(claim):
    parts = [each for each in (claim.stated, claim.effect, claim.today) if each]
    for cause in claim.causes:
        where = {**parts[0].where, **cause.where}
        parts += [replace(parts[0], formula=cause.formula, where=where)]
    for text in dict.fromkeys(text for part in parts for text in selectors_of(claim, part).values()):
        for each in combinations(claim):
            yield Selector.parse(text.format(**each))


def is_among(metrics, names):
    return any(fnmatchcase(metric, name) for metric in metrics for name in names)


def runs_there(backend, place):
    """Whether a back end can run where a selector wants it."""
    where = {"gpu": ("cuda", "opencl"), "cpu": ("host", "openmp", "opencl"), "kernels": ("cuda", "opencl", "openmp")}
    return all(backend in where.get(each, (each,)) for each in place.split("+") if each)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_a_ledger_without_idle_names(paper):
    found = claims(paper)
    assert len(found) >= 20
    assert len({claim.says for claim in found}) == len(found)  # lists show a claim by its sentence alone
    for claim in found:
        parts = [each for each in (claim.stated, claim.effect, claim.today, *claim.causes) if each]
        used = set().union(*(names_of(each.formula) for each in parts))
        assert set(claim.where) <= used, claim.id
        assert "{" not in claim.says + claim.condition, claim.id  # the paper's digits are in the place of their names
        places = "Abstract", "Second abstract", "Summary", "Section", "Table", "Caption"
        assert claim.place.startswith(places), claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_selectors_name_what_is_measured(paper):
    listed = {entry["id"] for entry in published.artefacts(paper)}
    wrong = set()
    for claim in claims(paper):
        assert set(claim.artefacts) <= listed, claim.id
        for selector in selectors(claim):
            artefact = f"{paper}-{selector.stem}"
            if selector.stem.startswith(PRINTED):
                numbers = published.load(artefact.replace(PRINTED, ""))
                fitting = [each for each in numbers if selector.takes(each.method) and each.metric == selector.metric]
                if not any(selector.case in ("", each.case) for each in fitting):
                    wrong.add(f"{claim.id}: the paper does not print {selector}")
                continue
            if selector.stem == CEILINGS or cells(artefact) is None:  # the second: an artefact that is not here yet
                continue
            methods, cases = kinds(artefact)
            if not any(selector.takes(method) and runs_there(backend, selector.place) for method, backend in methods):
                wrong.add(f"{claim.id}: {artefact} has no method {'|'.join(selector.methods)} @{selector.place}")
            # Of what is put together there the modules have the beginning.
            named = {re.sub(ending, "", selector.metric) for ending in ("$", r"\d+$", r"_\d+$", r"[a-z]+$")}
            if not (is_among(words(paper), named) or is_among(stored_metrics(artefact), named)):  # the second is slow
                wrong.add(f"{claim.id}: {artefact} records no {selector.metric}")
            if selector.case and selector.case not in cases:
                wrong.add(f"{claim.id}: {artefact} has no case {selector.case}")
    assert not wrong


@pytest.mark.parametrize("paper", PAPERS)
def test_published_references_are_numbers_of_the_paper(paper):
    for claim in claims(paper):
        for predicate in filter(None, (claim.stated, claim.effect)):
            for reference in predicate.published:
                for each in combinations(claim):
                    if "{case}" in reference:
                        continue
                    kind, *rest = reference.format(**each).split()
                    numbers = published.load(f"{paper}-{kind}")
                    if kind == "text":
                        assert rest[0] in numbers.cases, (claim.id, reference)
                    else:
                        method = published.stand_ins(paper, rest[:1]).get(rest[0], rest[0])
                        method = rest[0] if any(n.method == rest[0] for n in numbers) else method
                        named = method, *asked(rest[1])
                        found = [n.case for n in numbers if (n.method, n.metric, n.parameters) == named]
                        assert found and rest[2:] in ([], *([case] for case in found)), (claim.id, reference)


def test_verdicts_as_json(capsys):
    assert main(["claims", "--paper", "fu2014", "--machine", MACHINE, "--results", str(RESULTS), "--json"]) == 0
    found = {verdict["id"]: verdict for verdict in json.loads(capsys.readouterr().out)}
    assert {verdict["machine"] for verdict in found.values() if verdict["outcome"] == "reproduced"} == {MACHINE}
    assert {verdict["outcome"] for verdict in found.values()} <= set(OUTCOMES)
    contradicted = ["--paper", "remacle2016", "--machine", MACHINE, "--state", "contradicted"]
    assert main(["claims", *contradicted, "--json"]) == 0
    assert {verdict["outcome"] for verdict in json.loads(capsys.readouterr().out)} == {"contradicted"}
    assert main(["claims", "--paper", "fu2014", "--results", "/nowhere"]) == 1
    assert "/nowhere" in capsys.readouterr().err
    assert main(["claims", "--paper", "fu2041"]) == 2
    assert main(["claims", "--state", "maybe"]) == 2
    assert main(["claims", "--machine", f"{MACHINE}0"]) == 2 and f"did you mean {MACHINE}" in capsys.readouterr().err


def test_a_verdict_that_no_claim_has_is_no_empty_table(tmp_path, capsys):
    words = ["--paper", "remacle2016", "--results", str(tmp_path), "--state", "reproduced", "--state", "weaker"]
    assert main(["claims", *words]) == 0
    assert capsys.readouterr() == ("", "no claim is reproduced or weaker\n")


def test_one_claim_in_full(capsys):
    where = ["claims", "--machine", MACHINE, "--results", str(RESULTS)]
    assert main([*where, "--claim", "heat-speedup", "--claim", "solver-speedup"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("\nsolver-speedup: ") < shown.index("\nheat-speedup: ")  # as the papers come
    (found,) = (each for each in verdicts(RESULTS, "remacle2016", MACHINE) if each.id == "heat-speedup")
    assert f"results/{MACHINE}/remacle2016/table4.md" in shown.replace("\n", "")
    assert all(f" {point.name} " in shown for point in found.shown.points) and "cg-speedup" not in shown
    assert main([*where, "--claim", "heat-speedup", "--state", "cited"]) == 0
    assert capsys.readouterr() == ("", "no such claim is cited\n")
    assert main([*where, "--claim", "heat-sped-up"]) == 2 and "did you mean heat-speedup" in capsys.readouterr().err
    assert main([*where, "--paper", "fu2014", "--claim", "heat-speedup"]) == 2


def test_verdicts_as_a_table_and_as_a_page(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    where = ["--paper", "fu2014", "--machine", MACHINE, "--results", str(RESULTS)]
    assert main(["claims", *where]) == 0
    shown = capsys.readouterr().out
    assert "iterations-of-cg" in shown and "scale large" in shown  # of `real-meshes-larger`
    found = verdicts(RESULTS, "fu2014", MACHINE)
    labels, own = ([verdict.label for verdict in found if verdict.claim.ours == ours] for ours in (False, True))
    told = ", ".join(f"{labels.count(label)} {label}" for label in (*OUTCOMES, "cited"))
    also = ", ".join(f"{own.count(label)} {label}" for label in OUTCOMES if label in own)
    last = [told, f"our own tests, which no paper claims: {also}"]
    assert shown.strip().splitlines()[-2:] == last and labels.count("cited") and own


UNITS = {
    "s": "(solve|step|wall|spmv|assembly|setup|time_per|reorder|product|sums|part|local|solver).*", "%": ".*fraction",
    "GB/s": "bandwidth.*", "GFLOP/s": ".*rate.*", "x": ".*(factor|padding)", "B": "bytes_.*", "W": "tdp.*",
    "MB": "device_memory", "": "break_even.*|.*complexity",
}  # fmt: skip


def unit_of(metric):
    return next((unit for unit, pattern in UNITS.items() if re.fullmatch(pattern, metric)), "count")


def sizes(claim):
    """The papers' sizes, and before them the sizes that a claim is about alone."""
    only = {
        scale for each in (claim.stated, claim.effect) if each and "paper" not in each.scales for scale in each.scales
    }
    return [*sorted(only), "paper"]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_predicate_has_a_value_on_all_that_its_artefacts_measure(paper, tmp_path):
    """Rows of every cell of the modules at the papers' sizes, on a GPU and a processor, with values alike."""
    tables = {}
    asked = [(each, scale) for claim in claims(paper) for each in selectors(claim) for scale in sizes(claim)]
    for selector, scale in asked:
        for cell in cells(f"{paper}-{selector.stem}", (scale,)) or []:
            if selector.takes(cell.method):
                metric = selector.metric.replace("*", " what says so")
                devices = {"cuda": ["GPU"], "opencl": ["GPU", "pthread-CPU"], "openmp": ["CPU"], "host": ["CPU"]}
                for device in devices[cell.backend]:
                    case = str(cell.case)
                    row = Row(f"{paper}-{selector.stem}", scale, case, cell.method, cell.backend, device, metric, 2.0,
                              unit_of(metric), 1.9, 2.1, 9, 0, 0.5, parameters=dict(selector.parameters))  # fmt: skip
                    place = scale, case, cell.method, cell.backend, device, metric, selector.parameters
                    tables.setdefault(selector.stem, {})[place] = row
    for stem, rows in tables.items():
        path = tmp_path / "box" / paper / f"{stem}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(as_csv([row.as_dict() for row in rows.values()]))
    shutil.copy(RESULTS / "h100-80gb-hbm3" / "ceilings.json", tmp_path / "box")  # with the host's roofs
    stored = Stored(tmp_path, "box")
    for verdict in verdicts(tmp_path, paper, stores=[stored]):
        for judgement in verdict.judgements:
            assert judgement.value is not None and not judgement.missing, (verdict.id, judgement.needs)
        if verdict.today:  # it may lack cases that the paper has no number of, and no others
            assert verdict.today.value is not None, (verdict.id, verdict.today.needs)
            known = {point.name for judgement in verdict.judgements for point in judgement.points}
            assert known.isdisjoint(each.partition(" (no ")[0] for each in verdict.today.missing), verdict.id
        for cause in verdict.claim.causes:
            _, values = judge(verdict.claim, verdict.claim.stated or verdict.claim.effect, stored)
            assert causes.declared(verdict.claim, cause, values, stored, published.ROOT), (verdict.id, cause.says)


def test_numbers_of_a_table_are_about_what_is_measured_and_no_least_or_most_of_it():
    """Twice the bandwidth of a table would be called reproduced, and not exceeded."""
    for claim in claims():
        stated = claim.stated
        if stated and stated.relation not in ("about", "between"):
            assert all(each.startswith("text ") for each in stated.published), f"{claim.paper} {claim.id}"


def test_printed_iterations_have_one_of_two_tolerances():
    """The ledger's where the text fixes the method, else 0.25: see published/README.md."""
    found = {}
    for claim in claims():
        numbers = claim.stated.published if claim.stated and not claim.ours else ()
        if any(re.fullmatch(r"table\S+ \S+ iterations\S*|text iterations-of-\S+", each) for each in numbers):
            found[f"{claim.paper} {claim.id}"] = claim.stated.tolerance
    assert len(found) == 9 and set(found.values()) == {0.1, 0.25}, found


def test_a_ratio_to_todays_best_is_no_time():
    """Without a unit of its own it would have the claim's, which may be seconds."""
    ratios = [each for each in claims() if each.today and "/" in each.today.formula]
    assert len(ratios) > 30 and not [each.id for each in ratios if is_time(each.today.unit)]


def test_datasets_that_test_nothing_of_a_claim_are_in_the_catalogue():
    named = {name for claim in claims() if claim.fitted and claim.fitted is not True for name in claim.fitted}
    assert named and named <= {entry.name for entry in environment.catalogue()}


def test_a_claim_of_every_level_reads_every_level():
    read = needed.claimed(next(each for each in discovery.find() if each.id == "geveler2011-table3"), "paper")
    solid = [cell for cell in cells("geveler2011-table3", ("paper",)) if re.match(r"solid-.*-sell$", cell.method)]
    assert len(solid) > 8 and {(cell.case, cell.method) for cell in solid} <= {
        (cell.case, cell.method) for cell in read
    }


def test_levels_that_a_claim_names_are_those_of_its_cells():
    """A level that was not measured is told as lacking, and a scale with a level of its own is read."""
    named = {claim.id: claim for claim in claims("geveler2011")}

    def levels(stem, scale, method):
        return {str(cell.case) for cell in cells(f"geveler2011-{stem}", (scale,)) if cell.method == method}

    beyond = named["numbering-beyond-the-cache"]
    assert {each["level"] for each in combinations(beyond)} == levels("table2", "large", "q1-sto-ellpack_r")
    blood = named["geometric-over-algebraic-blood"]
    assert set(blood.cases) == levels("table4", "paper", "q1-xyz-pyamg") | levels("table4", "small", "q1-xyz-pyamg")
    small = named["small-levels-cost-more-than-their-products"]
    assert {selector.case for selector in selectors(small)} <= levels("table3", "paper", "q2-sto-ellpack_r")


def test_iterations_in_double_precision_are_not_of_polynomials_in_single():
    found = [replace(claim, causes=()) for claim in claims("zhang2013") if "double precision" in claim.condition]
    asked = [
        each for claim in found for each in selectors(claim) if each.stem == "table3" and each.methods != ("order-0",)
    ]
    assert len(asked) > 40 and all(each.methods[0].endswith("-double") for each in asked)
