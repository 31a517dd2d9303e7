"""The user's own files in place of datasets: divided into shards, merged, looked at and compared as the others are."""

import csv
import json
import re

import pytest

from repro.cli import main

OTHERS = '''"""Sums of other numbers."""

from fakelab.demo2020.table1_sums import plot, tables
from repro import Cell


def cells(scale):
    yield Cell("other", "loop", "host", {}, ("demo2020/others",))


def measure(cell, run):
    run.value("sum", sum(run.dataset("demo2020/others")))
'''
FIRST = """from fakelab.demo2020 import table1_sums
from fakelab.demo2020.table1_sums import measure, plot, tables


def cells(scale):
    return [cell for cell in table1_sums.cells(scale) if cell.case == "first"]
"""
FEW = ("--only", "case=first", "--only", "case=other", "--only", "backend=host")


@pytest.fixture
def lab(laboratory, monkeypatch, capsys):
    """With a second table, of a second dataset, and the options that put own files in the place of both."""
    (laboratory.paper / "table4_others.py").write_text(OTHERS)
    environment = laboratory.folder / "fakelab" / "environment.py"
    entries = 'return [Entry(), Entry("demo2020/others")]'
    environment.write_text(environment.read_text().replace("return [Entry()]", entries))
    monkeypatch.chdir(laboratory.folder)
    laboratory.own = []
    for name, numbers in (("numbers", "1 2"), ("others", "3 4 5")):
        (laboratory.folder / f"my {name}.txt").write_text(numbers)
        laboratory.own += ["--mesh", f"demo2020/{name}=my {name}.txt"]
    return laboratory


def sums(folder):
    """What was measured, which files it is told to be of, and how the cells stand, by the names of the results."""
    found = {}
    for path in folder.glob("bench/*/*.csv"):
        with path.open(newline="") as stream:
            rows = [(row["case"], row["value"]) for row in csv.DictReader(stream) if row["metric"] == "sum"]
        manifest = json.loads(path.with_suffix(".json").read_text())
        own = path.with_suffix(".md").read_text().count("own file"), list(manifest["overrides"])
        found[re.sub("[0-9a-f]{8}", "*", path.name)] = rows, own, [cell["status"] for cell in manifest["cells"]]
    return found


def test_a_shard_takes_the_own_files_of_its_artefacts_and_a_merge_writes_what_a_run_does(lab, capsys):
    words = ("--scale", "smoke", *lab.own, *FEW)
    assert main(["plan", "table1", "table4", "--shards", "2", "--results", "none", *words]) == 0
    shards = json.loads((lab.folder / "plan.json").read_text())["shards"]
    assert sorted(shard["artefacts"] for shard in shards) == [["demo2020-table1"], ["demo2020-table4"]]
    for number in ("1", "2"):
        assert main(["run", "--in-process", "--shard", "plan.json", number, "--results", f"shard-{number}"]) == 0
    assert main(["merge", "shard-1", "shard-2", "--into", "merged"]) == 0
    assert "2 artefacts written" in capsys.readouterr().err
    assert lab.run("table1", "table4", *lab.own, *FEW) == 0
    assert sums(lab.folder / "merged") == sums(lab.results) == {
        "table1.smoke.my-numbers-txt-*.csv": ([("first", "3.0")], (1, ["demo2020/numbers"]), ["done"]),
        "table4.smoke.my-others-txt-*.csv": ([("other", "12.0")], (1, ["demo2020/others"]), ["done"]),
    }  # fmt: skip


def test_own_files_that_are_not_here_are_named_and_cost_no_other_artefact(lab, capsys):
    assert lab.run("table1", "table4", *lab.own, *FEW) == 0
    (lab.folder / "my others.txt").unlink()
    assert main(["merge", str(lab.results), "--into", "merged"]) == 1
    assert "table4 cannot be planned" in (said := capsys.readouterr().err) and "my others.txt" in said
    assert list(sums(lab.folder / "merged")) == ["table1.smoke.my-numbers-txt-*.csv"]


def test_a_merge_into_a_clone_takes_no_worse_cell_of_own_files(lab):
    assert lab.run("table4", "table1", *lab.own, *FEW) == 0
    before = sums(lab.results)
    (lab.results / "bench" / ".cells").rename(lab.folder / "cells")
    (lab.folder / "elsewhere" / "bench").mkdir(parents=True)
    (lab.folder / "cells").rename(lab.folder / "elsewhere" / "bench" / ".cells")
    for path in (lab.folder / "elsewhere" / "bench" / ".cells").glob("*/[!.]*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "status": "failed"}))
    assert main(["merge", "elsewhere", "--into", str(lab.results)]) == 0
    assert sums(lab.results) == before


def test_a_merge_writes_no_artefact_that_shows_none_of_its_cells(laboratory):
    (laboratory.paper / "table3_again.py").write_text(f'"""The first sums."""\n{FIRST}')
    second, elsewhere = ("--only", "case=second", "--only", "backend=host"), laboratory.folder / "elsewhere"
    assert laboratory.run("table1", "table3", "--only", "case=first", "--only", "backend=host") == 0
    assert laboratory.run("table1", "--results", str(elsewhere), *second) == 0
    before = {path: path.stat().st_mtime_ns for path in laboratory.file("").iterdir()}
    assert main(["merge", str(elsewhere), "--into", str(laboratory.results)]) == 0
    changed = {path.name for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert changed and not any(name.startswith("table3") for name in changed)


def test_own_files_are_looked_at_by_the_same_option(lab, capsys):
    numbers, others = lab.own[:2], lab.own[2:]

    def said(code, command, *words):
        capsys.readouterr()
        assert main([command, *words, "--scale", "smoke", "--results", str(lab.results), "--json"]) == code
        return json.loads(capsys.readouterr().out or "null")

    assert lab.run("table4", *others) == 0
    states = [
        [part["cells"][-1]["state"] for part in said(0, "status", "table1", "table4", *own)] for own in (lab.own, [])
    ]
    assert states == [["to run", "done"], ["to run", "to run"]]
    (lab.results / "bench").rename(lab.results / "older")
    (lab.folder / "my others.txt").write_text("3 4 6")
    assert lab.run("table4", *others) == 0
    for names in (["table4"], []):
        (row,) = said(0, "compare", *names, "--with", "older", *others)
        assert (row["old"], row["new"], row["verdict"]) == (12, 13, "changed")
    for names, own in ((["table1"], numbers), (["table4"], [])):
        assert said(1, "compare", *names, "--with", "older", *own) == []
    assert said(2, "compare", "table4", "--with", "older", *numbers) is None
