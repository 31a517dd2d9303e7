"""Faults around a run, caused: a fault of one cell costs no other, and nothing stored is lost or misread."""

import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from repro import Cell, Skip
from repro.cache import store
from repro.run import memory
from repro.run.context import Run

RUN = ("run", "table1", "--scale", "smoke")
EVERY_CELL = 6  # of table1 on the devices that are there; three more are skipped


def results(laboratory, *more):
    return (*RUN, "--results", str(laboratory.results), *more)


def statuses(laboratory, status):
    return {name for name, found in laboratory.statuses().items() if found == status}


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_hang_is_stopped_with_what_it_started_and_costs_its_cell_alone(laboratory):
    words = results(laboratory, "--cell-minutes", "0.2", "--only", "backend=host")
    done = laboratory.call(*words, isolate=True, FAKELAB_HANG="second")
    assert done.returncode == 1, done.stderr
    assert statuses(laboratory, "failed") == {"smoke-second-loop-host"}
    assert "not done after 12 s, and stopped" in done.stderr
    (rival,) = [int(trace.removeprefix("rival:")) for trace in laboratory.traces() if trace.startswith("rival:")]
    until = time.monotonic() + 10
    while alive(rival):
        assert time.monotonic() < until, "the rival's process outlives its cell"
        time.sleep(0.01)


def test_the_time_that_a_cell_waits_for_another_run_is_not_its_own(laboratory):
    with store.alone():
        waits = laboratory.start(*results(laboratory, "--cell-minutes", "0.1", "--only", "backend=host"))
        time.sleep(6.5)
    _, err = waits.communicate(timeout=60)
    assert waits.returncode == 0 and "3 cells measured" in err, err


def test_memory_that_runs_out_costs_its_cell_alone(laboratory, capsys):
    os.environ["FAKELAB_EXHAUST"] = "first"
    try:
        assert laboratory.run("table1") == 1
    finally:
        del os.environ["FAKELAB_EXHAUST"]
    assert statuses(laboratory, "failed") == {"smoke-first-loop-host", "smoke-first-kernel-opencl"}
    assert "MemoryError" in capsys.readouterr().err


def test_a_lost_device_is_opened_anew_for_the_next_cell(laboratory):
    done = laboratory.call(*results(laboratory), isolate=True, FAKELAB_LOSE="first")
    assert done.returncode == 1 and "ILLEGAL_ADDRESS" in done.stderr
    assert statuses(laboratory, "failed") == {"smoke-first-kernel-opencl"}
    assert "smoke-second-kernel-opencl" in statuses(laboratory, "done")


def test_a_case_that_does_not_fit_is_skipped_with_the_sizes(laboratory, monkeypatch, capsys):
    monkeypatch.setenv("FAKELAB_NEED", "8e15")
    assert laboratory.run("table1") == 0
    assert "smoke-second-loop-host" in statuses(laboratory, "skipped")
    assert "smoke-first-loop-host" in statuses(laboratory, "done")
    assert "the list of numbers needs 8e+06 GB of memory on the host, where" in capsys.readouterr().err


def test_a_cell_that_takes_more_cores_than_there_are_is_skipped_with_both_numbers(laboratory):
    artefact = laboratory.folder / "fakelab" / "demo2020" / "table1_sums.py"
    asked = '(DATA,), cores=10**6 if case == "second" else 1)'
    artefact.write_text(artefact.read_text().replace("(DATA,))", asked))
    done = laboratory.call(*results(laboratory), isolate=True)
    assert done.returncode == 0 and re.search(r"needs 1000000 cores, this machine has \d+\b", done.stderr)
    assert "smoke-second-loop-host" in statuses(laboratory, "skipped")
    assert "smoke-first-loop-host" in statuses(laboratory, "done")
    assert not any("second" in trace for trace in laboratory.traces())  # nothing of it has begun


class Card:
    """A device that has memory of its own."""

    name, is_gpu, backend = "Card", True, "cuda"

    def free_bytes(self):
        return 10e9


def test_device_memory_is_asked_of_the_device(monkeypatch):
    run = Run(Cell("case", "method", "cuda"), "demo-table1", "smoke")
    monkeypatch.setattr(Run, "device", Card())
    run.need("a matrix", device=8.9e9)
    with pytest.raises(Skip, match=r"a matrix needs 9\.1 GB of memory on Card, where 10 GB are free"):
        run.need("a matrix", device=9.1e9)
    monkeypatch.setattr(memory, "host_available", lambda: 2e9)
    with pytest.raises(Skip, match="needs 3 GB of memory on the host, where 2 GB"):
        run.need("a matrix", device=1e9, host=3e9)
    monkeypatch.setattr(Card, "is_gpu", False)  # what a processor's device takes is the host's
    with pytest.raises(Skip, match="needs 2 GB of memory on the host"):
        run.need("a matrix", device=1e9, host=1e9)


@pytest.mark.parametrize(
    ("limit", "used", "free"), [("max", "5", None), ("1000", "400", 700.0), ("nonsense", "5", None)]
)  # fmt: skip
def test_the_limit_of_a_control_group_counts(tmp_path, monkeypatch, limit, used, free):
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    for name, text in (("max", limit), ("current", used), ("stat", "anon 1\ninactive_file 100\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(memory, "_meminfo", lambda: None)
    monkeypatch.setattr(memory, "_resource_limit", lambda: None)
    assert memory.host_available() == (float("inf") if free is None else free)


def test_a_limit_of_the_address_space_counts():
    """In a process of its own, which may have 8 GB; where the system says nothing there is no end to it."""
    code = (
        "import resource; from pathlib import Path; from repro.run import memory\n"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))\n"
        "memory.MEMINFO, memory.CGROUP = Path('/nowhere'), Path('/nowhere')\n"
        "first = memory.host_available(); kept = bytearray(1 << 30); print(first, first - memory.host_available())\n"
        "resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2); print(memory.host_available())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    free, taken, endless = map(float, done.stdout.split())
    assert 4 << 30 < free < 8 << 30 and taken == pytest.approx(1 << 30, rel=0.01) and endless == float("inf")


def test_the_systems_free_memory_is_believable():
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0.01 * total < memory._meminfo() <= total


def test_results_that_cannot_be_written_are_found_before_a_cell_is_measured(laboratory, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for folder in ("/proc/nowhere", tmp_path / "file"):  # where not even root can make a folder
        assert laboratory.run("table1", "--results", str(folder)) == 1
        err = capsys.readouterr().err
        assert "repro: cannot write the results" in err and "damaged" not in err and ": done" not in err


@pytest.mark.parametrize("name", ["REPRO_CACHE", "XDG_CACHE_HOME"])
@pytest.mark.parametrize("isolate", [False, True])
def test_a_cache_that_cannot_be_written_is_named_before_anything_is(laboratory, name, isolate):
    done = laboratory.call(*results(laboratory), isolate=isolate, **{"REPRO_CACHE": "", name: "/proc/nowhere"})
    folder = "/proc/nowhere" if name == "REPRO_CACHE" else "/proc/nowhere/repro"
    assert (done.returncode, done.stderr) == (
        1, f"repro: cannot write the cache {folder}: No such file or directory; set REPRO_CACHE to a writable folder\n",
    )  # fmt: skip
    assert not laboratory.results.exists()


def test_a_cache_that_is_lost_on_the_way_keeps_what_is_done(laboratory, monkeypatch, capsys):
    real, calls = store.alone, []

    def alone(waiting):
        calls.append(waiting)
        if len(calls) > 2:
            monkeypatch.setenv("REPRO_CACHE", "/proc/nowhere")
        return real(waiting)

    monkeypatch.setattr("repro.run.execution.alone", alone)
    assert laboratory.run("table1") == 1
    assert "repro: cannot write the cache /proc/nowhere: " in capsys.readouterr().err
    assert "2 on opencl (kernel)" in laboratory.file("table1.smoke.md").read_text()


@pytest.mark.parametrize("is_cache", [False, True])
def test_ceilings_are_not_measured_where_they_cannot_be_kept(laboratory, is_cache):
    where = "cache" if is_cache else "results"
    folder = "/proc/nowhere" if is_cache else "/proc/nowhere/bench"
    done = laboratory.call(
        "doctor", "--ceilings", "--results", str(laboratory.results) if is_cache else "/proc/nowhere",
        **({"REPRO_CACHE": "/proc/nowhere"} if is_cache else {}),
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and done.stdout == ""
    assert line.startswith(f"repro: cannot write the {where} {folder}: No such file or directory; ")


def test_a_clock_that_goes_backwards_changes_no_result(laboratory, sampled, monkeypatch):
    """Set back by a day between any two looks at it, as by a wrong time server: cells, times and files are whole."""
    now = iter(range(10**9, 0, -86400))
    monkeypatch.setattr(time, "time", lambda: float(next(now)))
    assert laboratory.run("table1") == 0
    assert laboratory.run("table1") == 0
    assert len(laboratory.traces()) == EVERY_CELL
    samples = json.loads(store.content(laboratory.file("table1.smoke.samples.json")))
    assert all(seconds > 0 for seconds in _seconds(samples))


def _seconds(value):
    if isinstance(value, dict):
        for name, item in value.items():
            yield from item if name == "seconds" and isinstance(item, list) else _seconds(item)
    elif isinstance(value, list):
        for item in value:
            yield from _seconds(item)


def test_many_runs_at_once_measure_each_cell_once(laboratory):
    """Forked, for speed; each plans, waits for the machine, measures what is left, and writes the artefact's files."""
    for module in ("repro.show.render", "matplotlib.figure", "matplotlib.backends.backend_agg",
                   "matplotlib.backends.backend_svg", "mpl_toolkits.mplot3d.axes3d"):  # fmt: skip
        importlib.import_module(module)  # once, not in each
    assert laboratory.run("table1", "--dry-run") == 0
    children = []
    for _ in range(12):
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os.dup2(1, 2)
                code = laboratory.run("table1")
            finally:
                os._exit(code)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert set(codes) == {0}
    assert sorted(laboratory.traces()) == sorted(set(laboratory.traces())) and len(laboratory.traces()) == EVERY_CELL
    assert not list(laboratory.results.rglob(".tmp.*"))
    assert laboratory.file("table1.smoke.md").exists()


def test_results_of_an_older_schema_are_measured_again_and_not_misread(laboratory):
    laboratory.has_run("table1")
    for path in laboratory.cell_files():
        record = json.loads(path.read_text())
        path.write_text(json.dumps({**record, "schema": store.SCHEMA - 1}))
    reasons = laboratory.reasons()
    assert all("has schema 1" in reason for place, reason in reasons.items() if "cuda" not in place), reasons
    assert laboratory.run("table1") == 0
    assert len(laboratory.traces()) == 2 * EVERY_CELL
