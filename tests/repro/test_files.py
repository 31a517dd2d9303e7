"""A clone has an artefact's files and not the store: its cells are read back from them, and only where they stand."""

import gzip
import json
import shutil

import pytest


def as_in_a_clone(laboratory):
    shutil.rmtree(laboratory.results / "bench" / ".cells")


def contents(laboratory):
    """Every file but the pictures and the manifest's facts of the run itself."""
    found = {
        path.name: path.read_bytes() for path in laboratory.file("").iterdir()
        if path.suffix in (".csv", ".gz", ".md") and "smoke" in path.name
    }  # fmt: skip
    manifest = json.loads(laboratory.file("table1.smoke.json").read_text())
    for name in ("collected", "load_average", "command"):
        manifest.pop(name)
    # Those that were skipped are tried again.
    manifest["cells"] = [cell for cell in manifest["cells"] if cell["status"] == "done"]
    return found, manifest


@pytest.fixture
def measured(laboratory):
    assert laboratory.run("table1", "--only", "backend=host") == 0
    as_in_a_clone(laboratory)
    return laboratory


def test_nothing_is_measured_twice_and_nothing_is_lost(laboratory, capsys):
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


@pytest.mark.parametrize("change", ["sources", "machine", "seed", "recipes", "environment"])
def test_a_cell_of_the_files_stands_by_the_same_key_as_one_of_the_store(measured, change):
    stored = measured.file("table1.smoke.json")
    manifest = json.loads(stored.read_text())
    manifest[change] = {
        "sources": {**manifest["sources"], "fakelab/demo2020/adding.py": "another"},
        "machine": {**manifest["machine"], "cores": 1000},
        "seed": 17,
        "recipes": dict.fromkeys(manifest["recipes"], "another"),
        "environment": {"OMP_NUM_THREADS": "3"},
    }[change]
    assert not any("never run" not in why for name, why in measured.reasons().items() if "opencl" in name)
    host = [why for name, why in measured.reasons().items() if name.endswith("host")]
    assert host == [""] * len(host)
    stored.write_text(json.dumps(manifest))
    words = {
        "sources": "adding.py changed", "machine": "cores 1000", "seed": "seed 17", "recipes": "dataset demo2020",
        "environment": "$OMP_NUM_THREADS 3",
    }[change]  # fmt: skip
    host = [why for name, why in measured.reasons().items() if name.endswith("host")]
    assert host and all(words in why for why in host)


@pytest.mark.parametrize("name", ["table1.smoke.json", "table1.smoke.csv", "table1.smoke.samples.json.gz"])
@pytest.mark.parametrize("content", [b"", b"\0\1{", gzip.compress(b"[]"), None])
def test_files_that_are_damaged_give_no_cells(measured, name, content):
    path = measured.file(name)
    path.write_bytes(content if content is not None else path.read_bytes()[:-40])
    assert set(measured.reasons().values()) == {"never run"}


def test_cells_that_were_removed_are_measured_again(laboratory):
    assert laboratory.run("table1") == 0
    assert laboratory.repro("clean", "table1", "--yes", "--results", str(laboratory.results)).returncode == 0
    assert set(laboratory.reasons().values()) == {"never run"}
