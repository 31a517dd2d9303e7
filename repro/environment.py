"""The harness's door to kernels, baselines and datasets: `experiments.environment`, loaded at first use.

The variable ``REPRO_ENVIRONMENT`` names another module, which is how the tests put a small one in its place.
The package that holds the environment module is also where artefacts are looked for.
"""

import functools
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from repro import machine
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
    opened = load().device(backend)
    opened.name = machine.named(opened.name)
    return opened


def untraced() -> tuple[str, ...]:
    """Return the folders and files whose code counts by `launching` and `described` alone."""
    return load().UNTRACED


def ceiling_kernels(clock: Any) -> Iterable:
    """Return the streaming and arithmetic probes of a device, one at a time: each may hold much memory."""
    backend = getattr(clock, "backend", "host")
    return load().host_probes() if backend == "host" else load().device_probes(clock)


def __getattr__(name: str) -> Any:
    """Return a function of the environment module, which documents it, as `dataset_key` or `presences`."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(load(), name)
