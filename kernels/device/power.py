"""Energy and power of repeated device work, from the counters that the hardware keeps.

An NVIDIA GPU is read through its management library (NVML, which comes with the driver), as `nvidia-smi` reads it; a
processor through the kernel's powercap files (RAPL), which often only the administrator may read. Both counters are of
the whole card or package, idle power and other work on it included, and both move a few times to a few tens of times
a second, so that work is repeated until a reading spans many of their steps. Nothing is ever set.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")
LIBRARIES = ("libnvidia-ml.so.1", "nvml.dll")


@dataclass(frozen=True)
class Energy:
    """The cost of a call.

    Attributes
    ----------
    joules : float
        A call.
    watts : float
        Mean over all calls.
    seconds : float
        A call, by the host's clock, launches and gaps included.
    calls : int
        Over which the means are.
    """

    joules: float
    watts: float
    seconds: float
    calls: int


class Power:
    """The energy counter of a device.

    Parameters
    ----------
    device : kernels.device.Device

    Attributes
    ----------
    missing : str
        Why there is no counter to read; empty when there is one.
    source : str
        Counter that is read, for tables and manifests.
    """

    def __init__(self, device):
        self.device, self.missing, self.source = device, "", ""
        self._joules: Callable[[], float] | None = None
        try:
            self._joules, self.source = _nvml(device) if device.is_gpu else _powercap()
        except _Missing as reason:
            self.missing = str(reason)

    def measure(self, function: Callable[[], object], seconds: float = 1.0) -> Energy | None:
        """Return the mean cost of a call of `function`, which enqueues work, or None where nothing can be read.

        Parameters
        ----------
        function : callable
            Called at least twice, and until `seconds` have passed.
        seconds : float, optional
            GPUs renew their counter some tens of times a second at most: shorter samples tell little.
        """
        if self._joules is None:
            return None
        synchronize = self.device.synchronize
        function()
        synchronize()
        start = time.perf_counter()
        function()
        synchronize()
        batch = max(1, int(0.05 / max(time.perf_counter() - start, 1e-7)))
        calls, before, start = 0, self._joules(), time.perf_counter()
        while True:
            for _ in range(batch):
                function()
            synchronize()
            calls += batch
            elapsed = time.perf_counter() - start
            if elapsed >= seconds:
                break
        joules = self._joules() - before
        return Energy(joules / calls, joules / elapsed, elapsed / calls, calls)


class _Missing(Exception):
    """A counter is not there, or may not be read."""


def _nvml(device):
    """Return what reads a GPU's energy in joules, and its name."""
    library = None
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    if library is None:
        raise _Missing("no NVIDIA management library (NVML) is here to read this GPU's power")
    handle = ctypes.c_void_p()
    _check(library.nvmlInit_v2(), "nvmlInit")
    status = library.nvmlDeviceGetHandleByPciBusId_v2(_bus(device).encode(), ctypes.byref(handle))
    _check(status, "nvmlDeviceGetHandleByPciBusId")
    reading = ctypes.c_ulonglong()

    def joules() -> float:
        _check(library.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(reading)), "NVML's energy counter")
        return reading.value * 1e-3

    joules()
    return joules, "NVML: total energy of the card"


def _bus(device) -> str:
    """Return where a GPU is plugged in, by which NVIDIA's library knows it, however many others there are."""
    if device.backend == "cuda":
        return device.xp.cuda.Device(device.id).pci_bus_id
    try:
        found = device.queue.device
        domain, bus, slot = found.pci_domain_id_nv, found.pci_bus_id_nv, found.pci_slot_id_nv
    except (AttributeError, device.cl.Error):  # not NVIDIA's, or an old driver
        raise _Missing(f"OpenCL does not tell where {device.name} is plugged in") from None
    return f"{domain:08X}:{bus:02X}:{slot >> 3:02X}.{slot & 7}"


def _check(status: int, what: str) -> None:
    if status:
        raise _Missing(f"{what} is refused (NVML status {status})")


def _powercap(folder: Path | None = None):
    """Return what reads the energy of all processor packages in joules, and its name."""
    packages = sorted((folder or POWERCAP).glob("intel-rapl:[0-9]"))  # AMD's processors appear under this name too
    if not packages:
        raise _Missing("this machine shows no energy counter of its processors (powercap/RAPL)")
    try:
        ranges = [int((package / "max_energy_range_uj").read_text()) for package in packages]
        last = [int((package / "energy_uj").read_text()) for package in packages]
    except OSError as error:
        raise _Missing(f"the processors' energy counters may not be read: {error}") from None
    total = [0]

    def joules() -> float:
        for k, package in enumerate(packages):
            now = int((package / "energy_uj").read_text())
            total[0] += (now - last[k]) % (ranges[k] + 1)  # the counter wraps
            last[k] = now
        return total[0] * 1e-6

    return joules, "RAPL: energy of the processor packages"
