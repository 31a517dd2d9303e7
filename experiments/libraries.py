"""The libraries that a measurement called, and their versions here.

A module that calls one names it in its ``LIBRARIES``: the cells that run the module depend on its version, no other
does. Libraries of all cells of a device, as SciPy and CuPy, are among the machine's packages. None is loaded here.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from baselines.solvers import _amgx, petsc
from repro import Skip

ROOT = Path(__file__).resolve().parents[1]
TOOLKITS = ("CUDA_PATH", "CUDA_HOME")
#: Program for PETSc's own Python. To ask PETSc would start MPI, which may take long, or fail, where none measures.
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


def called(paths: Iterable[str]) -> dict[str, str]:
    """Return the libraries that modules name as theirs with their versions, empty where unknown.

    Parameters
    ----------
    paths : iterable of str
        Of modules below the root, as ``baselines/solvers/amgcl.py``.
    """
    return {name: version(name) for path in sorted(paths) for name in _named(ROOT / path)}


@functools.cache
def _named(path: Path) -> tuple[str, ...]:
    """Return what a module has in ``LIBRARIES``, without importing it."""
    for node in ast.parse(path.read_bytes()).body if path.suffix == ".py" else ():
        if isinstance(node, ast.Assign) and any(getattr(each, "id", "") == "LIBRARIES" for each in node.targets):
            return ast.literal_eval(node.value)
    return ()


@functools.cache
def version(library: str) -> str:
    """Return the version of a library that a rival would use here; empty where there is none, or it does not tell."""
    if library in ("PETSc", "hypre"):
        return _of_petsc().get(library, "")
    if library == "libCEED":
        from baselines.sem import libceed

        return libceed.version()
    if library == "AmgX":
        return _amgx.version()
    if library == "nvidia-cudss":
        return _package("nvidia-cudss-cu13", "nvidia-cudss-cu12")
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
    """The version of NVIDIA's wheel, which goes before a toolkit's; a toolkit's version is in the file's name."""
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
