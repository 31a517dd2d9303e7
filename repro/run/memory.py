"""Memory that can be had: asked for before it is taken, so that a case too large is skipped and nothing is killed."""

import os
from pathlib import Path

from repro.model import Skip

MEMINFO, CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")
SHARE = 0.9  # of what is free that a case may take: allocators round up, and libraries keep workspaces


def host_available() -> float:
    """Return the bytes that this process can still take on the host, its control group's limit regarded.

    Infinity where the system does not say.
    """
    found = [_meminfo(), _cgroup(), _resource_limit()]
    return min((value for value in found if value is not None), default=float("inf"))


def _meminfo() -> float | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        return None


def _cgroup() -> float | None:
    """Of version 2, which gives 'max' where there is no limit; page cache counts as used there and can be had back."""
    try:
        limit, used = (CGROUP / "memory.max").read_text().strip(), int((CGROUP / "memory.current").read_text())
        pages = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        return None if limit == "max" else float(int(limit) - used + int(pages.get("inactive_file", 0)))
    except (OSError, ValueError):
        return None


def _resource_limit() -> float | None:
    """Of the address space, as ``ulimit -v`` sets it."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else float(limit - used)


def require(what: str, needed: float, available: float, where: str) -> None:
    """Raise `Skip`, with the sizes, if something does not fit.

    `needed`, `available`: bytes.
    """
    if needed > SHARE * available:
        free = max(0.0, available)
        raise Skip(f"{what} needs {needed / 1e9:.3g} GB of memory on {where}, where {free / 1e9:.3g} GB are free")
