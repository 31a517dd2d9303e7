"""A measuring process that is killed: while it measures it costs its cell, while it waits it costs nothing."""

import gc
import json
import os
import signal
import sys
import time
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

from repro import discovery
from repro.cache import kept, store
from repro.cache.plan import Selection
from repro.model import ReproError
from repro.run import execution, runner
from repro.run import worker as workers
from repro.run.jobs import make_jobs
from repro.run.worker import Worker
from repro.settings import make_settings
from repro.show.render import Rendered


@pytest.fixture
def measured(laboratory):
    """A worker, and a task whose cell is done already."""
    laboratory.has_run("table1", "--only", "case=first", "--only", "backend=host")
    settings = make_settings("smoke", laboratory.results, "bench")
    (job,) = make_jobs(discovery.select(["table1"]), settings, Selection({"case": ["first"], "backend": ["host"]}))
    worker, (task,) = Worker(settings), job.wanted
    yield worker, task
    worker.close()


def kill(worker):
    os.kill(worker._process.pid, signal.SIGKILL)


def stored(task):
    return json.loads(task.path.read_text())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads by /proc")
def test_a_library_of_dense_algebra_has_no_threads_that_spin(measured, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    worker, task = measured
    worker.dispatch(task, force=True)
    process = Path(f"/proc/{worker._process.pid}")
    assert "openblas" in (process / "maps").read_text()
    assert len(os.listdir(process / "task")) == 1


def test_one_that_is_killed_while_it_waits_is_replaced(measured, laboratory):
    worker, task = measured
    before, turn, waited = stored(task), store.alone(), []

    def waiting(text):
        waited.append(worker._process.pid)
        if len(waited) == 1:
            kill(worker)
        else:
            assert stored(task) == before
            turn.__exit__(None, None, None)

    turn.__enter__()
    assert worker.dispatch(task, force=True, begun=time.time(), tell=waiting)
    assert len(set(waited)) == 2 and len(laboratory.traces()) == 2
    assert task.record["status"] == stored(task)["status"] == "done" and stored(task)["finished"] > before["finished"]


def test_one_that_is_killed_while_it_has_nothing_to_do_is_replaced(measured):
    worker, task = measured
    assert worker.dispatch(task, force=True)
    kill(worker)
    worker._process.join()
    assert worker.dispatch(task, force=True) and stored(task)["status"] == "done"


def test_when_its_successor_is_killed_as_well_the_run_ends_and_what_is_stored_stays(measured, laboratory):
    worker, task = measured
    before = task.path.read_bytes()
    with store.alone(), pytest.raises(ReproError, match="died: SIGKILL, as did one before it, and neither had begun"):
        worker.dispatch(task, force=True, begun=time.time(), tell=lambda text: kill(worker))
    assert task.path.read_bytes() == before and len(laboratory.traces()) == 1


@pytest.mark.parametrize("is_stored", [False, True])
def test_one_that_is_killed_in_its_turn_leaves_what_was_stored_since_the_run_began(measured, monkeypatch, is_stored):
    """By another run while this one waited, or by the process itself."""
    worker, task = measured
    begun = time.time()
    if is_stored:
        worker.settings.store.write(task.path, {**task.record, "finished": time.time()})
    monkeypatch.setenv("FAKELAB_CRASH", "first")
    monkeypatch.setattr(worker, "_ask", lambda *given, ask=worker._ask: _killed(worker, ask, given))
    assert worker.dispatch(task, force=True, begun=begun) != is_stored
    assert task.record["status"] == kept.last(stored(task))["status"] == ("done" if is_stored else "failed")
    assert stored(task)["status"] == "done"  # what was measured before stays


def _killed(worker, ask, given):
    """As `Worker._ask`, of a process that measures though another run has just done so, and is killed at that."""
    task, upto, force, _, tell = given
    return ask(task, upto, force, 0.0, tell)


def test_one_that_is_interrupted_has_ended_when_the_files_are_written(laboratory, monkeypatch):
    """Or it goes on, and stores a cell that neither the summary nor the files have."""
    did = []

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Worker, "dispatch", interrupted)
    monkeypatch.setattr(Worker, "close", lambda worker: did.append("closed"))
    monkeypatch.setattr(runner, "render", lambda artefact, *_: did.append("written") or Rendered(artefact))
    settings = make_settings("smoke", laboratory.results, "bench")
    jobs = make_jobs(discovery.select(["table1"]), settings, Selection({"backend": ["host"]}))
    assert runner.go_through(jobs, settings).interrupted and did[:2] == ["closed", "written"]


class Circle:
    """Garbage that only a collection finds."""

    def __init__(self):
        self.itself = self


def test_what_modules_made_is_set_apart_from_collections_and_garbage_is_not(measured, monkeypatch):
    """Once for an artefact, and once more when modules were imported meanwhile."""
    _, task = measured
    seen, asked = [], [task, task, task]

    class Pipe:
        def recv(self):
            if not asked:
                raise EOFError
            return asked.pop(), 1, False, 0.0

        def send(self, message):
            seen.append((gc.get_freeze_count(), garbage() is None))
            gc.unfreeze()
            if len(seen) == 2:
                monkeypatch.setitem(workers.sys.modules, "imported_by_a_cell", workers)

    circle = Circle()
    garbage = weakref.ref(circle)
    gc.freeze()
    del circle
    for name in ("setpgid", "dup2"):
        monkeypatch.setattr(os, name, lambda *given: None)
    monkeypatch.setattr(workers, "die_with", lambda parent: None)
    monkeypatch.setattr(execution, "execute", lambda *given, **named: True)
    workers._serve(Pipe(), None, 0)
    assert [count > 0 for count, _ in seen] == [True, False, True]
    assert all(collected for _, collected in seen)
    gc.freeze()  # what earlier tests keep, as the fixture does


class Pool:
    """CuPy's, as far as it is asked: blocks of arrays that are gone stay until they are given back."""

    def __init__(self):
        self.arrays, self.taken = [], 0

    def allocate(self):
        self.arrays.append(weakref.ref(Circle()))
        self.taken += 1

    def free_all_blocks(self):
        self.arrays = [each for each in self.arrays if each() is not None]
        self.taken = len(self.arrays)


def test_a_cell_finds_the_device_memory_that_earlier_ones_had(measured, monkeypatch):
    worker, task = measured
    pool, found, record = Pool(), [], stored(task)
    runtime = SimpleNamespace(CUDARuntimeError=LookupError)
    cupy = SimpleNamespace(get_default_memory_pool=lambda: pool, cuda=SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", cupy)

    def measure(*given):
        found.append(pool.taken)
        pool.allocate()
        return record

    monkeypatch.setattr(execution, "_measured", measure)
    for _ in range(3):
        assert execution.execute(task, worker.settings, force=True)
    assert found == [0, 0, 0]

    def lost():
        raise LookupError("cudaErrorNoDevice")

    cupy.get_default_memory_pool = lost
    assert execution.execute(task, worker.settings, force=True)
