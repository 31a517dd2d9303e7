"""Facts about the processor that the CPU back ends need, and memory aligned for it."""

from __future__ import annotations

import functools
import os
import platform
from pathlib import Path

import numpy as np

QUOTA = Path("/sys/fs/cgroup/cpu.max")
NODES = Path("/sys/devices/system/node")
ALIGNMENT = 64  # bytes: a cache line, and the widest vector


@functools.cache
def _first_processor() -> dict[str, str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def name() -> str:
    """Return the processor's name."""
    return _first_processor().get("model name") or platform.processor() or platform.machine()


def identity() -> str:
    """Return what code built for this very processor depends on: its architecture, name and instruction sets."""
    cpu = _first_processor()
    return " ".join((platform.machine(), name(), cpu.get("flags", cpu.get("Features", ""))))


def cores() -> int:
    """Return the logical cores that this process may use, which an affinity mask or a control group may limit."""
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = QUOTA.read_text().split()[:2]
        return max(1, min(found, int(quota) // int(period)))
    except (OSError, ValueError):  # no limit
        return found


def threads() -> int:
    """Return how many threads are wanted: ``OMP_NUM_THREADS``, as for other programs, else the cores."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(asked) if asked.isdigit() and int(asked) else cores()


def nodes() -> list[set[int]]:
    """Return the CPUs that this process may use, by the NUMA node that they belong to; none where none is told."""
    if not hasattr(os, "sched_getaffinity"):
        return []
    own, found = os.sched_getaffinity(0), []
    try:
        for path in sorted(NODES.glob("node[0-9]*/cpulist"), key=lambda path: int(path.parent.name[4:])):
            ranges = [part.split("-") for part in path.read_text().strip().split(",") if part]
            found.append(own & {cpu for ends in ranges for cpu in range(int(ends[0]), int(ends[-1]) + 1)})
    except (OSError, ValueError):  # a container may hide them
        return []
    return [cpus for cpus in found if cpus]  # a node may have memory alone


def domains() -> str:
    """Return in words how many NUMA nodes the CPUs that this process may use belong to."""
    count = len(nodes())
    return {0: "NUMA not told", 1: "one NUMA node"}.get(count, f"{count} NUMA nodes")


def memory_bytes() -> int:
    """Return the size of the main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@functools.cache
def cache_bytes() -> int:
    """Return the size of the last-level caches together, 32 MiB where the system does not say."""
    largest: dict[str, tuple[int, int]] = {}
    for index in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cache/index*"):
        try:
            level = int((index / "level").read_text())
            size = (index / "size").read_text().strip()
            shared = (index / "shared_cpu_list").read_text().strip()
        except (OSError, ValueError):
            continue
        if size.endswith("K"):
            largest[f"{level} {shared}"] = (level, int(size[:-1]) * 1024)
    top = max((level for level, _ in largest.values()), default=0)
    return sum(size for level, size in largest.values() if level == top) or 32 << 20


def aligned_empty(shape, dtype) -> np.ndarray:
    """Return an uninitialised NumPy array that starts on a cache line."""
    return _aligned(np.empty, shape, np.dtype(dtype))


def aligned_zeros(shape, dtype) -> np.ndarray:
    """Return a NumPy array of zeros that starts on a cache line, its pages not yet touched."""
    return _aligned(np.zeros, shape, np.dtype(dtype))


def _aligned(make, shape, dtype) -> np.ndarray:
    count = int(np.prod(shape, dtype=np.int64))
    # Of the array's own type: of what looks like a small part of another array SciPy's matrices make a copy.
    memory = make(count + ALIGNMENT // dtype.itemsize, dtype)
    offset = -memory.ctypes.data % ALIGNMENT // dtype.itemsize
    return memory[offset : offset + count].reshape(shape)
