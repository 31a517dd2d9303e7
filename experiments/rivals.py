"""Which libraries a cell's rival is of, and which versions of them are here: the cell depends on these, no other does.

Those that others use as well, as SciPy and CuPy, are among the machine's packages. None is loaded here, nor a device.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from importlib import metadata
from pathlib import Path

from baselines.solvers import petsc
from repro import Skip

#: The libraries behind a rival, by the word for it in the names of methods.
LIBRARIES = {
    "amgcl": ("pyamgcl",), "petsc": ("PETSc",), "hypre": ("PETSc", "hypre"), "cusparse": ("cuSPARSE", "nvmath-python"),
}  # fmt: skip
#: Artefacts whose cells on CUDA time a rival beside the method that they are named by.
BESIDE = {"wong2015-table4": "cusparse"}
TOOLKITS = ("CUDA_PATH", "CUDA_HOME")
#: What PETSc's own Python says of it. To ask PETSc would start MPI, which may take long, or fail, where none measures.
ASKING = """
import ctypes, glob, json, petsc4py
library = ctypes.CDLL(glob.glob(petsc4py.__path__[0] + "/lib/**/PETSc.*so", recursive=True)[0])
numbers, text, found = [ctypes.c_int() for _ in range(4)], ctypes.c_char_p(), {}
if not library.PetscGetVersionNumber(*map(ctypes.byref, numbers)):
    found["PETSc"] = ".".join(str(number.value) for number in numbers[:3])
if hasattr(library, "HYPRE_Version") and not library.HYPRE_Version(ctypes.byref(text)):
    found["hypre"] = text.value.decode()
print(json.dumps(found))
"""


def libraries(artefact: str, method: str, backend: str) -> dict[str, str]:
    """Return the libraries of a cell's rival with their versions, empty where unknown; none for other cells.

    Parameters
    ----------
    artefact : str
        The id of the one that measures the cell.
    method, backend : str
    """
    words = re.split("[-_]", method) + ([BESIDE[artefact]] if artefact in BESIDE and backend == "cuda" else [])
    return {name: version(name) for word in words for name in LIBRARIES.get(word, ())}


@functools.cache
def version(library: str) -> str:
    """Return the version of a library that a rival would use here; empty where there is none, or it does not tell."""
    if library in ("PETSc", "hypre"):
        return _of_petsc().get(library, "")
    return _cusparse() if library == "cuSPARSE" else _package(library)


def _package(*names: str) -> str:
    """The version of the first package of some that is installed."""
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return ""


def _cusparse() -> str:
    """That of NVIDIA's wheel, which goes before a toolkit's; of that the file's name has it."""
    found = _package("nvidia-cusparse", "nvidia-cusparse-cu12")
    toolkits = [*filter(None, map(os.environ.get, TOOLKITS)), "/usr/local/cuda"]
    files = [Path(toolkit, "lib64", "libcusparse.so").resolve().name for toolkit in toolkits]
    return found or next((name[len("libcusparse.so.") :] for name in files if name != "libcusparse.so"), "")


@functools.cache
def _of_petsc() -> dict[str, str]:
    try:
        there = petsc.find()
        told = subprocess.run(
            [there.python, "-c", ASKING], env=petsc._environment(there), capture_output=True, text=True, timeout=60
        )
        found = json.loads(told.stdout)
    except (Skip, OSError, subprocess.TimeoutExpired, ValueError):
        return {}
    return {name: re.sub(r"^\D*(?=\d)", "", text) for name, text in found.items()}  # of "HYPRE Release Version 2.26.0"
