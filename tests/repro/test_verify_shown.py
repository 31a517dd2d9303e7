"""Everything that follows from rows and probes is recomputed, too: who edits a ceiling or a page of tables is found."""

import json
import re
import subprocess
from dataclasses import asdict, replace

import pandas
import pytest

from repro.cache.glance import glance
from repro.cli import main
from repro.judge import pages, verify
from repro.judge.verify import WRONG
from repro.run.ceilings import from_probes
from tests.checkout import committed_results, program

PLACE, FILE = "A card", "box/ceilings"
STREAM = {"kind": "read", "precision": "float64", "bytes": 1e9, "flops": 0.0, "seconds": [0.01, 0.011]}
PROBES = [{**STREAM, "cold": False}, {**STREAM, "cold": True, "seconds": [0.03]},
          {**STREAM, "kind": "flops", "cold": False, "bytes": 0.0, "flops": 1e9}]  # fmt: skip


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "results" / "box" / "ceilings.json"
    path.parent.mkdir(parents=True)
    entry = {"machine": {"cpu": "X"}, "gpu": True, "measured": 1.0, "ceilings": asdict(from_probes(PLACE, PROBES))}
    path.write_text(json.dumps({PLACE: entry}))
    return path


def found(path):
    return [(each.kind, each.file, each.what) for each in verify.verify(path.parents[1]).problems]


def edit(path, change):
    stored = json.loads(path.read_text())
    change(stored[PLACE])
    path.write_text(json.dumps(stored))


def commit(path):
    git = [program("git"), "-C", str(path.parents[1]), "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "measured", "--allow-empty"]):
        subprocess.run([*git, *arguments], check=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["rates"].update(float64=1.1e11),
        lambda found: found["bandwidths"]["read"][0].__setitem__(1, 1.1e11),
        lambda found: found["cold"]["read"][0].__setitem__(0, 1.1e9),
        lambda found: found["probes"][0].update(seconds=[0.0099]),
    ],
)
def test_an_edited_ceiling_is_found_by_its_probes(stored, change):
    assert found(stored) == []
    edit(stored, lambda entry: change(entry["ceilings"]))
    assert found(stored) == [(WRONG, FILE, "the ceilings of A card are not what their probes come to")]


def measured_again(entry):
    faster = [{**probe, "seconds": [0.5 * each for each in probe["seconds"]]} for probe in PROBES]
    entry.update(ceilings=asdict(from_probes(PLACE, faster)))


def test_ceilings_are_those_that_were_committed_first(stored):
    commit(stored)
    edit(stored, measured_again)
    for _ in range(2):
        ((kind, file, what),) = found(stored)
        assert (kind, file) == (WRONG, FILE) and "A card are not those of commit" in what
        commit(stored)  # of edited numbers, which changes nothing
    text = stored.read_text()
    stored.unlink()
    commit(stored)  # without the file, as between two campaigns
    stored.write_text(text)
    assert len(found(stored)) == 1
    edit(stored, lambda entry: entry.update(measured=2.0))  # on another day
    assert found(stored) == []


def test_a_damaged_file_of_ceilings_is_said(stored):
    stored.write_text("{")
    ((kind, file, what),) = found(stored)
    assert (kind, file) == (WRONG, FILE) and what.startswith("damaged")
    edited = {PLACE: {"measured": 1.0}}
    stored.write_text(json.dumps(edited))
    assert found(stored)[0][2].startswith("damaged: KeyError")


def test_a_page_that_is_not_what_the_rows_give_is_found(laboratory, capsys):
    laboratory.has_run("table1")
    page, csv = laboratory.file("table1.smoke.md"), laboratory.file("table1.smoke.csv")
    before, file = page.read_text(), "bench/demo2020/table1.smoke"
    assert list(pages.check(laboratory.results)) == []
    laboratory.file("table1.smoke.png").unlink()  # git has not every picture
    assert list(pages.check(laboratory.results)) == []
    start = before.index("| ---")
    digit = next(place for place in range(start, len(before)) if before[place].isdigit())
    page.write_text(before[:digit] + str((int(before[digit]) + 1) % 10) + before[digit + 1 :])
    assert list(pages.check(laboratory.results)) == [(file, pages.OUTDATED)]
    assert main(["verify", "--results", str(laboratory.results)]) == 1
    assert f"{file}: {pages.OUTDATED}" in capsys.readouterr().err
    section = re.search(r"## Skipped, because\n\n(- .*\n)+\n", before)[0]
    for edited in (before.replace(section, ""), re.sub(r"; \d+ of (\d+) cells", r"; \1 of \1 cells", before)):
        page.write_text(edited)
        assert edited != before and list(pages.check(laboratory.results)) == [(file, pages.OUTDATED)]
    page.write_text(before.replace("## Skipped", "## Checked again\n\n| a |\n\n## Skipped"))
    said = [what for _, what in pages.check(laboratory.results) if what.startswith("no run writes this line")]
    assert [what.rpartition(": ")[2] for what in said] == ["## Checked again", "| a |"]
    page.unlink()
    assert list(pages.check(laboratory.results)) == [(file, "there is no page beside the rows")]
    page.write_text(before)
    csv.rename(csv.with_suffix(".kept"))
    assert list(pages.check(laboratory.results)) == [(file, "there are no rows beside the page")]
    csv.write_text("case\n1\n")
    ((_, what),) = pages.check(laboratory.results)
    assert what.startswith("its page cannot be written again")


def test_a_page_keeps_the_beliefs_that_its_tables_stand_by(laboratory, monkeypatch):
    """They are told below the first table, and again in a section of their own."""
    from fakelab.demo2020 import table1_sums

    laboratory.has_run("table1")
    page = laboratory.file("table1.smoke.md")
    lines = ["2 of 2 cells stand by a belief, “a”, of today", "1 of 2 cells stands by another"]
    plain = page.read_text()
    section = "\n".join(["## Stands by a belief", "", *(f"- {line}" for line in lines)])
    told = plain.replace("## How it was made", f"{section}\n\n## How it was made")
    page.write_text(told)
    assert len(list(pages.check(laboratory.results))) == 1  # no table has them
    assert main(["figures", "--results", str(laboratory.results)]) == 0
    assert all(f"- {line}.\n" in page.read_text() for line in lines)
    assert list(pages.check(laboratory.results)) == []
    whole = table1_sums.tables
    monkeypatch.setattr(
        table1_sums, "tables", lambda results: [replace(whole(results)[0], frame=pandas.DataFrame()), *whole(results)]
    )
    assert main(["figures", "--results", str(laboratory.results)]) == 0
    assert all(f"- {line}.\n" in page.read_text() for line in lines), "a first table without a line is not shown"


def test_the_committed_pages_have_the_tables_of_their_rows():
    with committed_results() as results, glance():
        assert list(pages.check(results)) == [], "`repro figures` has not been run since"
