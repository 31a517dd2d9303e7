"""Every paper's numbers as data, and what in geveler2011 and wong2015 does not follow from their own numbers."""

import csv
import re
import tomllib

import numpy as np
import pytest
import scipy.sparse

from repro.judge import consistency
from repro.judge.intervals import Interval, evaluate
from repro.published import ROOT, artefacts, hardware, load, papers, statements
from repro.units import _PLAIN, _SCALED, split

TABLES = sorted(f"{path.parent.name}-{path.stem}" for path in ROOT.glob("*/*.csv"))
COUNTS = {
    "fu2014-table1": 25, "fu2014-table2": 15, "fu2014-table3": 25, "fu2014-table4": 12, "fu2014-table5": 65,
    "fu2014-table6": 25,
    "geveler2011-table1": 44, "geveler2011-table2": 200, "geveler2011-table3": 200, "geveler2011-table4": 20,
    "wong2015-table2": 90, "wong2015-table3": 60, "wong2015-table4": 60, "wong2015-table6": 21, "wong2015-table7": 45,
    "wong2015-table8": 45, "wong2015-table9": 90,
    # 5 N and 6 × 5 iterations; 10 and 9 rows by six orders; 2 and 5 × 4 rows by six orders.
    "remacle2016-table1": 35, "remacle2016-table2": 60, "remacle2016-table3": 54, "remacle2016-table4": 132,
    "zhang2013-table1": 12, "zhang2013-table2": 16, "zhang2013-table3": 15, "zhang2013-table4": 15,
    "zhang2013-table5": 8,
}  # fmt: skip
STATEMENTS = {"fu2014": 55, "geveler2011": 51, "remacle2016": 48, "wong2015": 92, "zhang2013": 38}
ARTEFACTS = {  # the tables and figures that are reproduced
    "fu2014": {f"table{n}" for n in range(1, 7)} | {f"figure{n}" for n in range(4, 8)},
    "geveler2011": {f"table{n}" for n in range(1, 5)} | {"figure1"},
    "remacle2016": {f"table{n}" for n in range(1, 5)} | {"figure3", "figure4"},
    "zhang2013": {f"table{n}" for n in range(1, 6)} | {f"figure{n}" for n in range(6, 11)},
    "wong2015": {f"table{n}" for n in (2, 3, 4, 6, 7, 8, 9)} | {f"figure{n}" for n in (2, 3, 4, *range(12, 23))},
}
MATRICES = [
    "circuit", "economics", "epidemiology", "accelerator", "cantilever", "harbor", "ship", "spheres", "heart-3k",
    "heart-5k", "heart-30k", "protein", "qcd", "webbase", "wind-tunnel",
]  # fmt: skip


@pytest.mark.parametrize("artefact", TABLES)
def test_every_table_parses_with_known_units_and_places(artefact):
    table = load(artefact)
    number = re.fullmatch(r".+-table(\d)", artefact)[1]
    assert len(table) == COUNTS.get(artefact, len(table)) > 0
    for each in table:
        assert each.place.startswith(f"Table {number}, ")
        assert re.fullmatch(r"[a-z0-9-]+ [a-z0-9-]+ [a-z0-9_]+", f"{each.case} {each.method} {each.metric}")
        assert each.unit in _PLAIN or split(each.unit)[1] in _SCALED, each.unit
        low, high = each.interval()
        assert low <= each.value <= high


def test_the_tables_are_all_there():
    assert set(COUNTS) <= set(TABLES)
    for path in ROOT.glob("*/*.csv"):
        lines = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        assert lines[0][-3:] == ["printed", "unit", "place"] and {len(line) for line in lines} == {len(lines[0])}, path


@pytest.mark.parametrize("paper", papers())
def test_the_statements_are_unique_placed_and_about_an_artefact(paper):
    text = load(f"{paper}-text")
    assert len({number.case for number in text}) == len(text) == STATEMENTS[paper]
    for number in text:
        assert number.place and re.fullmatch(r"[a-z0-9-]+", number.case)
        assert number.unit in _PLAIN or split(number.unit)[1] in _SCALED, number.case
    about = {entry["about"] for entry in statements(ROOT / paper / "text.toml") if "about" in entry}
    assert about <= {f"{paper}-{name}" for name in ARTEFACTS[paper]}
    unknown = {key for entry in statements(ROOT / paper / "text.toml") for key in entry}
    assert unknown <= {"id", "about", "method", "metric", "printed", "unit", "place", "note", "exact"}


@pytest.mark.parametrize("paper", papers())
def test_the_hardware_keeps_what_is_printed_apart(paper):
    machine = hardware(paper)
    for device in ("gpu", "cpu"):
        assert machine[device]["printed"]["name"] and machine[device]["vendor"]["bandwidth_gb_per_s"] > 0
        assert machine[device]["vendor"]["fp64_gflop_per_s"] > 0


def test_the_matrices_of_wong2015_are_those_of_the_collection():
    """Sizes that follow from what three of the matrices are: a grid, a brick, a lattice."""
    table = load("wong2015-table2")
    assert table.cases == MATRICES
    assert all(load(f"wong2015-table{n}").cases == MATRICES for n in (3, 4, 7, 8, 9))
    assert set(load("wong2015-table6").cases) < set(MATRICES)
    assert table.value("epidemiology", "matrix", "rows") == 1025 * 513
    assert table.value("cantilever", "matrix", "rows") == 9 * 9 * 257 * 3
    assert table.value("qcd", "matrix", "rows") == 8**4 * 12
    assert sum(number.value for number in table if number.metric == "nonzeros") == 48620995
    assert sum(number.value for number in table if number.metric == "rows") == 2697832


def coupled(columns, rows, order, periodic):
    """Return the coupling pattern of a grid of quadrilaterals of an order, and which unknowns are on its boundary."""
    across = columns * order + (not periodic)
    up = rows * order + 1
    local = np.arange(order + 1)
    i = (np.arange(columns)[:, None] * order + local) % across
    j = np.arange(rows)[:, None] * order + local
    elements = (i[:, None, :, None] * up + j[None, :, None, :]).reshape(columns * rows, -1)
    count, size = elements.shape
    entries = np.repeat(elements, size, axis=1).ravel(), np.tile(elements, (1, size)).ravel()
    pattern = scipy.sparse.csr_array((np.ones(count * size * size), entries), shape=(across * up, across * up))
    place = np.arange(across * up)
    edge = (place % up == 0) | (place % up == up - 1)
    if not periodic:
        edge |= (place // up == 0) | (place // up == across - 1)
    return pattern, edge


@pytest.mark.parametrize("mesh", ["circle", "blood"])
@pytest.mark.parametrize("element", ["q1", "q2"])
def test_the_formulas_of_the_non_zeros_count_a_real_mesh(mesh, element):
    """A ring and a rectangle of quadrilaterals, whose matrices are assembled and counted."""
    relations = tomllib.loads((ROOT / "geveler2011" / "relations.toml").read_text(encoding="utf-8"))["relation"]
    derived = f"table1 {element} nonzeros"
    levels = next(r for r in relations if r["derived"] == derived and f"{mesh}-l4" in r["cases"])
    unknowns = {order: coupled(24, 10, order, mesh == "circle")[0].shape[0] for order in (1, 2)}
    names = {"N": Interval.of(unknowns[1]), "M": Interval.of(unknowns[2])}
    pattern, edge = coupled(24, 10, int(element[1]), mesh == "circle")
    every = evaluate(levels["readings"]["every entry"], names)
    assert (every.low, every.high) == (pattern.nnz, pattern.nnz)
    unit = pattern.nnz - int(np.diff(pattern.indptr)[edge].sum() - edge.sum())
    replaced = evaluate(levels["readings"]["unit rows on the boundary"], names)
    corners = 4 if mesh == "blood" else 0
    assert unit == replaced.low + (2 if element == "q1" else 6) * corners and unit <= replaced.high
    finest = [r for r in relations if r["derived"].startswith(f"{derived} {mesh}")]
    pattern, edge = coupled(48, 20, int(element[1]), mesh == "circle")
    for relation in finest:  # of the level after N and M
        every = evaluate(relation["readings"]["every entry"], names)
        assert (every.low, every.high) == (pattern.nnz, pattern.nnz)
        unit = pattern.nnz - int(np.diff(pattern.indptr)[edge].sum() - edge.sum())
        assert unit == evaluate(relation["readings"]["unit rows on the boundary"], names).low + 2 * corners
    assert len(finest) == (element == "q1")


def test_the_non_zeros_that_do_not_follow_are_copies_of_others():
    """The coarse levels of Table 1 have these instead: a quarter of the next level, and nine times Q1."""
    table = load("geveler2011-table1")
    nonzeros = {(n.case, n.method): int(n.value) for n in table if n.metric == "nonzeros"}
    quarters = [
        ("circle", "q1", 4), ("circle", "q1", 5), ("circle", "q1", 6), ("circle", "q2", 4), ("circle", "q2", 5),
        ("blood", "q1", 4),
    ]  # fmt: skip
    for mesh, element, level in quarters:
        assert nonzeros[f"{mesh}-l{level}", element] == nonzeros[f"{mesh}-l{level + 1}", element] // 4
    for level in range(4, 8):
        assert nonzeros[f"blood-l{level}", "q2"] == 9 * nonzeros[f"blood-l{level}", "q1"]
    wrong = {(mesh, element, f"{mesh}-l{level}") for mesh, element, level in quarters}
    wrong |= {("blood", "q2", f"blood-l{level}") for level in range(4, 8)}
    found = {
        (finding.number.case.split("-")[0], finding.number.method, finding.number.case)
        for finding in consistency.check("geveler2011")
        if finding.number.metric == "nonzeros"
    }
    assert found == wrong


def test_what_does_not_follow_in_geveler2011():
    found = [finding for finding in consistency.check("geveler2011") if finding.number.metric != "nonzeros"]
    (rate,) = [each for each in found if each.number.case == "spmv-gpu-rate-high"]
    assert (rate.number.printed, rate.number.unit) == ("14", "GFLOP/s")
    assert (rate.expected[""].low, rate.expected[""].high) == pytest.approx((11.1755, 11.1765))
    places = {(each.number.case, each.number.method) for each in found if each.number.artefact == "geveler2011-table3"}
    random = {(case, f"{element}-sto-{runs}") for runs in ("cpu-1", "cpu-4", "gpu")
              for element, case in (("q1", "circle-l10"), ("q1", "circle-l9"), ("q2", "circle-l9"))}  # fmt: skip
    not_best = {("circle-l9", "q1-xyz-cpu-1"), ("circle-l7", "q1-xyz-cpu-4"), ("circle-l7", "q1-xyz-gpu")}
    assert places == random | not_best
    factors = [each.expected[""] for each in found if each.number.case == "numbering-factor"]
    assert [(round(each.low, 1), round(each.high, 1)) for each in factors] == [
        (23.5, 23.7), (13.2, 13.2), (6.2, 6.2), (3.1, 3.1), (2.2, 2.2),
    ]  # fmt: skip


def test_random_numbering_takes_products_that_no_other_does_in_geveler2011():
    """The count is a solve's time over a product's, at the largest matrices and by the printed digits alone."""
    solves, rates = load("geveler2011-table3"), load("geveler2011-table2")
    for element, case in (("q1", "circle-l10"), ("q2", "circle-l9")):
        count = load("geveler2011-table1").get(case, element, "nonzeros").value
        for runs in ("cpu-1", "cpu-4", "gpu"):
            products = {numbering: solves.get(case, f"{element}-{numbering}-{runs}", "solve").value
                        * rates.get(case, f"{element}-{numbering}-{runs}", "rate").value * 1e6 / (2 * count)
                        for numbering in ("2lv", "cm", "xyz", "sto", "hie")}  # fmt: skip
            assert 1150 < products.pop("sto") < 1265 and all(205 < each < 372 for each in products.values())


def test_every_speedup_of_geveler2011_is_checked_and_agrees():
    verdicts = [v for v in consistency.verdicts("geveler2011") if v.relation.startswith("speed-up of")]
    numbers = {(v.number.artefact, v.number.case, v.number.method) for v in verdicts}
    assert len(numbers) == len(verdicts) == 160
    assert all(v.agrees for v in verdicts)


def test_what_does_not_follow_in_wong2015():
    (finding,) = consistency.check("wong2015")  # three matrices go to ModernGPU, and thirteen of fifteen do not
    assert (finding.number.case, finding.number.printed) == ("k-fastest-at-1", "13")
    assert (finding.expected[""].low, finding.expected[""].high) == (0, 12)


def test_every_derived_number_of_wong2015_is_checked():
    checked = {(v.number.artefact, v.number.metric) for v in consistency.verdicts("wong2015")}
    assert {("wong2015-table2", name) for name in ("bytes", "nonzeros", "row_length_mean")} <= checked
    for table in (3, 7, 8, 9):
        assert {(f"wong2015-table{table}", n.metric) for n in load(f"wong2015-table{table}")} <= checked


def test_what_does_not_follow_in_remacle2016():
    found = {(finding.number.place, finding.number.printed) for finding in consistency.check("remacle2016")}
    # By hand: 25³ = 15,625, and 225³ = 11,390,625 is the printed 1.1e7; 126.3 s over 70 steps is 1.8 s.
    assert ("Table 1, row N, column 8^3", "1.5e4") in found
    assert not any("row N, column n=7" in place for place, _ in found)
    assert ("Section 7, paragraph 1", "0.5") in found
    assert ("Section 5.1, after O_R", "75") in found  # 250 / 4 is 62.5
    # No bandwidth follows from its rate by the counts of sections 5.1 and 5.2, and no rate with the geometry.
    rows = [place for place, _ in found if "(GB/sec)" in place and place.startswith("Table 2")]
    assert len(rows) == 18 and len(found) == 100


def test_what_does_not_follow_in_zhang2013():
    verdicts = consistency.verdicts("zhang2013")
    assert len(verdicts) == 21
    wrong = [(verdict.number.case, verdict.number.metric) for verdict in consistency.check("zhang2013")]
    assert wrong == [("chebyshev", "iterations")]  # the rows of Table 3 are not of one bound
    checked = {(verdict.number.artefact, verdict.number.case) for verdict in verdicts}
    assert {(f"zhang2013-table{n}", mesh) for n in (1, 2) for mesh in ("tri", "quad", "tet", "hex")} <= checked


def test_the_list_of_what_figures_print_has_every_figure_once():
    lines = re.findall(r"^\| (\w+) Figures? ([\d, ]+) \|", (ROOT / "README.md").read_text(), flags=re.M)
    listed = [f"{paper}-figure{number}" for paper, numbers in lines for number in numbers.split(", ")]
    known = [each["id"] for paper in papers() for each in artefacts(paper)]
    assert sorted(listed) == sorted(each for each in known if "-figure" in each)
