"""Cells that are wanted, cells that stand, and why the others do not."""

import json
import shutil

import pytest

from repro import Cell, ReproError, discovery, environment, settings
from repro.cache import plan
from repro.cache.store import Store
from repro.discovery import UnknownName


@pytest.mark.parametrize(
    ("only", "backends", "wanted"),
    [
        ({}, (), True), ({"method": ["csr", "ell"]}, (), True), ({"method": ["csr"], "case": ["other"]}, (), False),
        ({"slice": ["32"]}, (), True), ({"slice": ["64"]}, (), False), ({"nothing": ["1"]}, (), False),
        ({}, ("cuda",), False), ({}, ("cuda", "opencl"), True),
    ],
)  # fmt: skip
def test_selection(only, backends, wanted):
    cell = Cell("regular", "csr", "opencl", {"slice": 32})
    assert plan.Selection(only, backends).wants(cell) is wanted


def test_baselines_on_the_host_are_wanted_whatever_the_back_end():
    assert plan.Selection(backends=("cuda",)).wants(Cell("regular", "scipy", "host"))


@pytest.mark.parametrize("text", ["method", "=csr", ""])
def test_only_needs_key_and_value(text):
    with pytest.raises(UnknownName, match="KEY=VALUE"):
        plan.parse_only([text])


def test_only_keeps_what_follows_the_first_equals_sign():
    assert plan.parse_only(["case=a=b", "case=c"]) == {"case": ["a=b", "c"]}


@pytest.mark.parametrize(("only", "words"), [({"metod": ["x"]}, "method"), ({"method": ["csf"]}, "csr")])
def test_unknown_keys_and_values_suggest_the_nearest(only, words):
    with pytest.raises(UnknownName, match=f"did you mean {words}"):
        plan.check_only(only, [Cell("regular", "csr", "host")])


def test_whoever_means_the_processor_by_host_is_told_of_openmp():
    cuda, openmp, baseline = (Cell("regular", "csr", backend) for backend in ("cuda", "openmp", "host"))
    with pytest.raises(UnknownName, match=r"there are: cuda, openmp; host has .* --only backend=openmp$"):
        plan.check_only({"backend": ["host"]}, [cuda, openmp])
    with pytest.raises(UnknownName, match=r"there are: cuda$"):
        plan.check_only({"backend": ["host"]}, [cuda])
    plan.check_only({"backend": ["host"]}, [openmp, baseline])


def tasks(laboratory, **changes):
    artefact = discovery.find()[0]
    whole = settings.Settings("smoke", laboratory.results, "bench", **changes)
    return plan.tasks_of(artefact, discovery.load(artefact), whole)


def reasons(laboratory, **changes):
    return {task.reason for task in tasks(laboratory, **changes) if task.cell.backend != "cuda"}


def test_why_cells_run_again(laboratory, monkeypatch):
    assert reasons(laboratory) == {"never run"}
    assert laboratory.run("table1") == 0
    assert reasons(laboratory) == {""}
    assert reasons(laboratory, seed=3) == {"seed 0 -> 3"}
    facts_here = plan.machine_facts()
    facts = {**facts_here, "cpu": "X"}
    with monkeypatch.context() as patch:
        patch.setattr(plan, "machine_facts", lambda: facts)
        assert reasons(laboratory) == {f"cpu {facts_here['cpu']} -> X"}
    adding = laboratory.paper / "adding.py"
    adding.write_text(adding.read_text().replace("sum(numbers)", "sum(list(numbers))"))
    assert reasons(laboratory) == {"fakelab/demo2020/adding.py changed"}


def test_another_number_of_threads_is_another_measurement(laboratory, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    plan.machine_facts.cache_clear()
    laboratory.run("table1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    plan.machine_facts.cache_clear()
    assert reasons(laboratory) == {"$OMP_NUM_THREADS none -> 1"}
    plan.machine_facts.cache_clear()


def test_planning_opens_no_device(laboratory, monkeypatch):
    """A GPU that takes one process at a time is for the process that measures."""
    monkeypatch.setattr(environment, "device", lambda backend: pytest.fail(f"{backend} was opened"))
    assert reasons(laboratory) == {"never run"}


def test_a_damaged_cell_runs_again_and_says_why(laboratory):
    laboratory.has_run("table1")
    path = laboratory.cell("first-loop-host")
    path.write_text(path.read_text()[:200])
    (damaged,) = [task for task in tasks(laboratory) if task.path == path]
    assert "damaged" in damaged.reason and "will run again" in damaged.reason
    assert damaged.record["status"] == "done" and damaged.is_read_back  # the files have it until then


def test_skipped_and_failed_cells_are_looked_at_again(laboratory):
    laboratory.has_run("table1")
    cuda = [task for task in tasks(laboratory) if task.cell.backend == "cuda"]
    assert all(task.stands and task.reason.startswith("skipped: no cuda device") for task in cuda)
    path = laboratory.cell("first-loop-host")
    path.write_text(json.dumps({**json.loads(path.read_text()), "status": "failed", "reason": "wrong"}))
    assert [task.reason for task in tasks(laboratory) if task.path == path] == [
        f"failed on {json.loads(path.read_text())['date'][:10]}, after it was measured: wrong"  # the files have that
    ]
    shutil.rmtree(laboratory.file(""))
    assert [task.reason for task in tasks(laboratory) if task.path == path] == ["failed: wrong"]


@pytest.mark.parametrize("is_read_back", [True, False])
def test_what_was_read_back_is_stored_and_nothing_else_is(laboratory, is_read_back):
    laboratory.has_run("table1")
    (task,) = [each for each in tasks(laboratory) if each.path == laboratory.cell("first-loop-host")]
    task.path.unlink()
    task.is_read_back = is_read_back
    store = Store(laboratory.results, "bench")
    task.keep(store)
    assert task.path.exists() == is_read_back
    assert not is_read_back or {name: each for name, each in store.read(task.path).items() if name != "schema"} == {
        name: each for name, each in task.record.items() if name != "schema"
    }


def test_a_cell_given_twice_is_refused(laboratory):
    path = laboratory.paper / "table1_sums.py"
    path.write_text(path.read_text().replace('("first", "second", "third")', '("first", "first")'))
    with pytest.raises(ReproError, match="twice"):
        tasks(laboratory)
