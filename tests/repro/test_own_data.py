"""The user's own files in place of datasets: looked at, told and compared as the others are."""

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
    """Measured values, the files that they are told to be of, and the cells' statuses, by the names of the results."""
    found = {}
    for path in folder.glob("bench/*/*.csv"):
        with path.open(newline="") as stream:
            rows = [(row["case"], row["value"]) for row in csv.DictReader(stream) if row["metric"] == "sum"]
        manifest = read_json(path.with_suffix(".json"))
        own = path.with_suffix(".md").read_text().count("own file"), list(manifest["overrides"])
        found[re.sub("[0-9a-f]{8}", "*", path.name)] = rows, own, [cell["status"] for cell in manifest["cells"]]
    return found


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


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=" ".join)
def test_an_own_file_that_cannot_be_read_ends_a_run_before_it_measures(lab, capsys, more):
    environment = lab.folder / "fakelab" / "environment.py"
    refusing = (
        "from repro.model import ReproError\n\n        raise ReproError('no numbers in it')\n        return [int("
    )
    environment.write_text(environment.read_text().replace("return [int(", refusing))
    assert lab.run("table1", "table4", *lab.own[2:], *more) == 2
    said = capsys.readouterr().err
    assert "my others.txt cannot take the place of dataset demo2020/others: no numbers in it" in said
    assert not lab.results.exists()


def test_a_clone_knows_an_own_file_that_was_moved(lab, capsys):
    assert lab.run("table4", *lab.own[2:]) == 0
    shutil.rmtree(lab.results / "bench" / ".cells")
    there = moved(lab, "others", "there")
    capsys.readouterr()
    assert lab.run("table4", *there) == 0
    said = capsys.readouterr().err
    assert "0 cells measured, 1 as before" in said and "do not stand" not in said


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
