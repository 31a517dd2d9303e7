"""Every number that a paper derives: one that does not follow from its own table is found, the others are not."""

import pytest

from repro.judge import consistency
from repro.model import ReproError

# Worked out by hand: place, printed, and the interval of what it follows from.
FU2014 = {
    ("Table 1, row Regular, column NNZ (million)", "5.1"): (4.018753, 4.018753),  # 65^3 + 2 * 1,872,064 edges
    ("Table 1, row Irregular, column NNZ (million)", "4.1"): (2.84, 3.23),
    ("Table 1, row Heart, column NNZ (million)", "9.4"): (5.92, 6.80),
    ("Table 1, row Brain, column NNZ (million)", "8.7"): (4.58, 5.22),
    ("Table 3, row Regular, column S1", "2.0"): (1.095 / 0.5195, 1.105 / 0.5185),
    ("Table 3, row Heart, column S1", "3.2"): (2.505 / 0.8135, 2.515 / 0.8125),
    ("Table 3, row Blobs, column S1", "2.1"): (1.265 / 0.5695, 1.275 / 0.5685),
    ("Table 5, row Brain, column S3", "9"): (60.35 / 8.155, 60.45 / 8.145),
    ("Table 6, row Regular, column CUSP-PCGAMG", "4.68"): (174.5 / 36, 175.5 / 36),
    ("Table 6, row Regular, column S2", "(1.6)"): (174.5 / 36 * 19 / 139.5, 175.5 / 36 * 19 / 138.5),
    ("Section 6.2.5, paragraph 2, sentence 1", "51"): (32.5, 33.5),
    ("Section 6.2.5, paragraph 2, sentence 1", "9"): (60.35 / 8.155, 60.45 / 8.145),
    ("Section 6.2.1, paragraph 2", "3.2"): (2.505 / 0.8135, 2.515 / 0.8125),
}


@pytest.fixture(scope="module")
def verdicts():
    return consistency.verdicts("fu2014")


def test_all_inconsistencies_of_fu2014_are_found_and_no_other():
    found = consistency.check("fu2014")
    assert len(found) == len(FU2014)
    assert {(finding.number.place, finding.number.printed) for finding in found} == set(FU2014)
    for finding in found:
        expected = next(iter(finding.expected.values()))
        low, high = FU2014[finding.number.place, finding.number.printed]
        assert (expected.low, expected.high) == pytest.approx((low, high), rel=2e-3), str(finding)


def test_every_derived_number_of_fu2014_is_checked(verdicts):
    places = {verdict.number.place for verdict in verdicts}
    meshes = ("Regular", "Irregular", "Heart", "Brain", "Blobs")
    for table, columns in {
        1: ["NNZ (million)"], 2: ["Speedup"], 3: ["S1", "S2"], 5: ["S1", "S2", "S3"],
        6: ["patchPCGAMG", "Hypre-PCGAMG", "S1", "CUSP-PCGAMG", "S2"],
    }.items():  # fmt: skip
        assert {f"Table {table}, row {mesh}, column {column}" for mesh in meshes for column in columns} <= places
    assert sum(verdict.agrees for verdict in verdicts) == len(verdicts) - len(FU2014) > 80


@pytest.fixture
def paper(tmp_path):
    folder = tmp_path / "some2001"
    folder.mkdir()
    lines = ["case,method,metric,printed,unit,place"]
    lines += [f"{case},a,t,{t},ms,Table 1" for case, t in (("x", "2.0"), ("y", "4.0"))]
    lines += [f"{case},b,t,{t},s,Table 1" for case, t in (("x", "0.0060"), ("y", "0.0140"))]
    lines += [f"{case},a,speedup,{s},x,Table 1" for case, s in (("x", "3.0"), ("y", "3.1"))]
    (folder / "table1.csv").write_text("\n".join(lines) + "\n")

    def relations(text):
        (folder / "relations.toml").write_text(text)
        return tmp_path

    return relations


RELATION = """
[[relation]]
name = "speed-up"
derived = "table1 a speedup"
formula = "b / a"
[relation.where]
a = "table1 a t"
b = "table1 b t"
"""


def test_units_are_converted_and_a_wrong_number_is_found(paper):
    root = paper(RELATION)
    assert [v.agrees for v in consistency.verdicts("some2001", root)] == [True, False]
    (finding,) = consistency.check("some2001", root)
    assert (finding.number.case, {source.value for source in finding.sources}) == ("y", {4.0, 0.014})


def test_a_paper_without_relations_has_no_findings(paper):
    assert consistency.check("none1999", paper("")) == []


def test_a_relation_is_repeated_for_each_line_of_its_lists(paper):
    each = '[relation.each]\nmethod = ["b", "a"]\nwanted = ["a", "a"]\n[relation.where]'
    text = RELATION.replace("table1 a", "table1 {wanted}").replace("table1 b", "table1 {method}")
    found = consistency.verdicts("some2001", paper(text.replace("[relation.where]", each)))
    assert [verdict.agrees for verdict in found] == [True, False, False, False]  # b / a, then a / a
    assert [verdict.number.case for verdict in found] == ["x", "y", "x", "y"]


def test_a_method_with_an_asterisk_is_a_list(paper):
    text = RELATION.replace("b / a", "max(a) / min(a)").replace('"table1 a t"', '"table1 * t"')
    found = consistency.verdicts("some2001", paper(text))
    assert [verdict.agrees for verdict in found] == [True, False]  # 6 ms over 2 ms, 14 ms over 4 ms
    text = text.replace('derived = "table1 a speedup"', 'derived = "table1 a speedup x"').replace("* t", "* t y")
    (verdict,) = consistency.verdicts("some2001", paper(text))
    assert not verdict.agrees and {source.case for source in verdict.sources} == {"y", "x"}


@pytest.mark.parametrize(
    "each",
    ['[relation.each]\nother = ["b"]', '[relation.each]\nmethod = ["b", "a"]\nother = ["b"]', ""],
    ids=["another name", "lists of two lengths", "no list"],
)
def test_lists_that_do_not_fit_the_references_are_errors(paper, each):
    text = RELATION.replace("table1 b", "table1 {method}").replace("[relation.where]", f"{each}\n[relation.where]")
    with pytest.raises(ReproError, match="does not fit"):
        consistency.verdicts("some2001", paper(text))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('derived = "table1 a speedup"', 'derived = "table1 a speed"', "no number is named"),
        ('b = "table1 b t"', 'b = "table1 c t"', "no number is named"),
        ('formula = "b / a"', 'formula = "b / c"', "not bound"),
        ('formula = "b / a"', "", "either formula or readings"),
        ('name = "speed-up"', "name = ", "relations.toml"),
    ],
)
def test_relations_that_cannot_be_worked_out_are_errors(paper, old, new, message):
    with pytest.raises(ReproError, match=message):
        consistency.verdicts("some2001", paper(RELATION.replace(old, new)))
