"""A run divided into shards, which two results folders take, and merged again: the same as in one go."""

import csv
import dataclasses
import json
import shutil
import subprocess

import pytest

from repro.cache import merge as merging
from repro.cache.store import SCHEMA, read_json
from repro.cli import main
from repro.run import runner

KEPT = ("case", "method", "status")  # of times, which differ


def rows(path):
    with path.open(newline="") as stream:
        return [
            {name: value for name, value in row.items() if row["metric"] != "time" or name in KEPT}
            for row in csv.DictReader(stream)
        ]


@pytest.fixture
def repro(laboratory, capsys, monkeypatch):
    """Runs repro in this process, for speed."""
    monkeypatch.chdir(laboratory.folder)

    def call(*words):
        capsys.readouterr()
        code = main([*words, *(["--in-process"] if words[0] == "run" else [])])
        return subprocess.CompletedProcess(words, code, *capsys.readouterr())

    laboratory.repro = call
    return call


def run_shard(laboratory, number):
    folder = laboratory.folder / f"shard-{number}"
    words = ("run", "table1", "--scale", "smoke", "--shard", f"{number}/2", "--results", str(folder))
    done = laboratory.repro(*words)
    assert done.returncode == 0, done.stderr
    return folder


def test_shards_in_two_folders_merge_to_what_one_run_finds(laboratory, repro, sampled):
    folders = [str(run_shard(laboratory, number)) for number in (1, 2)]
    assert len(laboratory.traces()) == 6
    done = laboratory.repro("merge", *folders, "--into", str(laboratory.results))
    assert done.returncode == 0, done.stderr
    assert "9 cells taken, 0 as good or better in place" in done.stderr
    merged = rows(laboratory.file("table1.smoke.csv"))
    markdown = laboratory.file("table1.smoke.md").read_text()

    whole = laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(laboratory.results))
    assert whole.returncode == 0 and "0 cells measured, 6 as before" in whole.stderr  # the merged cells stand
    assert rows(laboratory.file("table1.smoke.csv")) == merged and len(merged) == 15
    assert "never run" not in markdown

    again = laboratory.repro("merge", *folders, "--into", str(laboratory.results))
    assert "0 cells taken, 9 as good or better in place" in again.stderr


def test_what_is_measured_goes_before_what_failed_and_the_newer_before_the_older(laboratory, repro):
    folders = [run_shard(laboratory, number) for number in (1, 2)]
    shutil.copytree(folders[0], laboratory.results)
    path = next((laboratory.results / "bench" / ".cells").rglob("*first-loop*"), None)
    if path is None:
        folders.reverse()
        shutil.rmtree(laboratory.results)
        shutil.copytree(folders[0], laboratory.results)
        path = next((laboratory.results / "bench" / ".cells").rglob("*first-loop*"))
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "status": "failed", "finished": record["finished"] + 1000}))
    assert laboratory.repro("merge", str(folders[0]), "--into", str(laboratory.results)).returncode == 0
    assert json.loads(path.read_text())["status"] == "done"
    path.write_text(json.dumps({**record, "seconds": 17.0, "finished": record["finished"] - 1000}))
    laboratory.repro("merge", str(folders[0]), "--into", str(laboratory.results))
    assert json.loads(path.read_text())["seconds"] != 17.0
    path.write_text(json.dumps({**record, "seconds": 17.0, "finished": record["finished"] + 1000}))
    laboratory.repro("merge", str(folders[0]), "--into", str(laboratory.results))
    assert json.loads(path.read_text())["seconds"] == 17.0


def test_damaged_cells_are_left_out_and_named(laboratory, repro):
    folder = run_shard(laboratory, 1)
    broken, older, part = sorted((folder / "bench" / ".cells" / "demo2020-table1").glob("*.json"))[:3]
    broken.write_text("{")
    part.write_text(json.dumps({name: each for name, each in json.loads(part.read_text()).items() if name != "scale"}))
    older.write_text(json.dumps({**json.loads(older.read_text()), "schema": SCHEMA - 1}))
    done = laboratory.repro("merge", str(folder), "--into", str(laboratory.results))
    assert done.returncode == 1
    assert f"{part}: its file is damaged (no scale); left out" in done.stderr
    assert f"{broken}: its file is damaged" in done.stderr and "is of the first edition" in done.stderr
    assert laboratory.file("table1.smoke.csv").exists()


def test_cells_of_unlike_machines_are_named(laboratory, repro):
    folders = [run_shard(laboratory, number) for number in (1, 2)]
    for path in (folders[1] / "bench" / ".cells").rglob("[!.]*.json"):
        record = json.loads(path.read_text())
        record["key"]["machine"]["cpu"] = "Another processor"
        path.write_text(json.dumps(record))
    done = laboratory.repro("merge", *map(str, folders), "--into", str(laboratory.results))
    assert (
        done.returncode == 1 and "cells of unlike machines: cpu" in done.stderr and "Another processor" in done.stderr
    )


def test_a_merge_says_what_it_replaces(laboratory, repro):
    folder = run_shard(laboratory, 1)
    assert laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(laboratory.results)).returncode == 0
    assert "are replaced" not in laboratory.repro("merge", str(folder), "--into", str(laboratory.results)).stderr
    stored = laboratory.file("table1.smoke.json")
    manifest = read_json(stored)
    for cell in manifest["cells"]:  # what is later goes before what is earlier, in files as in the store
        cell["date"] = "2020-01-01T00:00:00+00:00"
    for is_alike in (True, False):  # as in a clone
        shutil.rmtree(laboratory.results / "bench" / ".cells")
        machine = manifest["machine"] if is_alike else {**manifest["machine"], "cpu": "Another"}
        stored.write_text(json.dumps({**manifest, "machine": machine}))
        done = laboratory.repro("merge", str(folder), "--into", str(laboratory.results))
        assert done.returncode == 0 and ("table1.smoke.* has" in done.stderr) != is_alike
        assert ("are replaced" in done.stderr) != is_alike
        cells = read_json(stored)["cells"]
        assert (len(cells) == len(manifest["cells"])) == is_alike


@pytest.mark.parametrize("worse", ["failed", "skipped", "older"])
@pytest.mark.parametrize("is_clone", [False, True])
def test_a_merge_replaces_no_cell_by_a_worse_one(laboratory, repro, worse, is_clone):
    elsewhere = laboratory.folder / "elsewhere"
    for folder in (elsewhere, laboratory.results):
        assert laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(folder)).returncode == 0
    for path in (elsewhere / "bench" / ".cells").rglob("[!.]*.json"):
        record = json.loads(path.read_text())
        record |= {"finished": record["finished"] - 1e6} if worse == "older" else {"status": worse}
        path.write_text(json.dumps(record))
    before = laboratory.file("table1.smoke.csv").read_bytes()
    if is_clone:
        shutil.rmtree(laboratory.results / "bench" / ".cells")
    done = laboratory.repro("merge", str(elsewhere), "--into", str(laboratory.results))
    assert done.returncode == 0, done.stderr
    assert laboratory.file("table1.smoke.csv").read_bytes() == before


def test_a_merge_leaves_alone_what_it_has_no_cells_of(laboratory, repro):
    (laboratory.paper / "table3_again.py").write_text(
        '"""The sums again."""\nfrom fakelab.demo2020.table1_sums import cells, measure, plot, tables\n'
    )
    elsewhere = laboratory.folder / "elsewhere"
    for folder, names in ((laboratory.results, ("table1", "table3")), (elsewhere, ("figure2",))):
        assert laboratory.repro("run", *names, "--scale", "smoke", "--results", str(folder)).returncode == 0
    shutil.rmtree(laboratory.results / "bench" / ".cells")  # as in a clone, of results by other sources
    (laboratory.paper / "adding.py").write_text((laboratory.paper / "adding.py").read_text() + "\nSTEP = 1\n")
    before = {path: path.read_bytes() for path in laboratory.file("").iterdir()}
    done = laboratory.repro("merge", str(elsewhere), "--into", str(laboratory.results))
    assert done.returncode == 0 and "1 artefact written" in done.stderr
    assert len(before) == 10 and all(path.read_bytes() == content for path, content in before.items())


def test_artefacts_that_cannot_be_made_up_are_named_where_they_have_cells(laboratory, repro, monkeypatch):
    folder = laboratory.folder / "elsewhere"
    assert laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(folder)).returncode == 0
    made = runner.make_jobs
    refused = {"demo2020-table1": "table1 has no such scale", "demo2020-figure2": "figure2 has no such scale"}

    def jobs(*given):
        return [dataclasses.replace(job, problem=refused.get(job.artefact.id, job.problem)) for job in made(*given)]

    monkeypatch.setattr(runner, "make_jobs", jobs)
    done = laboratory.repro("merge", str(folder), "--into", str(laboratory.results))
    assert done.returncode == 1 and "table1 has no such scale" in done.stderr and "figure2" not in done.stderr


def test_what_is_merged_elsewhere_names_the_machine_that_measured(laboratory, repro):
    folders = [run_shard(laboratory, number) for number in (1, 2)]
    for folder in folders:
        for path in (folder / "bench" / ".cells").rglob("[!.]*.json"):
            record = json.loads(path.read_text())
            facts = {"cpu": "Another processor", "cores": "96", "gpu": "['A GPU']", "$OMP_NUM_THREADS": "7"}
            record["key"]["machine"] |= facts
            path.write_text(json.dumps(record))
    assert laboratory.repro("merge", *map(str, folders), "--into", str(laboratory.results)).returncode == 0
    manifest = read_json(laboratory.file("table1.smoke.json"))
    assert manifest["machine"] | {"cpu": "Another processor", "cores": 96, "gpu": ["A GPU"]} == manifest["machine"]
    assert manifest["environment"]["OMP_NUM_THREADS"] == "7" and manifest["nvidia"] is None
    assert {cell["status"] for cell in manifest["cells"]} == {"done", "skipped"}


def test_artefacts_of_unlike_machines_each_stand_by_their_own(laboratory, repro):
    folder = laboratory.folder / "elsewhere"
    assert laboratory.repro("run", "table1", "figure2", "--scale", "smoke", "--results", str(folder)).returncode == 0
    for artefact, card in (("demo2020-figure2", "0"), ("demo2020-table1", "1")):
        for path in (folder / "bench" / ".cells" / artefact).glob("[!.]*.json"):
            record = json.loads(path.read_text())
            record["key"]["machine"]["$CUDA_VISIBLE_DEVICES"] = card
            path.write_text(json.dumps(record))
    done = laboratory.repro("merge", str(folder), "--into", str(laboratory.results))
    assert done.returncode == 0 and "unlike" not in done.stderr
    shown, measured = (rows(at / "bench/demo2020/table1.smoke.csv") for at in (laboratory.results, folder))
    assert shown == measured and any(row["status"] == "done" for row in shown)


def test_what_ran_on_a_gpu_merges_whatever_its_cores(laboratory, repro):
    """And tells the cores of what ran on the processor, if only what a clone has of it does."""
    folder = laboratory.folder / "elsewhere"
    assert laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(folder)).returncode == 0
    paths = list((folder / "bench" / ".cells" / "demo2020-table1").glob("[!.]*.json"))
    records = {path: json.loads(path.read_text()) for path in paths}
    is_kernel = {path: record["identity"]["backend"] == "opencl" for path, record in records.items()}
    card = {row["device"] for path in paths if is_kernel[path] for row in records[path]["rows"] if row["device"]}
    for path, record in records.items():
        is_timed_there = record["identity"]["backend"] == "host" and record["status"] == "done"
        record["key"]["machine"] |= {"gpu": repr(sorted(card)), "cores": "40" if is_timed_there else "5"}
        path.write_text(json.dumps(record))
    merging = ("merge", str(folder), "--into", str(laboratory.results))
    for _ in range(2):
        done = laboratory.repro(*merging)
        assert done.returncode == 0 and "unlike" not in done.stderr and "replaced" not in done.stderr
        manifest = read_json(laboratory.file("table1.smoke.json"))
        assert manifest["machine"]["cores"] == 40
        assert {cell["backend"] for cell in manifest["cells"] if cell["status"] == "done"} == {"host", "opencl"}
        shutil.rmtree(laboratory.results / "bench" / ".cells")  # as in a clone, and of the kernels alone
        for path in paths:
            if path.exists() and not is_kernel[path]:
                path.unlink()


def test_what_is_merged_goes_before_what_a_clone_has_of_its_own_machine(laboratory, repro):
    folder = laboratory.folder / "elsewhere"
    for results in (laboratory.results, folder):
        assert laboratory.repro("run", "table1", "--scale", "smoke", "--results", str(results)).returncode == 0
    shutil.rmtree(laboratory.results / "bench" / ".cells")  # as in a clone
    for path in (folder / "bench" / ".cells").rglob("[!.]*.json"):
        record = json.loads(path.read_text())
        record["key"]["machine"]["cores"] = "40"
        path.write_text(json.dumps(record))
    done = laboratory.repro("merge", str(folder), "--into", str(laboratory.results))
    assert done.returncode == 0 and "taken, 0 as good" in done.stderr
    shown, measured = (rows(at / "bench/demo2020/table1.smoke.csv") for at in (laboratory.results, folder))
    assert shown == measured
    assert read_json(laboratory.file("table1.smoke.json"))["machine"]["cores"] == 40


def test_cells_keep_the_name_of_their_machine(laboratory, tmp_path, monkeypatch):
    """Of which there is one: a merge on a laptop, or on fewer cores, names none anew."""
    folder = run_shard(laboratory, 1)
    monkeypatch.delenv("REPRO_MACHINE")
    assert main(["merge", str(folder), "--into", str(tmp_path / "into")]) == 0
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["bench"]
    (tmp_path / "two" / "h200" / ".cells").mkdir(parents=True)
    assert merging.only_machine([folder, tmp_path / "two"]) is None
    monkeypatch.setenv("REPRO_MACHINE", "mine")
    assert main(["merge", str(folder), "--into", str(tmp_path / "named")]) == 0
    assert [path.name for path in (tmp_path / "named").iterdir()] == ["mine"]


def test_what_cannot_be_merged_is_named_before_anything_is_taken(laboratory, repro):
    folder = run_shard(laboratory, 1)
    (laboratory.folder / "empty").mkdir()
    for other, said in (("nowhere", "there is no folder of results nowhere"), ("empty", "with cells in it")):
        done = repro("merge", str(folder), other, "--into", str(laboratory.results))
        assert done.returncode == 1 and said in done.stderr and not laboratory.results.exists()


def test_what_is_damaged_in_place_is_taken_again_and_ceilings_go_along(laboratory, repro):
    folder = run_shard(laboratory, 1)
    merged = ("merge", str(folder), "--into", str(laboratory.results))
    assert repro(*merged).returncode == 0
    path = sorted((laboratory.results / "bench" / ".cells").rglob("[!.]*.json"))[0]
    path.write_text("{")
    ours, theirs = (where / "bench" / "ceilings.json" for where in (laboratory.results, folder))
    some = {"gpu": False, "backend": "openmp", "ceilings": {"device": "a", "bandwidths": {}, "cold": {}, "rates": {}}}
    ours.write_text(json.dumps({name: {**some, "measured": 2, "from": "ours"} for name in "ab"}))
    newer = {name: {**some, "measured": when, "from": "theirs"} for name, when in (("a", 1), ("b", 3), ("c", 1))}
    theirs.write_text(json.dumps(newer))
    assert "1 cell taken" in repro(*merged).stderr and json.loads(path.read_text())["schema"] == SCHEMA
    found = {name: entry["from"] for name, entry in json.loads(ours.read_text()).items()}
    assert found == {"a": "ours", "b": "theirs", "c": "theirs"}


def test_a_folder_of_several_machines_is_asked_for_one(laboratory, repro):
    folder = run_shard(laboratory, 1)
    shutil.copytree(folder / "bench", folder / "other")
    shutil.move(folder / "bench", folder / "another")
    merged = ("merge", str(folder), "--into", str(laboratory.results))
    done = repro(*merged)
    assert done.returncode == 1 and "has the machines another, other, none of them bench" in done.stderr
    assert repro(*merged, "--machine", "other").returncode == 0
    assert (laboratory.results / "other" / ".cells").is_dir() and not (laboratory.results / "another").exists()
