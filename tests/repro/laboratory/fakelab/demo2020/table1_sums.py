"""Sums by two methods.

The first line is the title.
"""

import os
import signal
import subprocess
import sys

import pandas

from fakelab.demo2020 import adding, looping
from repro import Cell, Work
from repro.show.tables import Table

MINUTES = {"smoke": 0.05, "small": 1}
DATA = "demo2020/numbers"


def cells(scale):
    for case in ("first", "second", "third"):
        for method, backend in (("loop", "host"), ("kernel", "opencl"), ("kernel", "cuda")):
            yield Cell(case, method, backend, {"stride": 1}, (DATA,))


def measure(cell, run):
    if cell.backend != "host":
        _ = run.device
        run.device.use()
    adding.leave_trace(f"{cell.case}/{cell.method}/{cell.backend}")
    _misbehave(cell, run)
    numbers = run.dataset(DATA)
    wanted = sum(numbers)
    total, result = (looping if cell.method == "loop" else adding).total, []

    def add():
        result[:] = [total(numbers) + (os.environ.get("FAKELAB_WRONG") == cell.case)]

    run.time(
        "time", add, check=lambda: abs(result[0] - wanted) / max(wanted, 1), tolerance=1e-12,
        work=Work(bytes=8 * len(numbers)), unit="us",
        max_seconds=float(os.environ.get("FAKELAB_SECONDS", "0")),  # 0: one sample, no warm-up
    )  # fmt: skip
    run.value("sum", result[0])


def _misbehave(cell, run):
    if os.environ.get("FAKELAB_CRASH") == cell.case:
        os.kill(os.getpid(), signal.SIGSEGV)
    if os.environ.get("FAKELAB_RAISE") == cell.case:
        raise ZeroDivisionError("on purpose")
    if os.environ.get("FAKELAB_HANG") == cell.case:  # as a rival in a process of its own that never answers
        rival = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        adding.leave_trace(f"rival:{rival.pid}")
        rival.wait()
    if os.environ.get("FAKELAB_EXHAUST") == cell.case:
        bytearray(1 << 62)
    if os.environ.get("FAKELAB_LOSE") == cell.case and cell.backend != "host":
        run.device.lose()
    if size := os.environ.get("FAKELAB_NEED"):
        run.need("the list of numbers", host=float(size) if cell.case == "second" else 8.0)


def tables(results):
    lines = [
        {"case": case, "loop": results.value(case, "loop", "sum"), "kernel": results.value(case, "kernel", "sum")}
        for case in results.cases
    ]
    return [Table("Sums", pandas.DataFrame(lines))]


def plot(results):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([0, 1])
    return figure
