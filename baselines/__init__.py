"""Rivals that a user would run instead: SciPy, CuPy, Numba; one folder a family, one file a rival."""

from __future__ import annotations

from importlib import metadata
from typing import NamedTuple

from repro import Skip


def _petsc() -> str:
    """Return the version of PETSc that is here, and the Python that it belongs to, which is another one."""
    from baselines.solvers import petsc

    try:
        found = petsc.find()
    except Skip:
        return ""
    return f"petsc4py {found.version} of {found.python}"


def _libceed() -> str:
    """Return the version of libCEED that is here: it is a library of C."""
    from baselines.sem import libceed

    return libceed.version()


def _amgx() -> str:
    """Return where AmgX's library is: it is in no package."""
    from baselines.solvers import _amgx

    return str(_amgx.path() or "")


# Remedies that a rival's own message has, apart from the rest: what a rival reads is in the keys of its measurements.
PETSC_REMEDY = "apt-get install python3-petsc4py-real"
AMGCL_REMEDY = (
    "apt-get install g++ libboost-dev, pip install pybind11 setuptools wheel, pip install --no-build-isolation pyamgcl"
)
# Rival, the package that brings it or a function that finds it, and what to do when it is missing.
PACKAGES = {
    "Numba loops": ("numba", "pip install numba"),
    "SciPy sparse": ("scipy", "pip install scipy"),
    "PyAMG": ("pyamg", "pip install pyamg"),
    "AMGCL": ("pyamgcl", AMGCL_REMEDY),
    "hypre through PETSc": (_petsc, PETSC_REMEDY),
    "libCEED": (_libceed, "install libCEED, and name its libceed.so by LIBCEED where the system does not find it"),
    "MKL": ("mkl", "on x86-64, make setup EXTRAS=mkl, or pip install mkl"),
    "CuPy sparse": (("cupy-cuda13x", "cupy-cuda12x"), "an NVIDIA GPU, and pip install 'cupy-cuda13x[ctk]'"),
    "AmgX": (_amgx, "an NVIDIA GPU, and AmgX built from its sources; AMGX_DIR is the folder of libamgxsh.so"),
    "cuDSS through nvmath": (
        ("nvidia-cudss-cu13", "nvidia-cudss-cu12"),
        "an NVIDIA GPU, and pip install nvidia-cudss-cu13",
    ),
    "cuSPARSE through nvmath": ("nvmath-python", "an NVIDIA GPU with a driver for CUDA 13, and make setup"),
}


class Survey(NamedTuple):
    """Whether a rival's package is installed: its version when it is, else what to do."""

    name: str
    available: bool
    detail: str
    remedy: str


def survey() -> list[Survey]:
    """Return, for each rival, whether its package is installed; imports none of them."""
    found = []
    for name, (packages, remedy) in PACKAGES.items():
        if callable(packages):
            installed = [detail] if (detail := packages()) else []
        else:
            packages = (packages,) if isinstance(packages, str) else packages
            installed = [f"{package} {version}" for package in packages if (version := _version(package))]
        found.append(
            Survey(name, bool(installed), ", ".join(installed) or "not installed", "" if installed else remedy)
        )
    return found


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
