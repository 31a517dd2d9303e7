"""Cells of the processor are of one share of a host's cores in a folder: a run with another leaves them out."""

import json
import os
import re
from types import SimpleNamespace

import pytest

from repro import machine
from repro.cache import hosts, plan
from repro.cache.store import Store, read_json
from repro.model import Cell
from repro.run import shares

CORES = machine.cores()
WORDS = f"{CORES} core{'s' * (CORES > 1)}"
MORE = CORES + 48


@pytest.fixture
def be(laboratory, monkeypatch):
    """Be another host of a kind with a GPU, with so many cores of which a run may use as many as this one."""
    facts = machine.fingerprint()

    def become(host, every=CORES):
        monkeypatch.setattr(machine, "identity", lambda: host)
        monkeypatch.setattr(machine, "fingerprint", lambda: {**facts, "gpu": ["A card"], "driver": "5.1"})
        monkeypatch.setattr(os, "cpu_count", lambda: every)
        plan.machine_facts.cache_clear()

    yield become
    plan.machine_facts.cache_clear()


def stored(laboratory):
    return {path: path.read_bytes() for path in laboratory.cell_files() if "-cuda-" not in path.name}


def lines(laboratory):
    return {line for line in laboratory.file("table1.smoke.csv").read_text().splitlines() if ",cuda," not in line}


def manifest(laboratory):
    return read_json(laboratory.file("table1.smoke.json"))


def told(laboratory, name):
    return [host.get(name) for host in hosts.read(laboratory.results / "bench")]


def test_a_host_tells_how_many_cores_it_has_where_a_run_may_use_fewer(be):
    be("whole")
    assert "cores_of_host" not in hosts.here() and hosts.share(hosts.here()) == WORDS
    be("bound", MORE)
    assert hosts.here()["cores_of_host"] == MORE and hosts.share(hosts.here()) == f"{CORES} of {MORE} cores"
    assert hosts.share({"cores": 1}) == "1 core" and hosts.share({"cores": 1, "cores_of_host": 2}) == "1 of 2 cores"


def test_a_run_that_is_bound_goes_on_without_the_processor_beside_hosts_that_were_not(be, laboratory, capsys):
    be("first")
    assert laboratory.run("table1", "--only", "case=first") == 0
    assert "left out" not in capsys.readouterr().err
    folder, before, rows = laboratory.results / "bench", stored(laboratory), lines(laboratory)
    be("bound", MORE)
    why = f"this run may use {CORES} of {MORE} cores, and the host that began {folder} had {WORDS}"
    for options in (["--dry-run"], [], ["--force"], ["--rounds", "2"]):
        assert laboratory.run("table1", "--continue", *options) == 0
        said = capsys.readouterr().err
        assert said.count(f"6 cells of the processor are left out: {why}\n") == 1
        assert stored(laboratory) == before and rows <= lines(laboratory)
    assert "0 cells measured, 0 as before, 3 skipped" in said  # cells of CUDA, which is not there
    assert told(laboratory, "cores_of_host") == [None, MORE] and "cores_of_host" not in manifest(laboratory)["machine"]
    written = laboratory.file("table1.smoke.json").stat().st_mtime_ns
    assert laboratory.run("table1", "--continue", "--only", "backend=host") == 0
    assert "3 cells of the processor are left out" in capsys.readouterr().err and stored(laboratory) == before
    assert laboratory.file("table1.smoke.json").stat().st_mtime_ns == written
    be("another bound one", MORE)  # that one was here before makes it no better
    assert laboratory.run("table1", "--continue") == 0 and stored(laboratory) == before
    capsys.readouterr()
    be("as the first")
    assert laboratory.run("table1", "--continue") == 0
    assert "left out" not in (said := capsys.readouterr().err) and "4 cells measured" in said


def test_a_run_that_is_bound_measures_all_in_a_folder_of_its_own_and_says_so(be, laboratory, capsys):
    be("first", MORE)
    for options in (["--only", "case=first"], ["--continue", "--only", "case=second"]):
        assert laboratory.run("table1", *options) == 0
        assert "2 cells measured" in (said := capsys.readouterr().err) and "left out" not in said
    assert manifest(laboratory)["machine"]["cores_of_host"] == MORE
    assert not any("cores_of_host" in key["machine"] for key in manifest(laboratory)["keys"])
    (line,) = re.findall("^- machine: .*", laboratory.file("table1.smoke.md").read_text(), re.M)
    assert line.endswith(f"), {CORES} of {MORE} cores")
    before = stored(laboratory)
    for host, every in (("whole", CORES), ("of more", 2 * MORE)):
        be(host, every)
        assert laboratory.run("table1", "--continue") == 0
        assert f"had {CORES} of {MORE} cores\n" in capsys.readouterr().err and stored(laboratory) == before
    assert manifest(laboratory)["machine"]["cores_of_host"] == MORE  # of the host that measured its rows
    be("bound alike", MORE)
    assert laboratory.run("table1", "--continue") == 0
    assert "2 cells measured" in (said := capsys.readouterr().err) and "left out" not in said


def test_a_folder_tells_the_share_that_its_only_host_had_last(be, tmp_path):
    store = Store(tmp_path, "bench")
    for every in (CORES, MORE):
        be("first", every)
        assert hosts.other_share(store.folder, hosts.began(store.folder)) == ""
        hosts.claim(store)
    assert [host.get("cores_of_host") for host in hosts.read(store.folder)] == [MORE]
    be("second", MORE)
    hosts.claim(store, continuing=True)
    be("first")
    hosts.claim(store, continuing=True)
    assert [host.get("cores_of_host") for host in hosts.read(store.folder)] == [MORE, MORE]


def test_the_first_host_that_measures_a_processor_decides_the_share_of_its_rows(be, laboratory, capsys):
    be("of the card", MORE)
    assert laboratory.run("table1", "--only", "backend=cuda") == 0
    assert manifest(laboratory)["machine"]["cores_of_host"] == MORE
    be("whole")
    assert laboratory.run("table1", "--continue", "--dry-run") == 0 and told(laboratory, "host") == ["of the card"]
    assert laboratory.run("table1", "--continue", "--only", "backend=cuda", "--force") == 0
    assert told(laboratory, "processor") == [None, None]
    assert laboratory.run("table1", "--continue") == 0
    assert "left out" not in (said := capsys.readouterr().err) and "6 cells measured" in said
    assert told(laboratory, "processor") == [None, True] and told(laboratory, "cores_of_host") == [MORE, None]
    assert "cores_of_host" not in manifest(laboratory)["machine"]
    assert f" of {MORE} cores" not in laboratory.file("table1.smoke.md").read_text()
    folder, before = laboratory.results / "bench", stored(laboratory)
    for host in ("of the card", "another bound one"):
        be(host, MORE)
        assert laboratory.run("table1", "--continue", "--force") == 0 and stored(laboratory) == before
        why = f"this run may use {CORES} of {MORE} cores, and the host that measured the processor of {folder} had"
        assert f"6 cells of the processor are left out: {why} {WORDS}\n" in capsys.readouterr().err
    be("as whole")
    assert laboratory.run("table1", "--continue", "--force") == 0
    assert "left out" not in (said := capsys.readouterr().err) and "6 cells measured" in said
    assert told(laboratory, "processor") == [None, True, None, None]


def test_cells_of_a_card_that_use_cores_go_by_the_host_that_began(be, laboratory):
    be("of the card", MORE)
    assert laboratory.run("table1", "--only", "backend=cuda") == 0
    be("whole")
    cells = [Cell("a", "b", "cuda"), Cell("a", "b", "cuda", uses=("cores",)), Cell("a", "b", "host")]
    job = SimpleNamespace(wanted=[SimpleNamespace(path=number, cell=cell) for number, cell in enumerate(cells)])
    settings = SimpleNamespace(store=Store(laboratory.results, "bench"))
    why = f"the host that began {settings.store.folder} had {CORES} of {MORE} cores"
    skipped = {"cells": [{"backend": "host", "status": "skipped"}]}  # which measured no processor
    (settings.store.folder / "demo2020" / "table2.json").write_text(json.dumps(skipped))
    assert shares.leave_out([job], settings).startswith("1 cell of the processor is left out: this run")
    assert shares.leave_out([job], settings) == "" and [task.path for task in job.wanted] == [0, 2]
    job.wanted.append(SimpleNamespace(path=1, cell=cells[1]))
    assert shares.leave_out([job], settings).endswith(why)


@pytest.mark.parametrize("is_gpu", [True, False])
def test_opencl_is_of_the_processor_where_its_device_is_none_of_the_gpus(be, laboratory, is_gpu):
    source = laboratory.folder / "fakelab" / "environment.py"
    source.write_text(source.read_text().replace('"opencl", False', f'"opencl", {is_gpu}'))
    be("first")
    assert laboratory.run("table1", "--only", "case=first") == 0
    be("bound", MORE)
    cells = {backend: Cell("a", "b", backend) for backend in ("cuda", "opencl", "openmp", "host")}
    cells["with cores"] = Cell("a", "b", "cuda", uses=("cores",))
    job = SimpleNamespace(wanted=[SimpleNamespace(path=name, cell=cell) for name, cell in cells.items()])
    settings = SimpleNamespace(store=Store(laboratory.results, "bench"))
    assert shares.leave_out([job], settings).startswith(f"{3 + (not is_gpu)} cells of the processor are left out: ")
    assert [task.path for task in job.wanted] == ["cuda"] + ["opencl"] * is_gpu


def test_where_opencl_does_not_answer_it_is_of_the_processor(be, laboratory):
    source = laboratory.folder / "fakelab" / "environment.py"
    source.write_text(source.read_text().replace('if backend == "opencl"', "if os._exit(3)"))
    be("first")
    assert not shares._opencl_is_on_gpu()
