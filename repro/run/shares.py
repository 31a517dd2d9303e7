"""Cells of the processor, which a run leaves out where it has another share of its host's cores than stored ones had.

See `repro.cache.hosts.other_share`. Cells of the GPU go on.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache import hosts
from repro.cache.plan import machine_facts
from repro.cache.store import ARCHIVE, read_json
from repro.model import DONE, Skip
from repro.run.jobs import Job
from repro.run.state import ON_CORES
from repro.run.worker import die_with, end, spawned
from repro.settings import Settings

PATIENCE = 120.0  # seconds in which OpenCL's device tells what it is; its driver may have to build a kernel first


def leave_out(jobs: Sequence[Job], settings: Settings) -> str:
    """Take cells of the processor out of what jobs want, if another share of cores measured the stored ones.

    Return why, in a line; empty where none is taken out. Their stored results stay. A GPU's cells that use cores go by
    the host that began the folder. Cells of the processor go by the host that measured some first, if one did.
    """
    folder = settings.store.folder
    first_hosts = hosts.began(folder), hosts.of_processor(folder)
    of_gpu, of_processor = (hosts.other_share(folder, first) for first in first_hosts)
    if not (of_gpu or of_processor):
        return ""
    wanted = [task for job in jobs for task in job.wanted]
    backends = {*ON_CORES}
    if any(task.cell.backend == "opencl" for task in wanted) and not _opencl_is_on_gpu():
        backends.add("opencl")
    if of_processor and any(task.cell.backend in backends for task in wanted) and not _has_measured(folder, backends):
        of_processor = ""
    left = {
        task.path: why for task in wanted
        if (why := of_processor if task.cell.backend in backends else of_gpu if "cores" in task.cell.uses else "")
    }  # fmt: skip
    for job in jobs:
        job.wanted = [task for task in job.wanted if task.path not in left]
    cells = "1 cell of the processor is" if len(left) == 1 else f"{len(left)} cells of the processor are"
    return f"{cells} left out: {'; '.join(dict.fromkeys(left.values()))}" if left else ""


def _has_measured(folder: Path, backends: set[str]) -> bool:
    """Return whether the files of a machine show a measured cell of some back ends."""
    manifests = (read_json(path) for path in folder.glob("*/*.json") if not path.name.endswith(ARCHIVE))
    cells = (cell for manifest in manifests for cell in manifest.get("cells", ()))
    return any(cell["backend"] in backends and cell["status"] == DONE for cell in cells)


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
