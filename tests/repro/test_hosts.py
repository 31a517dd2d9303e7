"""Whose results a machine's folder has: none writes into another host's, nor where nothing tells whose they are."""

import json
import shutil

import pytest

from repro import machine
from repro.cache import hosts, plan
from repro.cache.plan import Task
from repro.cache.store import Store, read_json
from repro.cli import main
from repro.model import ReproError
from repro.run import execution, runner
from repro.show.render import MEASURED_BEFORE


@pytest.fixture
def as_host(monkeypatch):
    """Be another host."""
    return lambda token: monkeypatch.setattr(machine, "identity", lambda: token)


@pytest.fixture
def plain(laboratory, monkeypatch):
    """Name no machine: it is found by what the host is."""
    monkeypatch.delenv("REPRO_MACHINE")
    monkeypatch.setattr(machine, "default_name", lambda: "bench")
    return laboratory


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


def tokens(laboratory, name="bench"):
    return [host["host"] for host in json.loads((laboratory.results / name / "machine.json").read_text())["hosts"]]


def test_the_first_run_says_whose_the_folder_is(laboratory):
    assert laboratory.run("table1") == 0
    (host,) = json.loads((laboratory.results / "bench" / "machine.json").read_text())["hosts"]
    assert host == hosts.here() and host["host"] == machine.identity() and host["cores"] == machine.cores()


def test_another_hosts_results_are_set_beside_and_said(plain, as_host, capsys):
    as_host("first")
    assert plain.run("table1") == 0
    assert "results go to" not in capsys.readouterr().err
    before = contents(plain.results)
    for token, name in (("second", "bench-2"), ("third", "bench-3")):
        as_host(token)
        assert plain.run("figure2") == 0
        line = f"results go to {plain.results / name}: {plain.results / 'bench'} has another host's results\n"
        assert line in capsys.readouterr().err
        assert tokens(plain, name) == [token] and (plain.results / name / "demo2020" / "figure2.smoke.md").exists()
    assert {path: content for path, content in contents(plain.results).items() if path in before} == before
    as_host("first")
    assert plain.run("table1") == 0 and "0 cells measured, 6 as before" in capsys.readouterr().err


def test_a_named_machine_of_another_host_is_refused_before_anything_is_measured(laboratory, as_host, capsys):
    assert laboratory.run("table1") == 0
    before, count = contents(laboratory.results), len(laboratory.traces())
    as_host("another")
    capsys.readouterr()
    for words in (("table1", "--force"), ("table1",), ("figure2", "--dry-run")):
        assert laboratory.run(*words) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{laboratory.results / 'bench'} has another host's results" in line
    assert main(["doctor", "--ceilings", "--results", str(laboratory.results)]) == 1
    assert contents(laboratory.results) == before and len(laboratory.traces()) == count
    assert main(["status", "table1", "--results", str(laboratory.results)]) == 0  # reading goes on


def test_results_that_say_nothing_are_another_hosts(plain, capsys):
    """Such results were committed before folders said whose they are."""
    plain.has_run("table1")
    (plain.results / "bench" / "machine.json").unlink()
    shutil.rmtree(plain.results / "bench" / ".cells")
    before = contents(plain.results)
    assert plain.run("table1") == 0
    assert "bench-2: " in capsys.readouterr().err
    assert {path: content for path, content in contents(plain.results).items() if path in before} == before


def test_a_folder_with_locks_alone_is_nobodys(plain):
    with Store(plain.results, "bench").lock("x"):
        pass
    assert hosts.choose(plain.results, "bench") == ("bench", "")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"hosts": []}', '{"hosts": [{}]}', '{"hosts": [{"host": 3}]}']
)
def test_a_file_that_names_no_hosts_is_damaged(tmp_path, content):
    (tmp_path / "machine.json").write_text(content)
    with pytest.raises(ReproError, match=r"machine\.json is damaged"):
        hosts.read(tmp_path)


def test_what_is_damaged_is_told_in_a_line_and_nothing_is_written_there(plain, capsys):
    plain.has_run("table1")
    (plain.results / "bench" / "machine.json").write_text("{")
    before = contents(plain.results)
    capsys.readouterr()
    assert plain.run("table1", "--machine", "bench") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{plain.results / 'bench' / 'machine.json'} is damaged" in line and contents(plain.results) == before
    assert plain.run("figure2") == 0  # without a name it goes beside, and says why
    assert "bench-2: " in (said := capsys.readouterr().err) and said.count("machine.json is damaged") == 1
    assert {path: text for path, text in contents(plain.results).items() if path in before} == before


def test_another_host_of_the_same_hardware_goes_on_where_it_is_told_to(laboratory, as_host, capsys, monkeypatch):
    as_host("first")
    assert laboratory.run("table1", "--only", "case=first") == 0
    shutil.rmtree(laboratory.results / "bench" / ".cells")  # as where only what git has was put back
    as_host("second")
    assert laboratory.run("table1", "--continue") == 0
    assert "4 cells measured, 2 as before" in capsys.readouterr().err and tokens(laboratory) == ["first", "second"]
    assert laboratory.run("table1") == 1
    as_host("third")
    mine = hosts.here()
    monkeypatch.setattr(hosts, "here", lambda: {**mine, "cpu": "another"})
    assert laboratory.run("table1", "--continue") == 1 and "another host's results" in capsys.readouterr().err


@pytest.fixture
def with_gpu(as_host, monkeypatch):
    """Be another host, with a GPU and a processor that a test names."""
    facts = machine.fingerprint()

    def be(host, cpu):
        as_host(host)
        monkeypatch.setattr(machine, "fingerprint", lambda: {**facts, "cpu": cpu, "gpu": ["A card"], "driver": "5.1"})
        plan.machine_facts.cache_clear()

    yield be
    plan.machine_facts.cache_clear()


def test_with_a_gpu_a_host_with_another_processor_goes_on_but_for_rounds(laboratory, with_gpu, capsys):
    def cells():
        manifest = read_json(laboratory.results / "bench" / "demo2020" / "table1.smoke.json")
        return {(cell["case"], manifest["keys"][cell["key"]]["machine"]["cpu"]) for cell in manifest["cells"]}

    with_gpu("first", "old")
    assert laboratory.run("table1", "--only", "case=first") == 0
    with_gpu("second", "new")
    assert laboratory.run("table1", "--continue", "--only", "case=second") == 0
    assert {"old", "new"} == {cpu for _, cpu in cells()} and tokens(laboratory) == ["first", "second"]
    assert "replaced" not in capsys.readouterr().err
    page = (laboratory.results / "bench" / "demo2020" / "table1.smoke.md").read_text()
    assert "4 of 9 cells" in page and MEASURED_BEFORE not in page
    assert laboratory.run("table1", "--continue", "--only", "case=first", "--rounds", "2") == 0
    assert {"new"} == {cpu for _, cpu in cells()}
    every = [json.loads(path.read_text()) for path in laboratory.cell_files()]
    done = {record["identity"]["case"]: record for record in every if record["status"] == "done"}
    assert {len(record["rounds"]) for case, record in done.items() if case == "first"} == {2}


class Apart:
    """Measures as a worker does, which has the store alone, in this process."""

    def __init__(self, settings):
        self.settings = settings

    def dispatch(self, task, **options):
        theirs = Task(task.artefact, task.cell, task.path, task.key)
        measured = execution.execute(theirs, self.settings, **options)
        task.record, task.reason = theirs.record, theirs.reason
        return measured

    def close(self):
        pass


def test_rounds_that_the_files_alone_have_are_kept(laboratory, monkeypatch):
    laboratory.has_run("table1")
    shutil.rmtree(laboratory.results / "bench" / ".cells")
    monkeypatch.setattr(runner, "Worker", Apart)
    assert main(["run", "table1", "--scale", "smoke", "--results", str(laboratory.results), "--rounds", "2"]) == 0
    done = [json.loads(path.read_text()) for path in laboratory.cell_files()]
    assert {len(record["rounds"]) for record in done if record["status"] == "done"} == {2}
