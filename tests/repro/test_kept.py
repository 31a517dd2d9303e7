"""A cell that fails or is skipped displaces no measured one: not in the store, nor in any of an artefact's files."""

import csv
import json
import shutil
from unittest import mock

import pytest

from repro import discovery
from repro.cache import plan
from repro.cache.store import content, read_json
from repro.cli import main
from repro.run.worker import Worker
from repro.settings import make_settings

HOST = ("--only", "backend=host")


def rows(laboratory):
    with laboratory.file("table1.smoke.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def samples(laboratory):
    return json.loads(content(laboratory.file("table1.smoke.samples.json")))["samples"]


def cells(laboratory):
    return read_json(laboratory.file("table1.smoke.json"))["cells"]


def edit(laboratory):
    """Change what every cell is made of, as another commit does."""
    path = laboratory.paper / "adding.py"
    path.write_text(path.read_text().replace("sum(numbers)", "sum(list(numbers))"))


def fail(laboratory, *words):
    """Have every cell fail that is measured."""
    broken = OSError("no compiler")
    with mock.patch("fakelab.demo2020.table1_sums._misbehave", side_effect=broken):
        return laboratory.run("table1", *words)


def done(laboratory):
    return [row for row in rows(laboratory) if row["status"] == "done"]


@pytest.mark.parametrize("is_clone", [False, True], ids=["store", "files alone"])
def test_a_run_whose_cells_fail_takes_nothing_away(laboratory, capsys, is_clone):
    """Results of another commit stay with their tables, plots and samples, and say that their cells failed since."""
    laboratory.has_run("table1")
    before = done(laboratory), samples(laboratory)
    table = laboratory.file("table1.smoke.md").read_text().partition("## ")[0]
    if is_clone:
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    edit(laboratory)
    assert fail(laboratory) == 1
    out, err = capsys.readouterr()
    assert "6 failed" in err
    shown = out.partition("Measured before, and shown until measured again:\n- ")
    assert "kernel" in shown[0] and "OSError: no compiler" in shown[2]
    for _ in range(2):  # also when the files alone have what was measured
        assert (done(laboratory), samples(laboratory)) == before and laboratory.file("table1.smoke.png").exists()
        assert laboratory.file("table1.smoke.md").read_text().partition("## ")[0] == table
        text = laboratory.file("table1.smoke.md").read_text()
        assert "## Measured before" in text and "OSError: no compiler" in text and "adding.py changed" in text
        marks = [cell["since"] for cell in cells(laboratory) if cell["status"] == "done"]
        assert len(marks) == 6 and all(each["status"] == "failed" and each["date"] for each in marks)
        why = [text for name, text in laboratory.reasons().items() if not name.endswith("cuda")]
        assert all("failed on " in each and "after it was measured: OSError: no compiler" in each for each in why)
        shutil.rmtree(laboratory.results / "bench" / ".cells")
        assert fail(laboratory, *HOST) == 1
    count = len(laboratory.traces())
    assert laboratory.run("table1") == 0  # all of them are pending, and what is measured replaces what was kept
    assert len(laboratory.traces()) == count + 6
    assert "Measured before" not in laboratory.file("table1.smoke.md").read_text()
    assert not any("since" in cell for cell in cells(laboratory))


def test_the_status_tells_failed_from_measured(laboratory, capsys):
    laboratory.has_run("table1")
    assert fail(laboratory, *HOST, "--force") == 1
    capsys.readouterr()
    assert main(["status", "table1", "--scale", "smoke", "--results", str(laboratory.results), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)[0]["cells"]
    assert {(cell["backend"], cell["state"]) for cell in found} == {
        ("host", "failed"), ("opencl", "done"), ("cuda", "skipped"),
    }  # fmt: skip


def test_a_record_of_other_sources_is_read_back_as_such(laboratory):
    """Beside cells that stand in one manifest, it neither passes for one of them nor spoils them."""
    laboratory.has_run("table1")
    edit(laboratory)
    assert any(laboratory.reasons().values())  # it is loaded anew from here on
    assert laboratory.run("table1", "--only", "backend=opencl") == 0
    assert fail(laboratory, *HOST) == 1
    keys = {backend: {cell["key"] for cell in cells(laboratory) if cell["backend"] == backend} for backend in
            ("host", "opencl")}  # fmt: skip
    assert keys["host"] and keys["opencl"] and not keys["host"] & keys["opencl"]
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    why = laboratory.reasons()
    assert all(text == "" for name, text in why.items() if name.endswith("opencl"))
    assert all("no compiler" in text for name, text in why.items() if name.endswith("host"))
    path = laboratory.file("table1.smoke.json")
    manifest = read_json(path)
    for cell in manifest["cells"]:
        cell.pop("since", None)
    path.write_text(json.dumps(manifest))
    assert {text for name, text in laboratory.reasons().items() if name.endswith("host")} == {
        "fakelab/demo2020/adding.py changed"
    }


@pytest.mark.parametrize(
    "odd", [{"key": 99}, {"key": None}, {"digests": 3}, {"since": {}}, {"since": {"date": 3}}], ids=str
)
def test_a_mark_that_is_damaged_gives_no_cell(laboratory, odd):
    laboratory.has_run("table1", *HOST)
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    path = laboratory.file("table1.smoke.json")
    manifest = read_json(path)
    manifest["cells"][0] |= odd
    path.write_text(json.dumps(manifest))
    assert "never run" in {text for name, text in laboratory.reasons().items() if name.endswith("host")}


def test_a_skipped_cell_displaces_no_measured_one(laboratory, monkeypatch):
    laboratory.has_run("table1")
    before = done(laboratory)
    edit(laboratory)
    monkeypatch.setenv("FAKELAB_NEED", "8e15")  # of which the second case skips
    assert laboratory.run("table1", "--only", "case=second", *HOST) == 0
    assert done(laboratory) == before and laboratory.file("table1.smoke.png").exists()
    assert laboratory.statuses()["smoke-second-loop-host"] == "done"
    assert "skipped on " in laboratory.reasons()["second/loop/host"]


def test_the_death_of_a_cells_process_keeps_what_was_measured(laboratory):
    laboratory.has_run("table1", *HOST)
    made = make_settings("smoke", laboratory.results, "bench")
    (artefact,) = discovery.select(["table1"])
    task = plan.tasks_of(artefact, discovery.load(artefact), made)[0]
    assert Worker(made)._fail(task, "it died: SIGSEGV", 0.0, 1)
    record = json.loads(laboratory.cell("first-loop").read_text())
    assert record["status"] == "done" and record["rows"] and record["since"]["reason"] == "it died: SIGSEGV"
    assert task.record["status"] == "failed"  # which is what the run counts


@pytest.mark.parametrize("made", [None, "no figure"])
def test_a_plot_that_is_not_drawn_as_cells_failed_removes_none(laboratory, made):
    laboratory.has_run("table1")
    with mock.patch("fakelab.demo2020.table1_sums.plot", return_value=made):
        assert fail(laboratory, *HOST, "--force") == 1
    assert laboratory.file("table1.smoke.png").exists()
