"""The harness's door to kernels, baselines and datasets: `experiments.environment`, loaded at first use.

The variable ``REPRO_ENVIRONMENT`` names another module, which is how the tests put a small one in its place.
The package that holds the environment module is also where artefacts are looked for.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from repro.model import ReproError


def module_name() -> str:
    """Return the dotted name of the environment module."""
    return os.environ.get("REPRO_ENVIRONMENT", "experiments.environment")


def experiments_folder() -> Path:
    """Return the folder of the package that holds the artefacts, without importing it.

    Raises `ReproError` if there is no such package.
    """
    return _folder_of(module_name().rpartition(".")[0] or "experiments")


@functools.cache
def _folder_of(package: str) -> Path:
    beside = str(Path(__file__).resolve().parents[1])
    spec = importlib.util.find_spec(package)
    if spec is None and beside not in sys.path:
        # `repro` may be importable on its own, as when one file of it is run; its siblings then are not.
        sys.path.append(beside)
        importlib.invalidate_caches()
        spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ReproError(f"there is no package {package!r} beside {beside}; run repro from a checkout of the project")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def root() -> Path:
    """Return the folder that holds the experiments, the kernels, the baselines and the datasets."""
    return experiments_folder().parent


def results_folder() -> Path:
    """Return where results go unless a command says otherwise: in the checkout; of an installed project, here."""
    folder = root()
    return (folder if (folder / "pyproject.toml").is_file() else Path.cwd()) / "results"


def load() -> ModuleType:
    """Import the environment module; an import error is turned into one line for the user."""
    experiments_folder()
    name = module_name()
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ReproError(f"{name} cannot be imported: {error}") from error


def device(backend: str) -> Any:
    """Open the device of a back end once per process; raises `Skip` when it is not there."""
    return _device(module_name(), backend)


@functools.cache
def _device(_module: str, backend: str) -> Any:
    return load().device(backend)


def presences() -> list:
    """Return what this machine has: devices, back ends, baselines and optional tools."""
    return list(load().presences())


def libraries(paths: Iterable[str]) -> dict[str, str]:
    """Return the libraries that modules call, by their paths below the root, with their versions, empty if unknown."""
    return load().libraries(paths)


def library(name: str) -> str:
    """Return the version of a library that is here now; empty where there is none, or it does not tell."""
    return load().library(name)


def keep_apart(folder: str) -> None:
    """Have this process keep in a folder what it finds and makes, but for the kernels of GPUs that it builds."""
    load().keep_apart(folder)


def building_seconds() -> float:
    """Return for how long, until now, kernels were built or waited for."""
    return load().building_seconds()


def begin_record() -> None:
    """Forget which kernels were launched, and note those that are launched from now on."""
    load().begin_record()


def recorded() -> dict[str, Any]:
    """Return the kernels that were launched since `begin_record`."""
    return load().recorded()


def record(launched: dict[str, Any]) -> None:
    """Note kernels that `recorded` returned as launched, too."""
    load().record(launched)


def described(launched: dict[str, Any]) -> dict[str, Any]:
    """Return of kernels that were launched the hashes of their texts and what they were built with, by name."""
    return load().described(launched)


def kernel_now(name: str, entry: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a kernel of `described` is now; None where it is gone."""
    return load().kernel_now(name, entry)


def launching(kernels: dict[str, Any]) -> list[str]:
    """Return the files that launch the kernels of `described`, by their paths below the root."""
    return load().launching(kernels)


def untraced() -> tuple[str, ...]:
    """Return the folders whose code counts by `launching` and `described` alone."""
    return load().UNTRACED


def ceiling_kernels(clock: Any) -> Iterable:
    """Return the streaming and arithmetic probes of a device, one at a time: each may hold much memory."""
    backend = getattr(clock, "backend", "host")
    return load().host_probes() if backend == "host" else load().device_probes(clock)


def dataset(name: str, scale: str, override: str | None = None) -> Any:
    """Return a dataset of the catalogue, or the user's own file in its place."""
    return load().dataset(name, scale, override)


def dataset_key(name: str, scale: str, override: str | None = None) -> str:
    """Return what identifies a dataset without building it: a hash of its recipe or of the user's file."""
    return load().dataset_key(name, scale, override)


def dataset_packages(name: str) -> tuple[str, ...]:
    """Return what a dataset's key depends on beside the code of the tree, as packages that mesh."""
    return load().dataset_packages(name)


def dataset_digest(name: str, scale: str, override: str | None = None) -> str:
    """Return the SHA-256 of a dataset's content."""
    return load().dataset_digest(name, scale, override)


def dataset_cost(name: str, scale: str) -> tuple[float, float]:
    """Return about how many seconds it takes to build a dataset, and how many bytes at the peak."""
    return load().dataset_cost(name, scale)


def catalogue() -> list:
    """Return the datasets there are, as catalogue entries."""
    return list(load().catalogue())
