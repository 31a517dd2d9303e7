"""A merge mixes no machines unless it is told to, and names files as the machine does that measured."""

import json
import shutil

import pytest

from repro.cache.store import read_json
from repro.cli import main


@pytest.fixture
def elsewhere(laboratory, capsys):
    """Two folders of the same cells, of which those elsewhere are the later."""
    folder = laboratory.folder / "elsewhere"
    for results in (laboratory.results, folder):
        assert laboratory.run("table1", "figure2", "--results", str(results)) == 0
    capsys.readouterr()
    return folder


def edit(folder, facts=None, chosen="*", **fields):
    """Change the facts of the machine, and other fields, of the stored cells of a table."""
    for path in (folder / "bench" / ".cells" / "demo2020-table1").glob(f"{chosen}.json"):
        record = json.loads(path.read_text())
        record["key"]["machine"] |= facts or {}
        path.write_text(json.dumps(record | fields))


def merge(laboratory, *words):
    return main(["merge", *map(str, words), "--into", str(laboratory.results)])


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


@pytest.mark.parametrize("facts", [{"cpu": "Another"}, {"gpu": "['A GPU']"}], ids=str)
@pytest.mark.parametrize("is_clone", [False, True])
def test_results_of_another_processor_replace_none_unless_forced(laboratory, elsewhere, capsys, facts, is_clone):
    edit(elsewhere, facts)
    if is_clone:
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    before = contents(laboratory.results)
    assert merge(laboratory, elsewhere) == 1
    said = capsys.readouterr().err
    ((name, value),) = facts.items()
    assert f"demo2020-table1 would have cells of unlike machines: {name}" in said and value in said
    assert "figure2" not in said and "nothing is merged" in said and said.count("\n") == 1
    assert contents(laboratory.results) == before
    assert merge(laboratory, elsewhere, "--force") == 0
    said = capsys.readouterr().err
    assert "unlike machines" in said and "nothing is merged" not in said and "10 cells taken" in said
    machine = read_json(laboratory.file("table1.smoke.json"))["machine"]
    assert value in (machine[name], str(machine[name]))


def test_other_cores_and_versions_are_no_other_machine(laboratory, elsewhere):
    edit(elsewhere, {"cores": "96", "packages.numpy": "9.9"})
    assert merge(laboratory, elsewhere) == 0
    assert read_json(laboratory.file("table1.smoke.json"))["machine"]["cores"] == 96


def test_what_is_not_taken_or_gives_way_is_of_any_machine(laboratory, elsewhere):
    edit(elsewhere, {"cpu": "Another"}, finished=1.0)
    assert merge(laboratory, elsewhere) == 0
    edit(elsewhere, status="failed", finished=1e12)
    assert merge(laboratory, elsewhere) == 0
    edit(laboratory.results, status="failed")
    shutil.rmtree(laboratory.file(""))
    edit(elsewhere, status="done")
    assert merge(laboratory, elsewhere) == 0
    assert read_json(laboratory.file("table1.smoke.json"))["machine"]["cpu"] == "Another"


@pytest.mark.parametrize("is_clone", [False, True])
def test_cells_of_another_processor_come_to_none_that_stay(laboratory, elsewhere, capsys, is_clone):
    """None of them is replaced, but the artefact would have those of both."""
    kept = laboratory.folder / "kept"
    shutil.copytree(elsewhere, kept)
    for path in (elsewhere / "bench" / ".cells" / "demo2020-table1").glob("*second*.json"):
        path.unlink()
    shutil.rmtree(laboratory.results)
    assert merge(laboratory, elsewhere) == 0
    edit(kept, {"cpu": "Another"}, "*second*")
    edit(kept, chosen="*first*", finished=1.0)
    edit(kept, chosen="*third*", finished=1.0)
    if is_clone:
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    before = contents(laboratory.results)
    assert merge(laboratory, kept) == 1
    assert "unlike machines: cpu" in capsys.readouterr().err and contents(laboratory.results) == before


def test_folders_of_two_processors_are_not_merged(laboratory, elsewhere, capsys):
    edit(elsewhere, {"cpu": "Another"})
    into = laboratory.folder / "into"
    assert main(["merge", str(laboratory.results), str(elsewhere), "--into", str(into)]) == 1
    assert "unlike machines: cpu" in capsys.readouterr().err and not into.exists()


@pytest.mark.parametrize("is_on_gpu", [False, True])
def test_files_are_named_by_the_usual_scale_of_the_machine_that_measured(laboratory, capsys, is_on_gpu):
    """Which is 'paper' with a GPU and 'small' without, whatever machine merges; so are those that are looked into."""
    folder = laboratory.folder / "elsewhere"
    for scale in ("small", "paper"):
        assert laboratory.run("table1", "--results", str(folder), "--scale", scale) == 0
    edit(folder, {"gpu": "['A GPU']"} if is_on_gpu else {})
    named = {"table1": "paper", "table1.small": "small"} if is_on_gpu else {"table1": "small", "table1.paper": "paper"}
    assert merge(laboratory, folder) == 0
    found = {path.name: json.loads(path.read_text())["scale"] for path in laboratory.file("").glob("table1*.json")}
    assert found == {f"{name}.json": scale for name, scale in named.items()}
    shutil.rmtree(laboratory.results / "bench" / ".cells")  # as in a clone
    before = {name: laboratory.file(f"{name}.csv").read_bytes() for name in named}
    edit(folder, status="failed")
    assert merge(laboratory, folder) == 0 and "0 cells taken, 18 as good" in capsys.readouterr().err
    assert {name: laboratory.file(f"{name}.csv").read_bytes() for name in named} == before
