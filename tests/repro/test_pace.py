"""The pace of a processor's cores."""

import subprocess
import sys
import time

import numpy as np
import pytest

from repro.machine import cores
from repro.model import Cell
from repro.run import state
from repro.run.context import Run
from repro.run.guard import Guard
from repro.run.pace import Pace, of_cores
from repro.run.state import Unwatched
from repro.run.timing import HostClock, sample


@pytest.fixture
def pace(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    return Pace()


def test_cores_that_others_use_are_slower(pace, monkeypatch):
    monkeypatch.setattr("repro.run.pace._has_children", lambda: False)  # of tests before, and the others here
    monkeypatch.setattr("repro.run.pace.JOBS", 100)  # longer than a slice of time, in which nobody interrupts a thread
    alone = min(pace.look() for _ in range(5))
    others = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(4 * cores())]
    try:
        time.sleep(0.5)  # until they have begun
        beside = [pace.look() for _ in range(5)]
    finally:
        for each in others:
            each.kill()
            each.wait()
    assert sorted(beside)[2] > 1.3 * alone


def test_factors_reach_from_the_quickest_to_a_slow_pace(pace):
    pace._met.clear()
    pace._met.update({round(np.log(seconds) / 0.02): 100 for seconds in (0.001, 0.002, 0.004)})
    assert pace.factors(0.002) == pytest.approx((0.5, 2.0), rel=0.02)
    assert pace.factors(0.001) == pytest.approx((1.0, 4.0), rel=0.02)
    assert pace.factors(0.0005)[0] == 1.0 and pace.factors(0.01)[1] == 1.0


def test_what_a_machine_has_met_is_kept(pace):
    pace._met.update({-400: 1000})
    pace.keep()
    assert Pace()._met[-400] >= 1000


def test_processes_of_its_own_are_not_what_slows_the_cores(pace):
    program = (  # in a process that has none of the tests before
        "import subprocess; from repro.run.pace import Pace; pace = Pace();"
        "before, met = pace.look(), pace._met.total();"
        "rival = subprocess.Popen(['sleep', '60']); assert pace.look() == before and pace._met.total() == met;"
        "rival.kill(); rival.wait(); pace.look(); assert pace._met.total() == met + 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_process_that_has_others_from_the_start_knows_a_pace(pace):
    rival = subprocess.Popen(["sleep", "60"])
    try:
        assert 0 < Pace().look() < 1
    finally:
        rival.kill()
        rival.wait()


def test_a_container_with_a_part_of_more_cores_has_as_many_jobs(pace, monkeypatch):
    monkeypatch.setattr("repro.run.pace.cores", lambda: 1)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert Pace()._cores == [None]


class Slowed(Unwatched):
    """Cores at two thirds of their pace."""

    def look(self):
        return 0.003

    def factors(self, seconds):
        return 0.002 / seconds, 1.0


def test_samples_tell_the_pace_that_they_were_taken_at():
    taken = sample(lambda: time.sleep(0.001), HostClock(), max_seconds=0.02, watched=Slowed())
    assert taken.pace == pytest.approx((2 / 3, 1.0))
    assert Guard(Unwatched()).pace() is None


@pytest.mark.parametrize(("threads", "is_known"), [("1", True), ("16", False), (None, False)])
def test_the_librarys_own_threads_would_do_the_job(threads, is_known, monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if threads:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
    assert (of_cores.__wrapped__() is not None) == is_known


@pytest.fixture
def fresh(monkeypatch):
    """Clear what this process keeps of its cores, as if it were another one."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    kept = of_cores, state._watch
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


def test_a_smoke_run_looks_at_no_pace(fresh):
    paces = {scale: [each.get("pace") for each in _timed(scale).samples.values()] for scale in ("smoke", "small")}
    assert paces["smoke"] == [None] and len(paces["small"][0]) == 2


def _timed(scale):
    run = Run(Cell("a", "loop", "host"), "demo2020-table1", scale)
    run.time("wall", lambda: time.sleep(0.001), check=lambda: 0.0, tolerance=1.0, max_seconds=0.02)
    return run
