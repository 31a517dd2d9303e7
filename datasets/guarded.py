"""Libraries that read files from elsewhere do it in a process of their own, with limits on its time and memory.

A file may be damaged, or made to harm. meshio believes the sizes that a file states, waits for lines that never come,
and ends the process for some errors; SciPy's reader of Matrix Market crashes on numbers cut short. Here that costs an
error.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WORKER = Path(__file__).with_name("_reading_worker.py")
# Bytes of address space, interpreter and libraries with them, and a second each 1e5 bytes: far more than the slowest of
# meshio's readers takes.
LEAST_MEMORY, GROWTH = 3 * 2**30, 60
LEAST_SECONDS, SLOWEST = 30.0, 1e5


class Unreadable(Exception):
    """A file could not be read; the message says why in one line."""


def read(kind: str, path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file; `_reading_worker` has their names.

    Parameters
    ----------
    kind : {'mesh', 'matrix'}
    path : Path

    Raises
    ------
    Unreadable
        When it fails, crashes, takes long, or asks for much memory.
    """
    size = path.stat().st_size
    memory, seconds = LEAST_MEMORY + GROWTH * size, LEAST_SECONDS + size / SLOWEST
    with tempfile.TemporaryDirectory(prefix="repro-reading-") as folder:
        target = Path(folder, "arrays.npz")
        command = [sys.executable, str(WORKER), kind, str(path.resolve()), str(target), str(memory)]
        # OpenBLAS takes address space for each of its threads.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, capture_output=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired:
            raise Unreadable(f"its {size:,} bytes are not read after {seconds:.0f} s") from None
        if done.returncode or not target.is_file():
            said = " ".join((done.stderr or done.stdout).decode(errors="replace").split())
            raise Unreadable(said[:200] or f"the process that reads it ended with {done.returncode}")
        with np.load(target) as found:
            return dict(found)
