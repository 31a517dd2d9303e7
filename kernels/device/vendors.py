"""OpenCL drivers that the loader finds: the machine's, and beside them Intel's for processors where pip installed it.

Loaders look into the machine's folder alone, and the file that the wheel brings for it names a folder of its maker's.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

WHEEL, DRIVER = "intel-opencl-rt", "libintelocl.so"
MACHINES = Path("/etc/OpenCL/vendors")
CHOSEN = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")  # by which a user says where all drivers are


def of_wheel() -> Path | None:
    """Return Intel's driver where a wheel has installed it; None where it has not."""
    try:
        files = metadata.files(WHEEL) or ()
    except metadata.PackageNotFoundError:
        return None
    found = (file.locate().resolve() for file in files if file.name == DRIVER)
    return next((path for path in found if path.is_file()), None)


@contextlib.contextmanager
def named() -> Iterator[None]:
    """Have a loader find the wheel's driver beside the machine's: it reads names once in a process, when first asked.

    Where the user has said where drivers are, or the machine has Intel's own, nothing is added.
    """
    _keep_numbas_threads()
    driver, there = of_wheel(), list(MACHINES.glob("*.icd"))
    if driver is None or any(map(os.environ.get, CHOSEN)) or any(DRIVER in path.read_text() for path in there):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="repro-opencl-") as folder:
        for path in there:
            Path(folder, path.name).symlink_to(path)
        Path(folder, "wheel.icd").write_text(str(driver))
        os.environ[CHOSEN[0]] = folder
        try:
            yield
        finally:
            del os.environ[CHOSEN[0]]


def _keep_numbas_threads() -> None:
    """Have Numba run loops by OpenMP as ever, not by the TBB that Intel's driver brings into the process."""
    os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp tbb workqueue")
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()
