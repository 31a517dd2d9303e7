"""The roofs of a machine's devices, as ``ceilings.json`` has them: one a physical device, however it is programmed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.cache.store import read_json
from repro.run.ceilings import Ceilings

#: Prefix of PoCL, an OpenCL of processors, before a processor's name, as in ``cpu-skylake-avx512-`` or ``pthread-``.
EMULATED = re.compile(r"^(?:pthread|cpu|basic|tbb|omp)(?:-[a-z0-9_.+]+)*-(?=\S)")


@dataclass(frozen=True)
class Roof:
    """A device and what it allows."""

    device: str  #: the physical device's name
    gpu: bool
    cores: int | None  #: of a processor, where they are known
    ceilings: Ceilings


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


def physical(device: str) -> str:
    """Return a device's name without what an emulation of a GPU puts before a processor's name."""
    return EMULATED.sub("", device)


def _roof(entry: Mapping[str, Any]) -> Roof:
    ceilings, gpu, cores = Ceilings(**entry["ceilings"]), entry["gpu"], entry.get("machine", {}).get("cores")
    return Roof(physical(ceilings.device), gpu, None if gpu or not cores else int(cores), ceilings)
