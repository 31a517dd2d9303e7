"""Arrays kept on disk between runs: written whole or not at all, rebuilt when damaged, one builder at a time."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from repro.model import ReproError

log = logging.getLogger(__name__)


def folder() -> Path:
    """Return the folder of cached datasets: ``$REPRO_CACHE/datasets``, or in the user's cache folder."""
    root = os.environ.get("REPRO_CACHE")
    if root:
        return Path(root).expanduser() / "datasets"
    import platformdirs

    return platformdirs.user_cache_path("repro", appauthor=False) / "datasets"


def fetch(path: Path, build: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the arrays in `path`; when it is missing or damaged, build and write them first.

    Of several processes that want the same file one builds, the others wait for it.

    Raises
    ------
    ReproError
        When the folder cannot be written.
    """
    arrays = read(path)
    if arrays is None:
        with _locked(path):
            arrays = read(path)
            if arrays is None:
                arrays = build()
                _write(path, arrays)
    return arrays


def read(path: Path) -> dict[str, np.ndarray] | None:
    """Return the arrays in a file, None when it is not there or is damaged; its checksums are verified."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as problem:
        log.warning("%s is damaged (%s) and will be rebuilt", path, problem)
        return None


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl

    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path.with_suffix(".lock"), "w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with _writing(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or problem
        message = f"cannot write the cache {path.parent}: {reason}; set REPRO_CACHE to a folder with room"
        raise ReproError(message) from problem
