"""The state of what is measured on, read beside the samples: a card's by NVML, a processor's by the system's counts.

Samples are disturbed when the card slowed down for heat or power supply, when its clock fell though its own load was
not the cause, when another process computed on it, or when threads lost their cores. A clock that the power cap holds
down is no disturbance: the load itself draws the power.
"""

import contextlib
import functools
import multiprocessing
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from repro.machine import management
from repro.run import pace

#: Bits of NVML's throttle reasons.
POWER_CAP = 0x4
SLOWDOWNS = {0x8: "hardware slowdown", 0x20: "heat", 0x40: "heat (hardware)", 0x80: "power brake"}
CLOCK_DROP = 0.05  # of the highest clock of the session
#: Times a second of computing that a program loses a core beside another that computes, or where a cell has more
#: threads that compute than there are cores; alone it is fewer.
LOST_CORES = 25.0
#: Losses of a core that disturb nothing, of however little computing: of a few milliseconds `LOST_CORES` is less than
#: one, so the first loss of a quiet thread would count. Where it took long, `repro.run.guard` sees that the sample is
#: far above its neighbours.
FORGIVEN = 1
LOST = "threads lost their cores"
#: Seconds of looking for threads that still spin, of a look, and the part of a look's time that they compute at least.
SETTLING, LOOK, SPINNING = 1.0, 0.01, 0.2
ON_CORES = ("host", "openmp")  # back ends whose work is this process's own threads'
_STAT, _NODES = Path("/proc/stat"), Path("/sys/devices/system/node")


class Unwatched:
    """A clock of which nothing is known."""

    loses_slices = False  # whether a sample far above its neighbours is the scheduler's

    def settle(self) -> None:
        """Return when what was called before no longer takes from the device."""

    def read(self) -> dict[str, float]:
        """Return what can be told in a few microseconds."""
        return {}

    def disturbance(self, before: dict[str, float], after: dict[str, float]) -> str:
        """Return what disturbed the samples between two readings; empty when nothing did."""
        return ""

    def slowly(self) -> dict[str, float]:
        """Return what takes longer to read or changes slowly: it is read once before all samples, once after them."""
        return {}

    def look(self) -> float | None:
        """Return the seconds of a job that is always the same, see `repro.run.pace`; None where there is none."""
        return None

    def factors(self, seconds: float) -> tuple[float, float]:
        """Return the factors from a time beside such jobs to the same at the quickest pace and at a slow one."""
        return 1.0, 1.0


class Cores(Unwatched):
    """A processor, of which the pace of its cores is known unless it is not asked for."""

    def __init__(self, paced: bool = True):
        self._pace = pace.of_cores() if paced else None

    def look(self) -> float | None:
        return self._pace.look() if self._pace else None

    def factors(self, seconds: float) -> tuple[float, float]:
        self._pace.keep()  # all looks at what is timed have been made
        return self._pace.factors(seconds)


class Processor(Cores):
    """The processor, for what this process's own threads compute."""

    loses_slices = True

    def __init__(self, paced: bool = True):
        import resource

        super().__init__(paced)
        self._usage = functools.partial(resource.getrusage, resource.RUSAGE_SELF)

    def settle(self) -> None:
        """Return when no thread of this process computes any longer, or after `SETTLING` seconds.

        Threads of a library spin for its next call: OpenBLAS's a tenth of a second, Intel's OpenMP two tenths. A check
        by NumPy or a rival before this one would take cores from what is timed.
        """
        begun = time.monotonic()
        while time.monotonic() - begun < SETTLING:
            computed, looked = time.process_time(), time.monotonic()
            time.sleep(LOOK)
            if time.process_time() - computed < SPINNING * (time.monotonic() - looked):
                return

    def read(self) -> dict[str, float]:
        usage = self._usage()
        return {"switches": usage.ru_nivcsw, "computed": usage.ru_utime + usage.ru_stime}

    def disturbance(self, before: dict[str, float], after: dict[str, float]) -> str:
        lost = after["switches"] - before["switches"]
        allowed = FORGIVEN + LOST_CORES * (after["computed"] - before["computed"])
        return LOST if lost > allowed else ""

    def slowly(self) -> dict[str, float]:
        """Return the seconds that cores were busy and were withheld by the hypervisor, since the system started.

        Of the cores that this process may use, as another run may have others. And how many of this process's threads
        are bound to fewer cores than those, and how many are kept to all of a NUMA node's.
        """
        try:
            with _STAT.open() as stream:
                lines = [line.split() for line in stream]
            own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
            counted = [[int(word) for word in words[1:9]] for words in lines if words[0] in own]
            ticks = [sum(each) for each in zip(*counted, strict=True)]
        except (OSError, ValueError, AttributeError):  # elsewhere than on Linux
            return {}
        if len(ticks) < 8:
            return {}
        user, nice, system, _, _, interrupt, soft, steal = ticks
        tick = os.sysconf("SC_CLK_TCK")
        busy = (user + nice + system + interrupt + soft) / tick
        return {"busy": busy, "steal": steal / tick, "at": time.monotonic(), **_bound()}


def _bound() -> dict[str, int]:
    """Return how many threads of this process may use fewer cores than its first.

    ``kept`` are threads that may use all cores of a NUMA node, as the project's own may, ``bound`` the others.
    """
    every, found = os.sched_getaffinity(os.getpid()), {"bound": 0, "kept": 0}
    nodes = [every & {int(link.name[3:]) for link in node.glob("cpu[0-9]*")} for node in _NODES.glob("node[0-9]*")]
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has ended
            if (own := os.sched_getaffinity(int(thread))) < every:
                found["kept" if any(node and node <= own for node in nodes) else "bound"] += 1
    return found


class Card(Unwatched):
    """A GPU, or a slice of one, by NVML; what the library does not tell of it is left out."""

    def __init__(self, nvml: Any, handle: Any):
        self._nvml, self._handle = nvml, handle
        self._best = 0.0
        self._own: int | None = None

    def read(self) -> dict[str, float]:
        number = self._nvml.number
        found = {
            "sm_mhz": number("nvmlDeviceGetClockInfo", self._handle, 1),
            "memory_mhz": number("nvmlDeviceGetClockInfo", self._handle, 2),
            "reasons": self._nvml.long_number("nvmlDeviceGetCurrentClocksThrottleReasons", self._handle),
            "others": self._others(),
        }
        known = {name: value for name, value in found.items() if value is not None}
        self._best = max(self._best, known.get("sm_mhz", 0.0))
        return known

    def _others(self) -> int | None:
        """Return how many other processes compute on the card, or may: where their use is not told, all that hold it.

        Where the card's list has not this process by the number that it knows itself by, as in a container, one of
        those on the list is this process.
        """
        listed = self._nvml.processes(self._handle)
        if listed is None:
            return None
        others = {pid for pid in listed if not _is_of_this_run(pid)}
        if len(others) <= (unknown := int(len(others) == len(listed))):
            return 0
        computing = self._nvml.computing(self._handle)
        return max(0, len(others if computing is None else others & computing) - unknown)

    def disturbance(self, before: dict[str, float], after: dict[str, float]) -> str:
        reasons = int(before.get("reasons", 0)) | int(after.get("reasons", 0))
        for bit, why in SLOWDOWNS.items():
            if reasons & bit:
                return f"the card slowed down: {why}"
        if before.get("others") or after.get("others"):
            return "another process computed on the card"
        clock = min(before.get("sm_mhz", self._best), after.get("sm_mhz", self._best))
        if clock < (1 - CLOCK_DROP) * self._best and not reasons & POWER_CAP:
            return "the card's clock fell"
        return ""

    def slowly(self) -> dict[str, float]:
        number = self._nvml.number
        found = {
            "milliwatts": number("nvmlDeviceGetPowerUsage", self._handle),
            "milliwatts_cap": number("nvmlDeviceGetEnforcedPowerLimit", self._handle),
            "celsius": number("nvmlDeviceGetTemperature", self._handle, 0),
            "mig": number("nvmlDeviceIsMigDeviceHandle", self._handle),
        }
        return {name: value for name, value in found.items() if value is not None}


def _is_of_this_run(pid: int) -> bool:
    """Return whether a process is this one, its child, or the run's, which computes for figures meanwhile."""
    run = multiprocessing.parent_process()
    if pid == os.getpid() or (run and pid == run.pid):
        return True
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return int(status.rpartition(")")[2].split()[1]) == os.getpid()


def watch(clock: Any, paced: bool = True) -> Unwatched:
    """Return what reads the state of a clock's device; one for each device, so that it knows the best clock so far.

    `paced`: with the pace of a processor's cores.
    """
    backend = getattr(clock, "backend", "")
    return _watch(clock.name, backend, bool(getattr(clock, "is_gpu", False)), paced)


@functools.cache
def _watch(name: str, backend: str, is_gpu: bool, paced: bool) -> Unwatched:
    if backend in ON_CORES and os.name == "posix":
        return Processor(paced)
    if backend == "opencl" and not is_gpu:
        return Cores(paced)
    if is_gpu and (nvml := management()) is not None:
        for handle in nvml.handles():
            if nvml.text("nvmlDeviceGetName", handle) == name:
                return Card(nvml, handle)
    return Unwatched()


def summary(readings: Iterable[dict[str, float]], slow: tuple[dict[str, float], dict[str, float]]) -> dict[str, Any]:
    """Return what a round keeps: of each quantity the least, the most and the last; of counts what came about."""
    found: dict[str, list[float]] = {}
    for reading in [*readings, *slow]:
        for name, value in reading.items():
            found.setdefault(name, []).append(value)
    counters = ("switches", "computed", "busy", "steal", "at")
    told = {name: round(values[-1] - values[0], 3) for name, values in found.items() if name in counters}
    for name, values in found.items():
        if name == "reasons":
            told[name] = functools.reduce(lambda one, other: one | other, map(int, values))
        elif name not in counters:
            told[name] = [min(values), max(values), values[-1]]
    if "at" in told:
        took = told.pop("at")
        told["cores_of_others"] = round(max(0.0, told["busy"] - told["computed"]) / took, 2) if took else 0.0
        told["cores"] = round(told["computed"] / took, 2) if took else 0.0
    return told
