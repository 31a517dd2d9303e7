"""What a machine allows: the measured ceilings of ours, the vendors' peaks of the papers', and the fraction reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from repro.judge.roofs import Roof
from repro.published import ROOT, hardware
from repro.units import is_time, split

DOUBLE = "float64"  # the precision of what states none

EVERYTHING = 1e15  # bytes: more than any cache holds, so that the bandwidth is the memory's


@dataclass(frozen=True)
class Peak:
    """What a device can do at most.

    Attributes
    ----------
    name : str
    bandwidth : float
        Of its memory, bytes a second.
    rates : mapping of str to float
        Floating-point operations a second by precision.
    gpu : bool
    """

    name: str
    bandwidth: float
    rates: Mapping[str, float] = field(default_factory=dict)
    gpu: bool = False


@cache
def of_paper(paper: str, root: Path = ROOT) -> dict[str, Peak]:
    """Return the paper's devices as ``hardware.toml`` has them, by their names there (``gpu``, ``cpu``)."""
    found = {}
    for key, device in hardware(paper, root).items():
        vendor = device.get("vendor", {})
        if "bandwidth_gb_per_s" in vendor:
            rates = {f"float{bits}": 1e9 * vendor[f"fp{bits}_gflop_per_s"] for bits in (32, 64)
                     if f"fp{bits}_gflop_per_s" in vendor}  # fmt: skip
            name = device["printed"]["name"]
            found[key] = Peak(name, 1e9 * vendor["bandwidth_gb_per_s"], rates, key.startswith("gpu"))
    return found


def of_published(artefact: str, method: str, root: Path = ROOT) -> Peak | None:
    """Return the paper's device that a published number was measured on; None where ``runs`` of none names it."""
    paper, _, stem = artefact.partition("-")
    for key, patterns in _runs(paper, root).items():
        if any(fnmatchcase(f"{stem} {method}", pattern) for pattern in patterns):
            return of_paper(paper, root).get(key)
    return None


def of_table(artefact: str, gpu: bool, root: Path = ROOT) -> Peak | None:
    """Return the paper's GPU or CPU that ran a table or figure, or its first where ``runs`` of none names that."""
    paper, _, stem = artefact.partition("-")
    devices = {key: peak for key, peak in of_paper(paper, root).items() if peak.gpu == gpu}
    for key, peak in devices.items():
        if any(fnmatchcase(stem, pattern.partition(" ")[0]) for pattern in _runs(paper, root)[key]):
            return peak
    return next(iter(devices.values()), None)


@cache
def _runs(paper: str, root: Path) -> dict[str, list[str]]:
    return {key: device.get("runs", []) for key, device in hardware(paper, root).items()}


def of_roof(roof: Roof | None) -> Peak | None:
    """Return what was measured of one of our devices; None without."""
    if roof is None:
        return None
    return Peak(roof.device, roof.ceilings.bandwidth(EVERYTHING), dict(roof.ceilings.rates), roof.gpu)


def fraction(
    value: float, unit: str, peak: Peak | None, work: Mapping[str, Any] | None = None, seconds: float | None = None,
    precision: str | None = DOUBLE,
) -> float | None:  # fmt: skip
    """Return how much of a device's peak a number is; None where that cannot be told.

    A time is compared with the least that its work can take, a rate of bytes with the bandwidth, and a rate of
    operations with what the work allows where the number is those operations over that work's time, else with the
    arithmetic rate.

    Parameters
    ----------
    value, unit
        A time or a rate.
    peak : Peak or None
        Of the device that it was measured on.
    work : mapping, optional
        ``bytes``, ``flops`` and ``precision``: the least that must be done.
    seconds : float, optional
        Time of the work in the measurement that `work` belongs to, and `value` of the same measurement; tells whether
        a rate counts the operations as `work` does.
    precision : str, optional
        Of the operations of a rate without `work`; None where that is not known.
    """
    if peak is None:
        return None
    factor, base = split(unit)
    amount = value * factor
    if amount <= 0:
        return None
    least = None
    if work is not None:
        precision = work.get("precision", DOUBLE)
        rate = peak.rates.get(precision)
        if not work["flops"] or rate:
            least = max(work["bytes"] / peak.bandwidth, work["flops"] / rate if work["flops"] else 0.0)
    if is_time(unit):
        return None if least is None else least / amount
    if base == "B/s":
        return amount / peak.bandwidth
    if base != "FLOP/s":
        return None
    if least is not None and work["flops"] and seconds and abs(work["flops"] / seconds / amount - 1) < 0.02:
        return least * amount / work["flops"]
    return amount / peak.rates[precision] if precision in peak.rates else None
