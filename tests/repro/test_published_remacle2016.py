"""remacle2016's numbers: complete, and which of them do not follow from the paper's own counts."""

from repro.judge import consistency
from repro.published import ROOT as PUBLISHED
from repro.published import load, statements


def test_every_table_is_there_in_full():
    counts = {n: len(load(f"remacle2016-table{n}")) for n in (1, 2, 3, 4)}
    # 5 N and 6 × 5 iterations; 10 and 9 rows by six orders; 2 and 5 × 4 rows by six orders.
    assert counts == {1: 35, 2: 60, 3: 54, 4: 132}


def test_statements_name_artefacts_of_the_paper():
    known = {f"remacle2016-table{n}" for n in (1, 2, 3, 4)} | {"remacle2016-figure3", "remacle2016-figure4", ""}
    assert {entry.get("about", "") for entry in statements(PUBLISHED / "remacle2016" / "text.toml")} <= known


def test_what_does_not_follow():
    found = {(finding.number.place, finding.number.printed) for finding in consistency.check("remacle2016")}
    # By hand: 25³ = 15,625, and 225³ = 11,390,625 is the printed 1.1e7; 126.3 s over 70 steps is 1.8 s.
    assert ("Table 1, row N, column 8^3", "1.5e4") in found
    assert not any("row N, column n=7" in place for place, _ in found)
    assert ("Section 7, paragraph 1", "0.5") in found
    assert ("Section 5.1, after O_R", "75") in found  # 250 / 4 is 62.5
    # No bandwidth follows from its rate by the counts of sections 5.1 and 5.2, and no rate with the geometry.
    rows = [place for place, _ in found if "(GB/sec)" in place and place.startswith("Table 2")]
    assert len(rows) == 18 and len(found) == 52
