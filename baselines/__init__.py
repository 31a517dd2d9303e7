"""What a user would run instead: SciPy, CuPy, Numba; one folder a family, one file a rival."""

from __future__ import annotations

from importlib import metadata
from typing import NamedTuple

# Rival, the package that brings it, and what to do when it is missing.
PACKAGES = {
    "Numba loops": ("numba", "pip install numba"),
    "SciPy sparse": ("scipy", "pip install scipy"),
    "PyAMG": ("pyamg", "pip install pyamg"),
    "CuPy sparse": (("cupy-cuda13x", "cupy-cuda12x"), "an NVIDIA GPU, and pip install 'cupy-cuda13x[ctk]'"),
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
