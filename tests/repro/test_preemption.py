"""Times that other programs had a part in are named: by causing it, and in the files of a run."""

import os
import subprocess
import sys

import pytest

from repro.run import preemption
from repro.run.preemption import Reading

PROGRAM = """
import os, subprocess, sys, time
from repro.run import preemption
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
rival = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if sys.argv[1] == "beside" else None
time.sleep(0.2)
before, end = preemption.read("host"), time.monotonic() + 1
while time.monotonic() < end:
    sum(range(1000))
print(preemption.rate(before, preemption.read("host")))
if rival:
    rival.kill()
"""


def test_what_took_longer_warm_than_cold_is_named():
    rows = [
        ("spmv_at_1", 8.0e-3, "s"), ("spmv_at_1_cold", 0.7e-3, "s"), ("spmv_at_50", 0.5e-3, "s"), ("setup", None, "s"),
        ("rate", 9.0, "GB/s"), ("rate_cold", 1.0, "GB/s"), ("solve", 2e-3, "s"), ("solve_cold", 1.9e-3, "s"),
    ]  # fmt: skip
    found = preemption.slower_warm({"metric": metric, "value": value, "unit": unit} for metric, value, unit in rows)
    assert found == ["spmv_at_1"]


def test_a_rate_is_of_what_the_process_computed_itself():
    assert preemption.rate(Reading(10, 1.0), Reading(60, 3.0)) == 25
    assert preemption.rate(Reading(10, 1.0), Reading(60, 1.01)) is None  # too short to say
    assert preemption.rate(None, Reading(60, 3.0)) is None


@pytest.mark.parametrize("backend", ["cuda", "opencl"])
def test_devices_whose_threads_are_not_the_processs_are_not_asked(backend):
    assert preemption.read(backend) is None


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="processes cannot be kept on a core here")
def test_a_program_beside_it_is_seen():
    done = subprocess.run([sys.executable, "-c", PROGRAM, "beside"], capture_output=True, text=True, timeout=60)
    assert float(done.stdout) > 2 * preemption.DISTURBED, done.stderr


def test_a_disturbed_time_is_named_in_the_files(laboratory, monkeypatch):
    monkeypatch.setattr(preemption, "rate", lambda before, after: 160.0)
    note = f"- loop on host: {preemption.NOTE}"
    for options in (("--only", "method=loop"), ()):  # and it stays with what is stored
        assert laboratory.run("table1", *options) == 0
        assert note in laboratory.file("table1.smoke.md").read_text().splitlines()
