"""Everything stored is recomputed: whoever edits a number, a hash or a list is found, by the file that it is in."""

import csv
import json
import shutil
from functools import partial
from pathlib import Path

import pytest

from repro.cache.code import digest
from repro.cache.glance import glance
from repro.cache.store import ARCHIVE, as_stored, content, read_json, write_packed
from repro.cli import main
from repro.judge import verify
from repro.judge.provenance import NO_COMMIT
from repro.judge.verify import LIST, UNPROVEN, WRONG
from tests.checkout import committed_results

CHECKOUT = Path(__file__).resolve().parents[2]
STEM = "table1.smoke"


@pytest.fixture
def results(laboratory, monkeypatch):
    """Results of a run as this version writes them, of which nothing is wrong, by a commit that is not here."""
    monkeypatch.setenv("REPRO_COMMIT", "0" * 40)
    assert laboratory.run("table1") in (0, 1)  # a cell of it fails by design
    assert [str(each) for each in verify.verify(laboratory.results, renewing=True).problems if each.kind == WRONG] == []
    return laboratory.results / "bench/demo2020"


def wrong(folder):
    return [each.what for each in verify.verify(folder.parents[1]).problems if each.kind == WRONG]


def edit(folder, suffix, change, is_hidden=False):
    """Change one of the files, and with `is_hidden` the manifest's hash of it, as who edits by hand well."""
    path = folder / f"{STEM}{suffix}"
    changed = change(content(path).decode()).encode()
    write = path.write_bytes if as_stored(path) == path else partial(write_packed, path)
    write(changed)
    if is_hidden:
        manifest = folder / f"{STEM}.json"
        stored = json.loads(manifest.read_text())  # without the lists, which are in the archive
        stored["files"][suffix] = digest(changed)
        manifest.write_text(json.dumps(stored))


def in_rows(change, wanted=lambda row: row["n"]):
    """Return a change of the first row that is wanted."""

    def changed(text):
        lines = text.splitlines(keepends=True)
        reader = csv.DictReader(lines)
        for number, row in enumerate(reader, 1):
            if wanted(row):
                new = {**row, **change(row)}
                lines[number] = ",".join(new[name] for name in reader.fieldnames) + "\n"
                return "".join(lines)
        raise AssertionError("no such row")

    return changed


def test_an_edited_file_is_found_by_its_hash(results):
    edit(results, ".csv", in_rows(lambda row: {"value": str(float(row["value"]) * 0.9)}))
    assert any("table1.smoke.csv is not the one" in what for what in wrong(results))


@pytest.mark.parametrize(
    ("name", "change", "source"),
    [
        ("value", lambda text: str(float(text) * (1 + 1e-9)), "samples"),
        *((name, lambda text: str(int(text) + 1), "samples") for name in ("n", "outliers", "disturbed")),
        ("cold", lambda text: {"True": "False", "False": "True"}[text], "samples"),
        ("rounds", lambda text: str(int(text) + 1), "rounds"),
        *((name, lambda text: f"{text}0", "rounds") for name in ("host", "date")),
        ("scale", lambda text: "paper", "manifest"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",  # a function's text differs between processes
)
def test_an_edited_number_is_found_whatever_the_hash_says(results, name, change, source):
    edit(results, ".csv", in_rows(lambda row: {name: change(row[name])}), is_hidden=True)
    (what,) = wrong(results)
    assert f": {name} is " in what and f"by its {source}" in what


def test_samples_that_are_gone_or_others_are_found(results):
    edit(results, ARCHIVE, lambda text: text.replace('"seconds": [', '"seconds": [1e-9, ', 1), is_hidden=True)
    assert all("by its samples" in what for what in wrong(results)) and wrong(results)
    edit(results, ARCHIVE, lambda text: json.dumps({**json.loads(text), "samples": []}), is_hidden=True)
    assert any("has no samples" in what for what in wrong(results))


def test_a_sampled_row_without_its_columns_is_found(results):
    """Else whoever blanks the count of samples could choose the interval, too."""
    blank = {"n": "", "ci_low": "", "ci_high": "", "outliers": ""}
    edit(results, ".csv", in_rows(lambda row: blank), is_hidden=True)
    assert {what.split(": ")[-1].split(" is ")[0] for what in wrong(results)} == {*blank}


def test_rows_of_a_cell_that_are_gone_or_of_another_status_are_found(results):
    def skipped(row):
        return row["status"] == "skipped"

    edit(results, ".csv", in_rows(lambda row: {"status": "done", "value": "1.0"}, skipped), is_hidden=True)
    assert any("status is done, and skipped by its cell" in what for what in wrong(results))
    rows = content(results / f"{STEM}.csv").decode().splitlines(keepends=True)
    sampled = next(line for line in rows if ",time," in line)
    edit(results, ".csv", lambda text: text.replace(sampled, ""), is_hidden=True)
    assert any(what.endswith("time has no row") for what in wrong(results))


def test_times_whose_samples_are_gone_are_found_by_other_cells_of_the_artefact(results):
    def without(text):
        stored = json.loads(text)
        return json.dumps({**stored, "samples": [each for each in stored["samples"] if each["method"] != "loop"]})

    edit(results, ARCHIVE, without, is_hidden=True)
    blank = {"n": "", "ci_low": "", "ci_high": "", "outliers": ""}
    for _ in range(3):  # cells of that method
        edit(results, ".csv", in_rows(lambda row: blank, lambda row: row["method"] == "loop" and row["n"]), True)
    found = wrong(results)
    assert found and all(what.endswith("loop host time has no samples") for what in found)


def test_a_manifest_of_another_artefact_or_with_cells_of_its_own_is_found(results):
    manifest = results / f"{STEM}.json"
    stored = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(read_json(manifest)))  # which come first, and no hash is of them
    assert wrong(results) == ["the manifest has cells and keys beside those in the file of samples"]
    manifest.write_text(json.dumps({**stored, "artefact": "demo2020-table9"}))
    assert "its manifest is of demo2020-table9" in wrong(results)


def test_rounds_of_another_machine_and_facts_that_differ_between_machines_are_found(results):
    other = results.parents[1] / "b" / results.name
    shutil.copytree(results, other)
    found = wrong(results)
    assert found and all(
        " has a round that b has, too" in what or " has a round that bench has, too" in what for what in found
    )

    across = verify.Across()
    key = {"code": {}, "kernels": {}, "data": {}, "seed": 0}
    cell = {"case": "a", "method": "m", "backend": "host", "parameters": {}, "key": 0}
    about = {"artefact": "x-table1", "scale": "paper", "overrides": {}, "cells": [cell], "keys": [key]}
    about["devices"] = [{"name": "A card", "details": {"compute capability": "90"}}, {"name": "Another", "details": {}}]
    row = {
        **cell,
        "device": "A card",
        "metric": "iterations",
        "unit": "count",
        "status": "done",
        "n": None,
        "value": 100.0,
    }
    for machine, value in (("p", 100.0), ("q", 101.0), ("r", 102.0), ("s", 103.0)):
        across.add(f"{machine}/x/table1", about, [{**row, "value": value}], [])
    assert [file for file, _ in across.problems()] == ["s/x/table1"]
    across.add("t/x/table1", {**about, "keys": [{**key, "code": {"a.py": "other"}}]}, [{**row, "value": 7.0}], [])
    across.add("u/x/table1", about, [{**row, "value": 7.0, "device": "Another"}], [])
    assert [file for file, _ in across.problems()] == ["s/x/table1"]


def test_rows_and_cells_that_do_not_belong_together_are_found(results):
    edit(results, ".csv", in_rows(lambda row: {"case": "another"}), is_hidden=True)
    assert any("another" in what and "is no cell" in what for what in wrong(results))


def test_a_damaged_or_missing_file_is_one_problem_and_costs_no_other(results):
    manifest = results / f"{STEM}.json"
    shutil.copytree(results, results.with_name("other2020"))
    manifest.write_text(manifest.read_text()[:100])
    assert any(what.startswith("damaged") for what in wrong(results))
    manifest.unlink()
    assert any("no manifest beside the rows" in what for what in wrong(results))


def test_data_of_one_recipe_and_two_contents_is_found(results):
    manifest = results / f"{STEM}.json"
    stored = read_json(manifest)
    stored |= {"recipes": {"demo/mesh": "a"}, "data": {"demo/mesh": "1"}}
    for machine, held in (("b", "1"), ("c", "2"), ("bench", "1")):
        folder = results.parents[1] / machine / results.name
        if machine != "bench":
            shutil.copytree(results, folder)
        (folder / f"{STEM}.json").write_text(json.dumps({**stored, "data": {"demo/mesh": held}}))
    found = [each for each in verify.verify(results.parents[1]).problems if "dataset" in each.what]
    assert [each.file for each in found] == [f"c/demo2020/{STEM}"] and found[0].kind == WRONG


def test_a_value_that_does_not_follow_from_its_time_is_found():
    time = {"case": "a", "method": "m", "backend": "host", "artefact": "fu2014-table6", "metric": "solve",
            "value": 0.6, "unit": "s", "n": 9, "ci_low": 0.5, "ci_high": 0.7}  # fmt: skip
    steps = {**time, "metric": "iterations", "value": 12.0, "unit": "count", "n": None}
    each = {**time, "metric": "time_per_iteration", "value": 0.05, "n": None}
    assert list(verify._verify_derived([time, steps, each])) == []
    (what,) = verify._verify_derived([time, steps, {**each, "value": 0.0501}])
    assert "time_per_iteration does not follow from solve" in what
    rate = {**each, "metric": "update_rate", "unit": "GB/s"}  # of 600 million bytes
    assert list(verify._verify_derived([time, {**rate, "value": 1.0}])) == []
    (what,) = verify._verify_derived([time, {**rate, "value": 1.0 + 0.4e-9 / 0.6}])
    assert "update_rate does not follow from solve" in what


def test_the_list_has_what_is_unproven_and_nothing_else(laboratory, results, monkeypatch, capsys):
    folder, page = laboratory.results, laboratory.file(f"{STEM}.md")
    monkeypatch.delenv("REPRO_COMMIT")
    assert laboratory.run("table1", "--force") in (0, 1)  # in what is no checkout
    assert wrong(results) == [f"not in {LIST}: {NO_COMMIT}"]
    assert main(["verify", "--results", str(folder)]) == 1
    assert main(["verify", "--results", str(folder), "--list"]) == 1  # the page does not say so
    assert verify.unverified(folder) == {f"bench/demo2020/{STEM}": NO_COMMIT}
    assert main(["figures", "--results", str(folder), "--format", "png"]) == 0
    assert f"\n\n**Unverified: {NO_COMMIT}.**\n\n" in page.read_text()
    capsys.readouterr()
    assert main(["verify", "--results", str(folder), "--json"]) == 0
    assert [each["kind"] for each in json.loads(capsys.readouterr().out)] == [UNPROVEN]
    monkeypatch.setenv("REPRO_COMMIT", "0" * 40)
    assert laboratory.run("table1", "--force") in (0, 1)
    assert wrong(results) == [f"in {LIST} without need"]
    (folder / LIST).write_text("file;reason\n")
    assert main(["verify", "--results", str(folder)]) == 1
    assert "--list` writes it anew" in capsys.readouterr().err
    main(["verify", "--results", str(folder), "--list"])
    assert verify.unverified(folder) == {}


def test_what_is_committed_holds():
    with committed_results() as results, glance():
        found = verify.verify(results).problems
    assert [str(each) for each in found if each.kind == WRONG] == []
    if not (CHECKOUT / ".git" / "shallow").exists():  # else a commit that got lost would go unnoticed
        assert [str(each) for each in found if "this clone has no commit" in each.what] == []


def test_what_is_listed_is_said_wherever_results_are_shown(tmp_path):
    assert verify.told(tmp_path) == ""
    for name in ("a/p/table1", "a/p/table2", "b/p/table1"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.csv").touch()
    (tmp_path / LIST).write_text("file,reason\na/p/table1,no key\nb/p/table1,no key\n")
    assert verify.told(tmp_path) == "Unverified results, 1 of a, all of b: no key."
    assert verify.told(tmp_path, {"a", "c"}) == "Unverified results, 1 of a: no key."
    assert verify.told(tmp_path, {"c"}) == ""
