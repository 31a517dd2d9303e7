"""Where a result comes from: commit, command, seed, versions, devices and their clocks, data and time."""

import functools
import os
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from repro.cache.hashing import VARIABLES
from repro.machine import fingerprint, host, nvidia

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ("OMP_", "POCL_", "CUDA_", "NUMBA_", "OPENBLAS_", "MKL_", "REPRO_")  # variables that change what is measured

ASKED_EVERY = 5.0  # seconds
#: Parts of a checkout that are code, for git.
CODE = (".", *(f":(exclude){path}" for path in ("results", "docs", "README.md", "CHANGELOG.md")))


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def revision(root: Path = ROOT) -> dict[str, Any]:
    """Return of what a measurement is: ``commit`` and ``dirty`` of the sources under `root`, and the ``host``.

    See `repro.machine.host`; it tells which cells of a cluster had one machine.
    """
    return {**_commit(root), "host": host()}


def _commit(root: Path) -> dict[str, Any]:
    """Return ``commit`` and ``dirty`` of the sources under `root`; both None outside a checkout of their own.

    The commit is the last that changed code: neither results nor what is written about them make a checkout dirty, or
    another one, so that a run that goes on after its first results were committed is of one commit. A copy of the
    sources inside another repository (a virtual environment in it, say) has no commit: the other's would be wrong.
    Whoever makes a copy without history or with a stale one, for a container or a compute node, says in the variable
    ``REPRO_COMMIT`` what it is a copy of; that goes before what git has.
    """
    if stated := os.environ.get("REPRO_COMMIT"):
        return {"commit": stated, "dirty": None}
    if not _is_top(root):
        return {"commit": None, "dirty": None}
    commit, changes = _status(root, int(time.monotonic() / ASKED_EVERY))
    if not commit or changes is None:  # git has failed, or there is no commit yet
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": bool(changes)}


@functools.lru_cache(maxsize=1)
def _status(root: Path, _period: int) -> tuple[str | None, str | None]:
    """Return the last commit of the code in a checkout, and what changed since; once a period: each cell asks."""
    return _git(root, "log", "-1", "--format=%H", "--", *CODE), _git(root, "status", "--porcelain", "--", *CODE)


@functools.cache
def _is_top(root: Path) -> bool:
    """Whether a folder is the top of a checkout; asked once: each cell asks for the commit."""
    top = _git(root, "rev-parse", "--show-toplevel")
    return bool(top) and Path(top).resolve() == root.resolve()


def collect(command: str, seed: int | None, data: Mapping[str, str], devices: list[Any]) -> dict[str, Any]:
    """Return the manifest of a result, as JSON values."""
    return {
        **_commit(ROOT),
        "command": command,
        "seed": seed,
        "collected": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": fingerprint(),
        "nvidia": nvidia(),
        "devices": devices,
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "environment": {
            key: os.environ[key] for key in sorted(os.environ) if key.startswith(SETTINGS) or key in VARIABLES
        },
        "data": dict(sorted(data.items())),
    }
