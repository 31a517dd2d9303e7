"""Folders merged: what one run finds, nothing worse in place of better, machines not mixed, names as measured."""

import csv
import dataclasses
import json
import shutil

import pytest

from repro.cache import merge as merging
from repro.cache.store import SCHEMA, read_json
from repro.cli import main

KEPT = ("case", "method", "status")  # of times, which differ
PARTS = (("--only", "case=first"), ("--only", "case=second", "--only", "case=third"))


def rows(path):
    with path.open(newline="") as stream:
        return [
            {name: value for name, value in row.items() if row["metric"] != "time" or name in KEPT}
            for row in csv.DictReader(stream)
        ]


@pytest.fixture
def run(laboratory):
    """Measure some of the cells into a folder of their own."""

    def call(name, *words, artefacts=("table1",)):
        folder = laboratory.folder / name
        assert laboratory.run(*artefacts, "--results", str(folder), *words) == 0
        return folder

    return call


@pytest.fixture
def merge(laboratory):
    """Merge folders into the laboratory's results, and return what is said."""

    def call(*words, code=0):
        done = laboratory.call("merge", *map(str, words), "--into", str(laboratory.results))
        assert done.returncode == code, done.stderr
        return done.stderr

    return call


def edit(folder, facts=None, chosen="*", **fields):
    """Change the facts of the machine, and other fields, of stored cells."""
    for path in (folder / "bench" / ".cells").glob(f"*/{chosen}.json"):
        record = json.loads(path.read_text())
        record["key"]["machine"] |= facts or {}
        path.write_text(json.dumps(record | fields))


def say_of_host(folder, **facts):
    """Say of other hardware that it measured what a folder has."""
    path = folder / "bench" / "machine.json"
    (host,) = json.loads(path.read_text())["hosts"]
    path.write_text(json.dumps({"hosts": [{**host, "host": "another", **facts}]}))


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_parts_in_two_folders_merge_to_what_one_run_finds(laboratory, run, merge, sampled, capsys):
    folders = [run(f"part-{number}", *part) for number, part in enumerate(PARTS)]
    assert "9 cells taken, 0 as good or better in place" in merge(*folders)
    merged = rows(laboratory.file("table1.smoke.csv"))
    assert "never run" not in laboratory.file("table1.smoke.md").read_text()
    assert laboratory.run("table1") == 0 and "0 cells measured, 6 as before" in capsys.readouterr().err
    assert rows(laboratory.file("table1.smoke.csv")) == merged and len(merged) == 15
    assert "0 cells taken, 9 as good or better in place" in merge(*folders)


@pytest.mark.parametrize("worse", ["failed", "skipped", "older"])
@pytest.mark.parametrize("is_clone", [False, True])
def test_a_merge_replaces_no_cell_by_a_worse_one(laboratory, run, merge, worse, is_clone):
    elsewhere = run("elsewhere")
    edit(elsewhere, **({"finished": 1.0} if worse == "older" else {"status": worse}))
    assert laboratory.run("table1") == 0
    before = laboratory.file("table1.smoke.csv").read_bytes()
    if is_clone:
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    merge(elsewhere)
    assert laboratory.file("table1.smoke.csv").read_bytes() == before


@pytest.mark.parametrize("place", ["failed", "older", "damaged", "clone"])
def test_a_merge_takes_what_is_better_or_newer(laboratory, run, merge, place):
    assert laboratory.run("table1") == 0
    elsewhere = run("elsewhere")
    edit(elsewhere, seconds=17.0)
    path = laboratory.cell("first-loop")
    if place == "clone":
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    elif place == "damaged":
        path.write_text("{")
    else:
        edit(laboratory.results, **({"status": "failed"} if place == "failed" else {"finished": 1.0}))
    merge(elsewhere)
    assert json.loads(path.read_text())["seconds"] == 17.0
    found = read_json(laboratory.file("table1.smoke.json"))["cells"]
    assert 17.0 in [cell["seconds"] for cell in found if cell["case"] == "first"]


def test_damaged_cells_are_left_out_and_named(laboratory, run, merge):
    folder = run("part", *PARTS[1])
    broken, older, part = sorted((folder / "bench" / ".cells" / "demo2020-table1").glob("*.json"))[:3]
    broken.write_text("{")
    part.write_text(json.dumps({name: each for name, each in json.loads(part.read_text()).items() if name != "scale"}))
    older.write_text(json.dumps({**json.loads(older.read_text()), "schema": SCHEMA - 1}))
    said = merge(folder, code=1)
    assert f"{part}: its file is damaged (no scale); left out" in said
    assert f"{broken}: its file is damaged" in said and "is of the first edition" in said
    assert laboratory.file("table1.smoke.csv").exists()


@pytest.mark.parametrize("facts", [{"cpu": "Another"}, {"gpu": ["A GPU"]}], ids=str)
def test_hosts_of_other_processors_are_not_merged_unless_it_is_forced(laboratory, run, merge, facts):
    assert laboratory.run("table1") == 0
    elsewhere = run("elsewhere")
    say_of_host(elsewhere, **facts)
    before = contents(laboratory.results)
    said = merge(elsewhere, code=1)
    assert "the hosts are unlike" in said and "nothing is merged" in said and str(*facts.values()).strip("[]'") in said
    assert contents(laboratory.results) == before
    assert "9 cells taken" in merge(elsewhere, "--force")


def test_other_cores_and_versions_are_no_other_machine(laboratory, run, merge):
    elsewhere = run("elsewhere", artefacts=("table1", "figure2"))
    say_of_host(elsewhere, cores=96)
    facts = {"cores": "96", "packages.numpy": "9.9", "gpu": "['A GPU']", "$OMP_NUM_THREADS": "7"}
    edit(elsewhere, facts)
    merge(elsewhere)
    manifest = read_json(laboratory.file("table1.smoke.json"))
    assert manifest["machine"] | {"cores": 96, "gpu": ["A GPU"]} == manifest["machine"]  # not of the one that merges
    assert manifest["environment"]["OMP_NUM_THREADS"] == "7" and manifest["nvidia"] is None
    assert {cell["status"] for cell in manifest["cells"]} == {"done", "skipped"}


def test_what_a_clone_has_of_cells_that_are_merged_is_replaced_and_said(laboratory, run, merge):
    """Another processor measured the rest of what the clone has, which does not stand beside them."""
    assert laboratory.run("table1") == 0
    part = run("part", *PARTS[0])
    stored = laboratory.file("table1.smoke.json")
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    manifest = read_json(stored)
    for key in manifest["keys"]:
        key["machine"]["cpu"] = "Another"
    stored.write_text(json.dumps(manifest))
    assert "table1.smoke.* has" in (said := merge(part)) and "are replaced" in said
    assert {cell["case"] for cell in read_json(stored)["cells"] if cell["status"] == "done"} == {"first"}


def test_a_merge_leaves_alone_what_it_has_no_cells_of(laboratory, run, merge):
    """Though an artefact shows cells of one that it has cells of, or the present code has others."""
    (laboratory.paper / "table3_again.py").write_text(
        '"""The first sums."""\nfrom fakelab.demo2020 import table1_sums\n'
        "from fakelab.demo2020.table1_sums import measure, plot, tables\n\n\n"
        'def cells(scale):\n    return [cell for cell in table1_sums.cells(scale) if cell.case == "first"]\n'
    )
    assert laboratory.run("table1", "table3", "figure2") == 0
    part = run("part", *PARTS[1])
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    before = contents(laboratory.file(""))
    assert "1 artefact written" in merge(part)
    changed = {path.name for path, content in contents(laboratory.file("")).items() if before[path] != content}
    assert changed and all(name.startswith("table1") for name in changed)


def test_artefacts_that_cannot_be_made_up_are_named_where_they_have_cells(laboratory, run, merge, monkeypatch):
    folder = run("elsewhere")
    made = merging.make_jobs
    refused = {"demo2020-table1": "table1 has no such scale", "demo2020-figure2": "figure2 has no such scale"}

    def jobs(*given):
        return [dataclasses.replace(job, problem=refused.get(job.artefact.id, job.problem)) for job in made(*given)]

    monkeypatch.setattr(merging, "make_jobs", jobs)
    said = merge(folder, code=1)
    assert "table1 has no such scale" in said and "figure2" not in said


def test_cells_on_files_of_the_users_own_are_left_out_and_said(laboratory, merge, run):
    (laboratory.folder / "mine.txt").write_text("1 2")
    own = ("--mesh", f"demo2020/numbers={laboratory.folder / 'mine.txt'}")
    folder = run("part", *own, *PARTS[0])
    run("part", *PARTS[1])
    said = merge(folder)
    assert "3 at scale smoke left out" in said and "6 cells taken" in said
    assert [path.name for path in laboratory.file("").glob("*.csv")] == ["table1.smoke.csv"]


@pytest.mark.parametrize("is_on_gpu", [False, True])
def test_files_are_named_by_the_usual_scale_of_the_machine_that_measured(laboratory, run, merge, is_on_gpu):
    """Which is 'paper' with a GPU and 'small' without, whatever machine merges; so are those that are looked into."""
    folder = run("elsewhere", "--scale", "small")
    run("elsewhere", "--scale", "paper")
    edit(folder, {"gpu": "['A GPU']"} if is_on_gpu else {})
    named = {"table1": "paper", "table1.small": "small"} if is_on_gpu else {"table1": "small", "table1.paper": "paper"}
    merge(folder)
    found = {path.name: json.loads(path.read_text())["scale"] for path in laboratory.file("").glob("table1*.json")}
    assert found == {f"{name}.json": scale for name, scale in named.items()}
    shutil.rmtree(laboratory.results / "bench" / ".cells")  # as in a clone
    before = {name: laboratory.file(f"{name}.csv").read_bytes() for name in named}
    edit(folder, status="failed")
    assert "0 cells taken, 18 as good" in merge(folder)
    assert {name: laboratory.file(f"{name}.csv").read_bytes() for name in named} == before


def test_cells_keep_the_name_of_their_machine(run, tmp_path, monkeypatch):
    """Of which there is one: a merge on a laptop, or on fewer cores, names none anew."""
    folder = run("part", *PARTS[0])
    monkeypatch.delenv("REPRO_MACHINE")
    assert main(["merge", str(folder), "--into", str(tmp_path / "into")]) == 0
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["bench"]
    (tmp_path / "two" / "h200" / ".cells").mkdir(parents=True)
    assert merging.only_machine([folder, tmp_path / "two"]) is None
    monkeypatch.setenv("REPRO_MACHINE", "mine")
    assert main(["merge", str(folder), "--into", str(tmp_path / "named")]) == 0
    assert [path.name for path in (tmp_path / "named").iterdir()] == ["mine"]


def test_what_cannot_be_merged_is_named_before_anything_is_taken(laboratory, run, merge):
    folder = run("part", *PARTS[0])
    (laboratory.folder / "empty").mkdir()
    for other, told in (("nowhere", "there is no folder of results"), ("empty", "with cells in it")):
        assert told in merge(folder, laboratory.folder / other, code=1) and not laboratory.results.exists()
    shutil.copytree(folder / "bench", folder / "other")
    shutil.move(folder / "bench", folder / "another")
    assert "has the machines another, other, none of them bench" in merge(folder, code=1)
    merge(folder, "--machine", "other")
    assert (laboratory.results / "other" / ".cells").is_dir() and not (laboratory.results / "another").exists()


def test_ceilings_go_along_where_they_are_newer(laboratory, run, merge):
    folder = run("part", *PARTS[0])
    merge(folder)
    ours, theirs = (where / "bench" / "ceilings.json" for where in (laboratory.results, folder))
    some = {"gpu": False, "backend": "openmp", "ceilings": {"device": "a", "bandwidths": {}, "cold": {}, "rates": {}}}
    ours.write_text(json.dumps({name: {**some, "measured": 2, "from": "ours"} for name in "ab"}))
    newer = {name: {**some, "measured": when, "from": "theirs"} for name, when in (("a", 1), ("b", 3), ("c", 1))}
    theirs.write_text(json.dumps(newer))
    merge(folder)
    found = {name: entry["from"] for name, entry in json.loads(ours.read_text()).items()}
    assert found == {"a": "ours", "b": "theirs", "c": "theirs"}
