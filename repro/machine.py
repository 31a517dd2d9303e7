"""Facts of this machine: processor, memory, system, packages and NVIDIA devices. Standard library only."""

import ctypes
import hashlib
import os
import platform
import re
import socket
import subprocess
import sys
import time
import uuid
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "numpy", "scipy", "pandas", "matplotlib", "pyopencl", "pocl-binary-distribution", "intel-opencl-rt", "cupy",
    "cupy-cuda12x", "cupy-cuda13x", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12",
)  # fmt: skip
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_CPUINFO = Path("/proc/cpuinfo")
_MACHINE_ID = Path("/etc/machine-id")
#: Numbers that tell a processor's generation where its name does not, on x86-64 and on Arm, as Linux calls them.
_NUMBERS = {"cpu family": "family", "model": "model", "CPU implementer": "implementer", "CPU part": "part"}
_RANDOM_NODE = 1 << 40  # the bit that `uuid.getnode` sets in an address that it made up, another in each process


def _cpuinfo(names: str) -> str:
    """Return the first value in /proc/cpuinfo of any of some names, a regular expression; empty where it has none."""
    try:
        text = _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # elsewhere than on Linux
        return ""
    found = re.search(rf"^(?:{names})[ \t]*:[ \t]*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


@lru_cache(maxsize=1)
def cpu_told() -> str:
    """Return the processor's name as the system gives it."""
    told = _cpuinfo("model name|Processor|cpu model") or (_brand() if sys.platform == "darwin" else "")
    return told or platform.processor() or platform.machine() or "unknown processor"


@lru_cache(maxsize=1)
def cpu_model() -> str:
    """Return the processor's name, which tells its model: see `processor`."""
    return processor(cpu_told()) or cpu_told()


def named(device: str) -> str:
    """Return a device's name with this machine's processor by its model, where the system's name of it is a part."""
    return device if cpu_model() in device else device.replace(cpu_told(), cpu_model())


def _brand() -> str:
    """Return the name that macOS has of the processor, as ``Apple M2``; empty where it has none."""
    command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def processor(name: str) -> str:
    """Return a processor's name without ornaments, with its family and model where it has no model number.

    A virtual machine says ``AMD EPYC`` of every generation: on one it is ``AMD EPYC family 26 model 2``.
    """
    bare = re.sub(r"(?i)\((r|tm|c)\)|\bcpu\b|\bprocessor\b|@.*$|\d+-core", " ", name)
    words = bare.split()
    if not any(re.search(r"\d[0-9A-Za-z]{2}|^M\d", word) for word in words):
        numbers = {word: _cpuinfo(re.escape(told)) for told, word in _NUMBERS.items()}
        words += [f"{word} {number}" for word, number in numbers.items() if number]
    return " ".join(words)


def cores() -> int:
    """Return the cores that this process may run on, which a container or an affinity mask may limit."""
    if hasattr(os, "process_cpu_count"):
        available = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        available = len(os.sched_getaffinity(0))
    else:
        available = os.cpu_count()
    quota = _cgroup_cores()
    return max(1, min(available or 1, quota or sys.maxsize))


def _cgroup_cores(path: Path = Path("/sys/fs/cgroup/cpu.max")) -> int | None:
    """Return the whole cores that a control group grants, None without a limit."""
    try:
        quota, period = path.read_text().split()[:2]
        return max(1, int(quota) // int(period))
    except (OSError, ValueError):
        return None


def memory_bytes() -> int | None:
    """Return the size of the main memory; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def last_level_cache_bytes() -> int:
    """Return the size of the largest cache of the first core; 64 MiB where the system does not say."""
    sizes = [64 << 20] if not _CACHES.is_dir() else []
    for path in _CACHES.glob("index*/size"):
        found = re.match(r"(\d+)([KMG]?)", path.read_text())
        if found:
            sizes.append(int(found.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30}[found.group(2)])
    return max(sizes, default=64 << 20)


def package_versions() -> dict[str, str]:
    """Return the versions of the installed packages that a measurement may depend on, without importing them."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


MOST_PROCESSES = 64  # on a card, that are told apart


class _Process(ctypes.Structure):
    _fields_ = (("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("slice", ctypes.c_uint),
                ("part", ctypes.c_uint))  # fmt: skip


class _Use(ctypes.Structure):
    _fields_ = (("pid", ctypes.c_uint), ("stamp", ctypes.c_ulonglong), ("multiprocessors", ctypes.c_uint),
                ("memory", ctypes.c_uint), ("encoder", ctypes.c_uint), ("decoder", ctypes.c_uint))  # fmt: skip


class Nvml:
    """The few read-only queries of NVIDIA's management library that others here and `repro.run.state` need."""

    clocks = (("graphics", 0), ("sm", 1), ("memory", 2))

    def __init__(self, library: ctypes.CDLL):
        self.library = library

    def text(self, function: str, *arguments: Any) -> str | None:
        buffer = ctypes.create_string_buffer(256)
        status = getattr(self.library, function)(*arguments, buffer, ctypes.c_uint(len(buffer)))
        return buffer.value.decode(errors="replace") if status == 0 else None

    def slices(self, card: ctypes.c_void_p) -> list[ctypes.c_void_p] | None:
        """Return the MIG devices of a card; None of a card that is whole."""
        current, pending, count = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
        mode = getattr(self.library, "nvmlDeviceGetMigMode", None)  # drivers before 450 have none
        if mode is None or mode(card, ctypes.byref(current), ctypes.byref(pending)) != 0 or not current.value:
            return None
        self.library.nvmlDeviceGetMaxMigDeviceCount(card, ctypes.byref(count))
        handles = [ctypes.c_void_p() for _ in range(count.value)]
        get = self.library.nvmlDeviceGetMigDeviceHandleByIndex
        return [each for k, each in enumerate(handles) if get(card, ctypes.c_uint(k), ctypes.byref(each)) == 0]

    def number(self, function: str, *arguments: Any, kind: type = ctypes.c_uint) -> int | None:
        value = kind()
        status = getattr(self.library, function)(*arguments, ctypes.byref(value))
        return value.value if status == 0 else None

    def long_number(self, function: str, *arguments: Any) -> int | None:
        return self.number(function, *arguments, kind=ctypes.c_ulonglong)

    def processes(self, device: ctypes.c_void_p) -> set[int] | None:
        """Return the numbers of the processes that hold a device to compute; None where that is not told."""
        found, count = (_Process * MOST_PROCESSES)(), ctypes.c_uint(MOST_PROCESSES)
        get = getattr(self.library, "nvmlDeviceGetComputeRunningProcesses_v3", None)  # drivers before 510 have none
        if get is None or get(device, ctypes.byref(count), found) != 0:
            return None
        return {each.pid for each in found[: count.value]}

    def computing(self, device: ctypes.c_void_p) -> set[int] | None:
        """Return the processes that computed in the last second, by number; None where not told, as of slices."""
        found, count = (_Use * MOST_PROCESSES)(), ctypes.c_uint(MOST_PROCESSES)
        get = getattr(self.library, "nvmlDeviceGetProcessUtilization", None)
        since = ctypes.c_ulonglong(int((time.time() - 1) * 1e6))
        if get is None or get(device, found, ctypes.byref(count), since) != 0:
            return None
        return {each.pid for each in found[: count.value] if each.multiprocessors}

    def memory(self, device: ctypes.c_void_p) -> int | None:
        sizes = (ctypes.c_ulonglong * 3)()
        return sizes[0] if self.library.nvmlDeviceGetMemoryInfo(device, sizes) == 0 else None

    def handles(self) -> list[ctypes.c_void_p]:
        """Return what a process can use: the cards, or where these are cut into slices the one slice that CUDA takes.

        CUDA takes the slice that ``CUDA_VISIBLE_DEVICES`` names, else the first. The cards are the ones that the
        variable names, if it names any.
        """
        cards = [ctypes.c_void_p() for _ in range(self.number("nvmlDeviceGetCount_v2") or 0)]
        get = self.library.nvmlDeviceGetHandleByIndex_v2
        cards = self._visible([each for k, each in enumerate(cards) if get(ctypes.c_uint(k), ctypes.byref(each)) == 0])
        parts = [self.slices(card) for card in cards]
        cut = [each for part in parts for each in part or ()]
        named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        if asked := [each for each in cut if (uuid_ := self.text("nvmlDeviceGetUUID", each)) and uuid_ in named]:
            return asked[:1]
        whole = [card for card, part in zip(cards, parts, strict=True) if part is None]
        return whole or cut[:1]

    def _visible(self, cards: list[ctypes.c_void_p]) -> list[ctypes.c_void_p]:
        """Return the cards that ``CUDA_VISIBLE_DEVICES`` names by number or UUID; all where it names none.

        CUDA counts cards of several kinds by speed, unless ``CUDA_DEVICE_ORDER`` has it count as this library does.
        """
        names = {self.text("nvmlDeviceGetName", card) for card in cards}
        in_order = len(names) == 1 or os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
        told: dict[str, ctypes.c_void_p] = {str(k): card for k, card in enumerate(cards) if in_order}
        told |= {uuid_: card for card in cards if (uuid_ := self.text("nvmlDeviceGetUUID", card))}
        named = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        return [told[each.strip()] for each in named if each.strip() in told] or cards

    def device(self, handle: ctypes.c_void_p) -> dict[str, Any]:
        facts: dict[str, Any] = {"name": self.text("nvmlDeviceGetName", handle), "memory_bytes": self.memory(handle)}
        for name, kind in self.clocks:
            facts[f"{name}_mhz"] = self.number("nvmlDeviceGetClockInfo", handle, kind)
            facts[f"{name}_mhz_max"] = self.number("nvmlDeviceGetMaxClockInfo", handle, kind)
        return {key: value for key, value in facts.items() if value is not None}


def management() -> Nvml | None:
    """Return NVIDIA's management library, opened; None without an NVIDIA driver."""
    for name in ("libnvidia-ml.so.1", "nvml.dll"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        if library.nvmlInit_v2() == 0:  # else the library without a driver
            return Nvml(library)
    return None


def nvidia() -> dict[str, Any]:
    """Return driver and devices, with clocks as they are now; an empty dictionary without an NVIDIA driver.

    Returns
    -------
    dict
        ``driver`` (str) and ``gpus``, a list of dictionaries with ``name``, ``memory_bytes`` and clocks in MHz.
    """
    nvml = management()
    if nvml is None:
        return {}
    try:
        gpus = [nvml.device(handle) for handle in nvml.handles()]
        return {"driver": nvml.text("nvmlSystemGetDriverVersion"), "gpus": gpus} if gpus else {}
    finally:
        nvml.library.nvmlShutdown()


@lru_cache(maxsize=1)
def fingerprint() -> dict[str, Any]:
    """Return what of this machine a measurement depends on, as JSON values that do not change from call to call.

    ``cpu``, ``cores`` (those this process may use), ``memory_bytes``, ``system``, ``python``, ``packages``, and with an
    NVIDIA driver ``gpu`` (the names) and ``driver``.
    """
    facts: dict[str, Any] = {
        "cpu": cpu_model(), "cores": cores(), "memory_bytes": memory_bytes(),
        "system": f"{platform.system()} {platform.release()}", "architecture": platform.machine(),
        "python": platform.python_version(), "packages": package_versions(),
    }  # fmt: skip
    found = nvidia()
    if found:
        facts["gpu"] = [gpu.get("name", "") for gpu in found["gpus"]]
        facts["driver"] = found["driver"]
    return facts


@lru_cache(maxsize=1)
def host() -> str:
    """Return a token that two cells share which this very machine measured between two boots; it names no machine.

    Containers have one boot, as they have one processor, whatever hosts they call themselves.
    """
    try:
        told = _BOOT.read_text().strip()
    except OSError:  # elsewhere than on Linux
        told = f"{socket.gethostname()} {uuid.getnode()}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


@lru_cache(maxsize=1)
def identity() -> str:
    """Return a token of this host that stays when it is booted anew; it names no machine.

    Of its machine id or, without one, its name and the address of its network card, and of its processor, all of its
    cores and its GPUs.
    """
    try:
        told = _MACHINE_ID.read_text().strip()
    except OSError:
        told = ""
    if len(told) != 32:  # none, or an image's "uninitialized"
        node = uuid.getnode()
        told = socket.gethostname() + ("" if node & _RANDOM_NODE else f" {node}")
    facts = fingerprint()
    words = [told, facts["cpu"], str(os.cpu_count()), *facts.get("gpu", ())]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:12]


def slug(text: str) -> str:
    """Return lower-case letters, digits and single hyphens: a name for a folder."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def default_name() -> str:
    """Return a short name for this machine's folder of results: the GPU's, else the processor's and its cores.

    ``NVIDIA H200`` is ``h200``, a seventh of one ``h200-mig-1g-18gb``; ``Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz`` on
    2 cores is ``intel-xeon-e5-2690-v4-2-cores``; what is no more than ``AMD EPYC`` is
    ``amd-epyc-family-26-model-2-2-cores``.
    """
    facts = fingerprint()
    if facts.get("gpu"):
        name = slug(re.sub(r"(?i)nvidia|geforce|tesla|graphics device", " ", facts["gpu"][0]))
        more = len(facts["gpu"])
        return (name or "nvidia") + (f"-x{more}" if more > 1 else "")
    name = slug(facts["cpu"]) or "cpu"
    return f"{name}-{facts['cores']}-core{'s' if facts['cores'] != 1 else ''}"
