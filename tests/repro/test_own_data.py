"""The user's own files in place of datasets: divided into shards, merged, looked at and compared as the others are."""

import csv
import json
import re
import shutil
import sys

import pytest

from repro.cache.store import read_json
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
        manifest = read_json(path.with_suffix(".json"))
        own = path.with_suffix(".md").read_text().count("own file"), list(manifest["overrides"])
        found[re.sub("[0-9a-f]{8}", "*", path.name)] = rows, own, [cell["status"] for cell in manifest["cells"]]
    return found


def test_a_shard_takes_the_own_files_of_its_artefacts_and_a_merge_writes_what_a_run_does(lab, capsys):
    words = ("--scale", "smoke", *lab.own, *FEW)
    for number in "12":
        shard = ("--shard", f"{number}/2", "--results", f"shard-{number}")
        assert main(["run", "table1", "table4", "--in-process", *shard, *words]) == 0
        assert len(sums(lab.folder / f"shard-{number}")) == 1
    assert main(["merge", "shard-1", "shard-2", "--into", "merged"]) == 0
    assert "2 artefacts written" in capsys.readouterr().err
    assert lab.run("table1", "table4", *lab.own, *FEW) == 0
    assert sums(lab.folder / "merged") == sums(lab.results) == {
        "table1.smoke.my-numbers-txt-*.csv": ([("first", "3.0")], (1, ["demo2020/numbers"]), ["done"]),
        "table4.smoke.my-others-txt-*.csv": ([("other", "12.0")], (1, ["demo2020/others"]), ["done"]),
    }  # fmt: skip


def test_own_files_that_are_not_here_are_merged_as_they_were_measured(lab):
    """As on another machine: their hash is known."""
    assert lab.run("table1", "table4", *lab.own, *FEW) == 0
    for file in lab.folder.glob("my *.txt"):
        file.unlink()
    assert main(["merge", str(lab.results), "--into", "merged"]) == 0
    assert sums(lab.folder / "merged") == sums(lab.results) and len(sums(lab.results)) == 2


def moved(lab, name, folder):
    """Move one of the own files, and return the option that gives it from there."""
    (lab.folder / folder).mkdir(exist_ok=True)
    file = (lab.folder / f"my {name}.txt").rename(lab.folder / folder / f"my {name}.txt")
    return ["--mesh", f"demo2020/{name}={file}"]


def test_an_own_file_is_the_same_wherever_it_lies_and_another_when_it_is_edited(lab, capsys):
    assert lab.run("table4", *lab.own[2:]) == 0
    before = sums(lab.results)
    there = moved(lab, "others", "there")
    capsys.readouterr()
    assert lab.run("table4", *there) == 0
    assert "0 cells measured, 1 as before" in capsys.readouterr().err and sums(lab.results) == before
    (lab.folder / "there" / "my others.txt").write_text("3 4 6")
    assert lab.run("table4", *there) == 0 and "1 cell measured" in capsys.readouterr().err
    assert len(list((lab.results / "bench" / "demo2020").glob("table4*.csv"))) == 2
    (lab.folder / "there" / "my others.txt").rename(lab.folder / "there" / "other.txt")
    assert lab.run("table4", "--mesh", "demo2020/others=there/other.txt") == 0
    assert "1 cell measured" in capsys.readouterr().err  # its name is told, and is part of it


def test_a_clone_knows_an_own_file_that_was_moved(lab, capsys):
    assert lab.run("table4", *lab.own[2:]) == 0
    shutil.rmtree(lab.results / "bench" / ".cells")
    there = moved(lab, "others", "there")
    capsys.readouterr()
    assert lab.run("table4", *there) == 0
    said = capsys.readouterr().err
    assert "0 cells measured, 1 as before" in said and "do not stand" not in said


def test_cells_of_one_own_file_in_two_places_merge_to_one_table(lab):
    """As of two machines, of which each has it in a folder of its own."""
    first, host = ["--only", "case=first"], ["--only", "backend=host"]
    assert lab.run("table1", *lab.own[:2], *first, *host) == 0
    there = moved(lab, "numbers", "there")
    assert lab.run("table1", "--results", "elsewhere", *there, "--only", "case=second", *host) == 0
    assert main(["merge", str(lab.results), "elsewhere", "--into", "merged"]) == 0
    ((name, found),) = sums(lab.folder / "merged").items()
    assert name == "table1.smoke.my-numbers-txt-*.csv"
    assert found == ([("first", "3.0"), ("second", "3.0")], (1, ["demo2020/numbers"]), ["done"] * 2)


def test_two_states_of_an_own_file_merge_to_two_tables(lab):
    for folder, numbers in (("one", "3 4 5"), ("two", "3 4 6")):
        (lab.folder / "my others.txt").write_text(numbers)
        assert lab.run("table4", "--results", folder, *lab.own[2:]) == 0
    assert main(["merge", "one", "two", "--into", "merged"]) == 0
    found = [path.read_text() for path in (lab.folder / "merged").glob("bench/*/table4*.csv")]
    assert sorted(float(text.splitlines()[1].split(",")[7]) for text in found) == [12, 13]


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
    source = lab.paper / "table4_others.py"
    source.write_text(source.read_text().replace("sum(run", "1 + sum(run"))
    sys.modules.pop("fakelab.demo2020.table4_others")
    others = moved(lab, "others", "there")
    assert lab.run("table4", *others) == 0
    for names in (["table4"], []):
        (row,) = said(0, "compare", *names, "--with", "older", *others)
        assert (row["old"], row["new"], row["verdict"]) == (12, 13, "changed")
    for names, own in ((["table1"], numbers), (["table4"], [])):
        assert said(1, "compare", *names, "--with", "older", *own) == []
    assert said(2, "compare", "table4", "--with", "older", *numbers) is None
