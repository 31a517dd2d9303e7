"""Limits of the papers' machines: the vendors' peaks. `repro.judge.roofs` has ours, which are measured."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from repro.published import ROOT, hardware

DOUBLE = "float64"  # the precision of what states none


@dataclass(frozen=True)
class Peak:
    """The most that a device can do."""

    device: str  #: its name
    bandwidth: float  #: of its memory, bytes a second
    rates: Mapping[str, float] = field(default_factory=dict)  #: floating-point operations a second by precision
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


def least_seconds(row: Mapping[str, Any], peak: Peak) -> float | None:
    """Return the least time that the work of a row takes on a device; None where its precision has no rate."""
    flops, rate = row["work_flops"] or 0.0, peak.rates.get(row["work_precision"] or DOUBLE)
    if flops and not rate:
        return None
    return max(row["work_bytes"] / peak.bandwidth, flops / rate if flops else 0.0)
