"""The roofs of a machine's devices, as ``ceilings.json`` has them: one a physical device, however it is programmed.

A row's fraction of what its device allows is computed when it is shown: from its work and the device's roof.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.cache.store import read_json
from repro.model import ReproError, Work
from repro.run.ceilings import Ceilings
from repro.units import is_missing, is_time, split

#: Prefix of PoCL, an OpenCL of processors, before a processor's name, as in ``cpu-skylake-avx512-`` or ``pthread-``.
EMULATED = re.compile(r"^(?:pthread|cpu|basic|tbb|omp)(?:-[a-z0-9_.+]+)*-(?=\S)")
EVERYTHING = 1e15  # bytes: more than any cache holds, so that the bandwidth is the memory's


@dataclass(frozen=True)
class Roof:
    """A device and what it allows."""

    device: str  #: the physical device's name
    gpu: bool
    cores: int | None  #: of a processor, where they are known
    ceilings: Ceilings

    @property
    def bandwidth(self) -> float:
        """Of its memory, in bytes a second."""
        return self.ceilings.bandwidth(EVERYTHING)

    @property
    def rates(self) -> Mapping[str, float]:
        """Floating-point operations a second by precision."""
        return self.ceilings.rates


class Roofs:
    """The roofs of a machine's devices, each an entry of what ``ceilings.json`` holds."""

    def __init__(self, stored: Mapping[str, Any] | None = None):
        self.all = [_roof(entry) for entry in (stored or {}).values()]

    @classmethod
    def read(cls, folder: Path) -> Roofs:
        """Return the roofs that are stored in a machine's folder of results; none without."""
        return cls(read_json(folder / "ceilings.json"))

    def of(self, device: str, cores: Any = None) -> Roof | None:
        """Return the roof of a device; None where it has not been measured.

        `cores`: A processor has the roof with so many cores, where that has been measured, else the first there is.
        """
        name = physical(device)
        found = [roof for roof in self.all if roof.device == name]
        alike = [roof for roof in found if cores and roof.cores == int(cores)]
        return next(iter(alike or found), None)

    def fraction(self, row: Mapping[str, Any], *, of_problem: bool = False, cores: Any = None) -> float | None:
        """Return the least time that a row's work can take on its device over the time measured; 1 is the limit.

        None where the row is no time, its work is not known, or what its device allows has not been measured.

        Parameters
        ----------
        of_problem : bool
            Whether to count the bytes that any format must move, not the bytes of the row's own format: this ranks
            kernels.
        cores : int, optional
            Of the processor; by default the row's own, where it has a column of them.
        """
        moved = row.get("problem_bytes" if of_problem else "work_bytes")
        if not is_time(row["unit"] or "") or is_missing(moved) or is_missing(row["value"]) or not row["value"] > 0:
            return None
        cores = row.get("cores") if cores is None else cores
        roof = self.of(row["device"], None if is_missing(cores) else cores)
        if roof is None:
            return None
        flops = 0.0 if is_missing(row["work_flops"]) else float(row["work_flops"])
        work = Work(float(moved), flops, row["work_precision"] or "float64")
        is_cold = not is_missing(row["cold"]) and bool(row["cold"])
        try:
            least = roof.ceilings.bound_seconds(work, cold=is_cold)
        except ReproError:  # that bandwidth, or that precision, has not been measured
            return None
        return least / (float(row["value"]) * split(row["unit"])[0])


def physical(device: str) -> str:
    """Return a device's name without what an emulation of a GPU puts before a processor's name."""
    return EMULATED.sub("", device)


def _roof(entry: Mapping[str, Any]) -> Roof:
    ceilings, gpu, cores = Ceilings(**entry["ceilings"]), entry["gpu"], entry.get("machine", {}).get("cores")
    return Roof(physical(ceilings.device), gpu, None if gpu or not cores else int(cores), ceilings)
