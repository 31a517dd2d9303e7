"""Cells of the processor, which a run leaves out where it has another share of its host's cores than stored ones had.

See `repro.cache.hosts.other_share`. Cells of the GPU go on.
"""

import os
from collections.abc import Sequence
from typing import Any

from repro import environment
from repro.cache import hosts
from repro.cache.plan import machine_facts
from repro.model import Cell, Skip
from repro.run.jobs import Job
from repro.run.state import ON_CORES
from repro.run.worker import die_with, end, spawned
from repro.settings import Settings

PATIENCE = 120.0  # seconds in which OpenCL's device tells what it is; its driver may have to build a kernel first


def leave_out(jobs: Sequence[Job], settings: Settings) -> str:
    """Take cells of the processor out of what jobs want, if others began the folder with another share of cores.

    Return why, in a line; empty where none is taken out. What is stored of those cells stays.
    """
    why = hosts.other_share(settings.store.folder)
    if not why:
        return ""
    wanted = [task for job in jobs for task in job.wanted]
    backends = {*ON_CORES}
    if any(task.cell.backend == "opencl" for task in wanted) and not _opencl_is_on_gpu():
        backends.add("opencl")
    left = {task.path for task in wanted if _is_timed_on_cores(task.cell, backends)}
    for job in jobs:
        job.wanted = [task for task in job.wanted if task.path not in left]
    cells = "1 cell of the processor is" if len(left) == 1 else f"{len(left)} cells of the processor are"
    return f"{cells} left out: {why}" if left else ""


def _is_timed_on_cores(cell: Cell, backends: set[str]) -> bool:
    return cell.backend in backends or "cores" in cell.uses


def _opencl_is_on_gpu() -> bool:
    """Return whether OpenCL's device is a GPU, by a process of its own: a GPU may take one process at a time."""
    if "gpu" not in machine_facts():
        return False
    process, pipe = spawned(_tell)
    try:
        return pipe.poll(PATIENCE) and pipe.recv()
    except (EOFError, ConnectionError):  # its driver has ended it
        return False
    finally:
        process.terminate()
        end(process, pipe, 5)


def _tell(pipe: Any, parent: int) -> None:
    die_with(parent)
    os.setpgid(0, 0)
    os.dup2(2, 1)
    try:
        pipe.send(environment.device("opencl").is_gpu)
    except Skip:  # without one its cells would be skipped
        pipe.send(False)
