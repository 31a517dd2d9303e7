"""Watts: what devices are made for, from their own tables, and what they took, where that can be read."""

from __future__ import annotations

import ctypes
import os
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

from kernels.device.power import POWERCAP, Power

TABLE = Path(__file__).with_name("processors.toml")
VARIABLE = "REPRO_CPU_TDP"  # watts, where the processor does not say
HOST = SimpleNamespace(is_gpu=False, synchronize=lambda: None)  # the processor, to `Power`
SECONDS = {"smoke": 0.1, "small": 0.5, "paper": 0.5, "large": 1.0}  # of measuring energy


def record(run, who) -> None:
    """Record the thermal design power of what computed a cell, and the energy of a step where a counter can be read.

    `tdp` is the power, or the least of the range that a vendor gives, `tdp_most` its most; the parameter `source` says
    where they are from.
    """
    device = HOST if run.cell.backend == "host" else run.device
    found = card(device) if device.is_gpu else processor()
    if run.cell.parameters.get("assembly") != "host":  # two devices' work, and no counter of both
        energy = Power(device).measure(who, SECONDS[run.scale])
        if energy is not None:
            run.value("energy", energy.joules / who.steps, "J")
            run.value("power", energy.watts, "W")
    if found:
        low, high, source = found
        run.value("tdp", low, "W", source=source)
        run.value("tdp_most", high, "W", source=source)


def processor(cpuinfo: Path = Path("/proc/cpuinfo"), powercap: Path = POWERCAP) -> tuple[float, float, str] | None:
    """Return the thermal design power of this machine's processor, its least and most in watts, and where it is from.

    The user's word comes first, then the processor's own (RAPL's thermal specification), then the vendor's table by the
    family and model that the processor gives, a range: virtual machines hide the rest of its name.
    """
    if os.environ.get(VARIABLE):
        watts = float(os.environ[VARIABLE])
        return watts, watts, f"{VARIABLE}, the user's"
    packages = sorted(powercap.glob("intel-rapl:[0-9]/constraint_0_max_power_uw"))
    try:
        watts = sum(int(path.read_text()) for path in packages) * 1e-6
        if watts > 0:
            return watts, watts, "RAPL, thermal specification"
    except (OSError, ValueError):
        pass
    try:
        text = cpuinfo.read_text()
    except OSError:
        return None
    facts = dict(re.findall(r"^(vendor_id|cpu family|model)\s*:\s*(\S+)$", text, re.MULTILINE))
    for entry in tomllib.loads(TABLE.read_text())["processor"]:
        if (entry["vendor"], str(entry["family"]), str(entry["model"])) == (
            facts.get("vendor_id"), facts.get("cpu family"), facts.get("model"),
        ):  # fmt: skip
            low, high = entry["watts"]
            return float(low), float(high), f"{entry['title']}, vendor's {low} to {high} W"
    return None


def card(device) -> tuple[float, float, str] | None:
    """Return the default power limit of an NVIDIA GPU in watts, twice, and where it is from; None without NVML."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    handle, limit = ctypes.c_void_p(), ctypes.c_uint()
    if library.nvmlInit_v2() != 0 or device.backend != "cuda":
        return None
    bus = device.xp.cuda.Device(device.id).pci_bus_id.encode()
    if library.nvmlDeviceGetHandleByPciBusId_v2(bus, ctypes.byref(handle)) != 0:
        return None
    if library.nvmlDeviceGetPowerManagementDefaultLimit(handle, ctypes.byref(limit)) != 0:
        return None
    return limit.value * 1e-3, limit.value * 1e-3, "NVML, default limit"
