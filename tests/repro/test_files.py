"""A clone has an artefact's files and not the store: its cells are read back from them, and only where they stand."""

import csv
import json
import lzma
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from repro import discovery, settings
from repro.cache import files, hashing, plan, store
from repro.cache.store import read_json
from repro.model import Cell


def as_in_a_clone(laboratory):
    shutil.rmtree(laboratory.results / "bench" / ".cells")


def contents(laboratory):
    """Every file but the pictures and the manifest's facts of the run itself."""
    found = {
        path.name: path.read_bytes() for path in laboratory.file("").iterdir()
        if path.suffix in (".csv", ".md") and "smoke" in path.name
    }  # fmt: skip
    found["samples"] = json.loads(store.content(laboratory.file("table1.smoke.samples.json")))["samples"]
    manifest = read_json(laboratory.file("table1.smoke.json"))
    for name in ("collected", "load_average", "command", "files"):
        manifest.pop(name)
    # Skipped cells are tried again.
    manifest["cells"] = [cell for cell in manifest["cells"] if cell["status"] == "done"]
    return found, manifest


@pytest.fixture
def measured(laboratory):
    laboratory.has_run("table1", "--only", "backend=host")
    as_in_a_clone(laboratory)
    return laboratory


def test_nothing_is_measured_twice_and_nothing_is_lost(laboratory, sampled, capsys):
    assert laboratory.run("table1") == 0
    before = contents(laboratory)
    as_in_a_clone(laboratory)
    capsys.readouterr()
    assert laboratory.run("table1") == 0
    said = capsys.readouterr().err
    assert " 6 as before" in said and "measured elsewhere" not in said
    assert contents(laboratory) == before
    assert len(list((laboratory.results / "bench" / ".cells" / "demo2020-table1").iterdir())) == 9


def test_what_is_measured_in_a_clone_comes_to_what_the_files_have(measured):
    before = set(measured.file("table1.smoke.csv").read_text().splitlines())
    assert measured.run("table1", "--only", "backend=cuda") == 0  # which is not there
    assert measured.run("table1", "--only", "backend=opencl") == 0
    assert before < set(measured.file("table1.smoke.csv").read_text().splitlines())
    as_in_a_clone(measured)
    why = measured.reasons()
    assert {name.rpartition("/")[2]: text for name, text in why.items()} == {
        "host": "", "opencl": "", "cuda": "skipped: no cuda device (plug one in for cuda)"
    }  # fmt: skip


def changed(manifest, name):
    part, value = {
        "code": ("code", {"fakelab/demo2020/adding.py": {"names": ["total"], "hash": "another"}}),
        "machine": ("machine", {"cores": "1000"}), "environment": ("machine", {"$OMP_NUM_THREADS": "3"}),
        "recipes": ("data", {"demo2020/numbers": "another"}),
    }[name]  # fmt: skip
    return {**manifest, "keys": [{**key, part: key[part] | value} for key in manifest["keys"]]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("code", "adding.py changed"), ("machine", "cores 1000"), ("recipes", "dataset demo2020"),
        ("environment", "$OMP_NUM_THREADS 3"),
    ],
)  # fmt: skip
def test_a_cell_of_the_files_stands_by_the_same_key_as_one_of_the_store(measured, change, words):
    stored = measured.file("table1.smoke.json")
    assert [why for name, why in measured.reasons().items() if name.endswith("host")] == ["", "", ""]
    stored.write_text(json.dumps(changed(read_json(stored), change)))
    found = [why for name, why in measured.reasons().items() if name.endswith("host")]
    assert len(found) == 3 and all(words in why for why in found)


def test_every_variable_that_a_key_has_is_in_the_files(laboratory, monkeypatch):
    for name in hashing.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("CC", "CUDA_VISIBLE_DEVICES", "NUMBA_NUM_THREADS", "POCL_AFFINITY"):
        monkeypatch.setenv(name, "1")
    plan.machine_facts.cache_clear()
    assert laboratory.run("table1", "--only", "backend=host") == 0
    manifest = read_json(laboratory.file("table1.smoke.json"))
    assert hashing.machine_facts(manifest["machine"], manifest["environment"]) == plan.machine_facts()
    assert plan.machine_facts()["$CC"] == "1"
    plan.machine_facts.cache_clear()


DAMAGE = {
    "empty": lambda content: b"",
    "no text": lambda content: b"\0\1{",
    "of another kind": lambda content: lzma.compress(b"[]"),
    "cut": lambda content: content[:-40],
    "in the middle": lambda content: content[: len(content) // 2] + bytes(9) + content[len(content) // 2 + 9 :],
    "huge": lambda content: content + b",".join([b"x" * 200_000] * 17),
    "deep": lambda content: b"[" * 200_000,
}


@pytest.mark.parametrize("name", ["table1.smoke.json", "table1.smoke.csv", "table1.smoke.samples.json.xz"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_files_that_are_damaged_give_no_cells(measured, name, damage):
    path = measured.file(name)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert set(measured.reasons().values()) == {"never run"}


def test_rows_that_were_edited_by_hand_give_no_cells(measured):
    path = measured.file("table1.smoke.csv")
    text = path.read_text()
    path.write_text(text.replace(",sum,", ",mus,"))
    assert path.read_text() != text and set(measured.reasons().values()) == {"never run"}


@pytest.mark.parametrize(
    "edit",
    [
        {"scale": "paper"}, {"devices": None}, {"devices": [{}]}, {"overrides": None}, {"keys": [3]},
        {"keys": None}, {"data": None}, {"keys": [{"code": []}]}, {"cells": 7}, {"cells": [None]},
    ],
    ids=str,
)  # fmt: skip
def test_manifests_that_are_none_of_ours_give_no_cells(measured, edit):
    stored = measured.file("table1.smoke.json")
    stored.write_text(json.dumps(read_json(stored) | edit))
    assert set(measured.reasons().values()) == {"never run"}


@pytest.mark.parametrize(
    "edit",
    [
        {"status": "odd"}, {"notes": None}, {"checks": 7}, {"seconds": "long"}, {"date": "x"}, {"date": 5},
        {"parameters": None}, {"data": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_a_cell_without_what_a_record_needs_is_measured_again(measured, edit):
    stored = measured.file("table1.smoke.json")
    manifest = read_json(stored)
    manifest["cells"][0] |= edit
    stored.write_text(json.dumps(manifest))
    assert measured.reasons()["first/loop/host"] == "never run"
    assert measured.run("table1", "--only", "backend=host") == 0


def test_samples_that_unpack_to_gigabytes_are_not_unpacked(measured, monkeypatch):
    manifest = read_json(measured.file("table1.smoke.json"))
    monkeypatch.setattr(store, "MOST_BYTES", 100)
    found = files.Files(measured.file("table1.smoke"), "smoke")
    assert found.record("demo2020-table1", manifest["cells"][0]) is None


def test_cells_that_the_rows_do_not_tell_apart_are_not_taken(measured):
    stored = measured.file("table1.smoke.json")
    manifest = read_json(stored)
    manifest["cells"].append({**manifest["cells"][0], "parameters": {"stride": 2}})
    stored.write_text(json.dumps(manifest))
    found = {name: why for name, why in measured.reasons().items() if name.endswith("host")}
    assert found == {"first/loop/host": "never run", "second/loop/host": "", "third/loop/host": ""}


def test_a_record_that_no_longer_stands_hides_none_of_the_files(laboratory):
    """As after a change of branches: the store has cells by other sources, git those by the present ones."""
    laboratory.has_run("table1")
    for path in laboratory.cell_files():
        record = json.loads(path.read_text())
        record["key"]["seed"] = 17
        path.write_text(json.dumps(record))
    assert {why for name, why in laboratory.reasons().items() if "cuda" not in name} == {""}
    before = rows_of(laboratory)
    assert laboratory.run("table1", "--only", "case=first", "--only", "method=loop") == 0
    assert rows_of(laboratory) == before


def test_of_several_files_that_show_a_cell_the_best_record_is_taken(laboratory):
    class Stub:
        def __init__(self, status, finished, seed=0):
            self.found = {"status": status, "finished": finished, "key": {"seed": seed, "machine": {}}}

        def record(self, artefact, identity):
            return self.found

    done, later, skipped, stale = Stub("done", 1), Stub("done", 2), Stub("skipped", 3), Stub("done", 4, seed=17)
    for given, expected in (
        ([later, done], later), ([skipped, done], done), ([done, stale], done), ([skipped, stale], stale),
        ([stale], stale),
    ):  # fmt: skip
        task = plan.Task(SimpleNamespace(id="a"), Cell("c", "m"), laboratory.folder / "none", {"seed": 0}, files=given)
        task.look(store.Store(laboratory.results, "bench"))
        assert task.record is expected.found and task.is_read_back


def rows_of(laboratory):
    return {line for line in laboratory.file("table1.smoke.csv").read_text().splitlines() if ",cuda," not in line}


def test_artefacts_that_show_the_same_cells_have_them_of_one_another(laboratory, capsys):
    (laboratory.paper / "table3_again.py").write_text(
        '"""The sums again."""\nfrom fakelab.demo2020.table1_sums import cells, measure, plot, tables\n'
    )
    assert laboratory.run("table1") == 0
    as_in_a_clone(laboratory)
    capsys.readouterr()
    assert laboratory.run("table3") == 0 and "0 cells measured, 6 as before" in capsys.readouterr().err


def test_every_cell_of_the_stored_results_is_read_back():
    found = 0
    for path in sorted(Path(__file__).parents[2].glob("results/*/*/*.json")):
        manifest = read_json(path)
        stored = files.Files(path.with_suffix(""), manifest["scale"])
        for cell in manifest["cells"]:
            record = stored.record(manifest["artefact"], cell)
            assert record and record["status"] == cell["status"], (path, cell["case"], cell["method"])
            found += 1
    assert found > 1000


def test_own_files_of_one_name_in_several_folders_stand_apart(laboratory):
    """Also those whose names differ only in what a name of results cannot have, and one that is named as a scale."""
    numbers = {"one/mesh.txt": "1 2", "two/mesh.txt": "3 4", "two/mesh-txt": "5 6", "two/small": "7 8"}
    for name, text in numbers.items():
        own = laboratory.folder / name
        own.parent.mkdir(exist_ok=True)
        own.write_text(text)
        assert laboratory.run("table1", "--mesh", f"demo2020/numbers={own}") == 0
    sums = []
    for path in laboratory.file("").glob("table1.smoke.*.csv"):
        with path.open(newline="") as stream:
            sums += {row["value"] for row in csv.DictReader(stream) if row["metric"] == "sum"}
    assert sorted(sums) == ["11.0", "15.0", "3.0", "7.0"]
    assert not laboratory.file("table1.smoke.small.csv").exists()


def test_one_file_in_the_place_of_either_of_two_datasets_stands_apart(laboratory):
    (artefact,) = discovery.select(["table1"])
    made = settings.make_settings("smoke", laboratory.results, "bench")
    own = laboratory.folder / "b"
    own.write_text("1 2")
    stems = {
        files.files_stem(artefact, replace(made, overrides={name: str(own)}), ("a/x", "a/y")) for name in ("a/x", "a/y")
    }
    assert len(stems) == 2
