"""Where a run's seconds go, by stage; the log beside the results; and a run that stops before its time is over."""

import io
import json
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from repro import discovery, environment
from repro.cache.plan import Selection
from repro.cache.store import Store
from repro.cli import progress
from repro.model import Cell
from repro.run import execution, minutes, runner
from repro.run.jobs import make_jobs
from repro.run.stages import Stages
from repro.run.worker import MEASURING, Late, Worker
from repro.settings import make_settings


def test_a_second_counts_once_for_the_innermost_stage(monkeypatch):
    clock, built = [0.0], [0.0]
    monkeypatch.setattr("repro.run.stages.time.monotonic", lambda: clock[0])
    monkeypatch.setattr(environment.load(), "building_seconds", lambda: built[0])
    stages = Stages()
    with stages.of("set-up"):
        clock[0] += 2.0
        with stages.of("data"):
            clock[0] += 5.0
        clock[0], built[0] = clock[0] + 4.0, 1.0  # of which a kernel took one
    clock[0] += 100.0  # between two stages
    with stages.of("record"):
        clock[0] += 3.0
    assert stages.rounded() == {"data": 5.0, "compile": 1.0, "set-up": 5.0, "record": 3.0}


def test_the_log_adds_runs_up(tmp_path):
    store = Store(tmp_path, "bench")
    for ended in ("one", "one"):  # as runs on two cards may
        spent = minutes.Minutes()
        spent.measured("p", {"identity": {"backend": "host"}, "stages": {"sampling": 2.0}}, 2.5)
        spent.add("data", 1.0)
        path = spent.append(store, ended, "c0ffee", "smoke")
        assert path.read_text().startswith("ended,")
        path.write_text(path.read_text().replace("ended", "begun"))  # as older logs call what they have
    assert path.read_text().count("begun") == 1
    found = minutes.read(store.folder, "smoke")
    assert found.cells == {("p", "host"): 2} and found.total("p") == 5.0 and found.total() == 7.0
    assert found.places() == [("p", "host"), ("", "")] and minutes.read(store.folder, "small").total() == 0
    planned = minutes.expected([("p", "host", 10.0), ("q", "cuda", 3.0)], found)
    assert planned.total("p", "host", "sampling") == pytest.approx(8.0) and planned.total("q", stage="") == 3.0


@pytest.mark.parametrize(("words", "many", "shown"), [([], 3, False), ([], 2, True), (["--minutes", "9"], 3, True)])
def test_a_run_tells_where_its_minutes_went(laboratory, capsys, monkeypatch, words, many, shown):
    monkeypatch.setattr("repro.cli.run.MANY", many)
    assert laboratory.run("table1", "--only", "backend=host", *words) == 0
    said = capsys.readouterr().err
    assert ("minutes of this run" in said) is shown and "3 cells measured" in said
    found = minutes.read(laboratory.results / "bench", "smoke")
    assert found.cells["demo2020", "host"] == 3
    records = [json.loads(path.read_text()) for path in laboratory.cell_files()]
    told = sum(record["stages"]["set-up"] for record in records)
    assert found.total("demo2020", "host", "set-up") == pytest.approx(told, abs=0.01)


def test_the_time_left_does_not_take_ceilings_for_cells(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    follower = progress.Follower(Console(file=io.StringIO()))
    follower.begin(3, 30.0)
    cell = Cell("a case", "a method")
    record = {"status": "done", "reason": "", "seconds": 10.0, "stages": {"ceilings": 80.0}}
    task = SimpleNamespace(cell=cell, artefact=SimpleNamespace(id="p-table1"), record=record)
    follower.cell(task, "never run")
    clock[0] = 90.0
    follower.done(task, True, 10.0)
    assert "(1/3, 20 s left)" in follower.console.file.getvalue()


def test_a_run_whose_time_is_over_leaves_cells_and_the_next_goes_on(laboratory, monkeypatch):
    clock, execute = [0.0], execution.execute

    def slow(*given, **options):
        clock[0] += 1.0
        return execute(*given, **options)

    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: clock[0], time=time.time))
    monkeypatch.setattr(runner.execution, "execute", slow)
    settings = make_settings("smoke", laboratory.results, "bench")

    def go(until):
        jobs = make_jobs(discovery.select(["table1"]), settings, Selection({"backend": ["host"]}))
        summary = runner.go_through(jobs, settings, isolate=False, until=until)
        return summary.measured, summary.late, summary.exit_code

    assert runner.Summary(late=True, failed=1).exit_code == 3  # there is more to measure, whatever failed
    assert go(runner.WRITING_SECONDS + 1.9) == (2, True, 3)
    page = laboratory.file("table1.smoke.md")
    assert "never run" in page.read_text() and "2 of 9 cells" in page.read_text()
    assert go(clock[0] + runner.WRITING_SECONDS + 2.0) == (1, False, 0)
    written = page.stat().st_mtime_ns
    assert "3 of 9 cells" in page.read_text()
    assert go(clock[0] + 100.0) == (0, False, 0) and page.stat().st_mtime_ns == written  # it has every cell
    for path in laboratory.cell_files():
        path.unlink()
    laboratory.file("table1.smoke.json").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(runner, "WRITING_A_CELL", 0.3)  # of 9, which leaves no time for one
        assert go(clock[0] + runner.WRITING_SECONDS + 2.5) == (0, True, 3)
    monkeypatch.setattr("repro.run.jobs.estimates.seconds", lambda task, settings: 1e6)
    assert go(clock[0] + runner.WRITING_SECONDS + 2.5) == (3, False, 0)  # they seemed too long, and were not
    assert go(runner.NEVER) == (0, False, 0) and page.stat().st_mtime_ns != written


@pytest.mark.parametrize(("minutes", "first"), [(1.0, "cuda"), (None, "host")])
def test_where_time_is_short_cells_on_the_gpu_come_first(laboratory, minutes, first, monkeypatch):
    met = []
    monkeypatch.setattr(runner.execution, "execute", lambda task, *rest, **options: met.append(task.cell) or False)
    jobs = make_jobs(discovery.select(["table1"]), settings := make_settings("smoke", laboratory.results, "bench"),
                     Selection({"backend": ["host", "cuda"]}))  # fmt: skip
    for job in jobs:
        job.wanted.sort(key=lambda task: task.cell.backend, reverse=True)
    runner.go_through(jobs, settings, isolate=False, until=time.monotonic() + 60 * minutes if minutes else runner.NEVER)
    assert len({cell.backend for cell in met}) == 2 and met[0].backend == first and len(met) == len(set(met))


@pytest.mark.parametrize(("given", "is_left"), [(100.0, True), (0.02, False)])
def test_a_cell_that_had_all_of_a_runs_time_is_not_left_to_the_next(laboratory, monkeypatch, given, is_left):
    settings = make_settings("smoke", laboratory.results, "bench")
    (job,) = make_jobs(discovery.select(["table1"]), settings, Selection({"backend": ["host"]}))
    answers = iter([True])
    worker = Worker(settings)
    worker._process = object()
    worker._pipe = SimpleNamespace(
        send=lambda message: None, recv=lambda: MEASURING, poll=lambda left: next(answers, False) or time.sleep(left)
    )
    monkeypatch.setattr(worker, "close", lambda: None)
    worker.given, worker.limit = given, time.monotonic() + 0.02
    task = job.wanted[0]
    if is_left:
        with pytest.raises(Late):
            worker.dispatch(task)
        assert task.record is None
    else:
        assert worker.dispatch(task) and task.record["status"] == "failed" and "(--minutes)" in task.record["reason"]
