"""The roofs of a machine's devices, as ``ceilings.json`` has them: one a physical device, however it is programmed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.cache import hashing
from repro.cache.store import read_json
from repro.model import BACKENDS
from repro.run.ceilings import Ceilings, interpolated

#: What PoCL, an OpenCL of processors, puts before a processor's name, as in ``cpu-skylake-avx512-`` or ``pthread-``.
EMULATED = re.compile(r"^(?:pthread|cpu|basic|tbb|omp)(?:-[a-z0-9_.+]+)*-(?=\S)")
OLD = re.compile(rf"^({'|'.join(BACKENDS)}): (.+?)(?:, \d+ cores)?$")  # a back end had ceilings of its own


@dataclass(frozen=True)
class Roof:
    """What a device allows."""

    device: str  #: the physical device's name
    gpu: bool
    cores: int | None  #: of a processor, where they are known
    ceilings: Ceilings


class Roofs:
    """The roofs of a machine's devices.

    `stored`: what ``ceilings.json`` holds. In older files a device has ceilings for each back end; its roof is then the
    best of them.
    """

    def __init__(self, stored: Mapping[str, Any] | None = None):
        entries: dict[tuple, list[Ceilings]] = {}
        probed_at_once = set()
        for name, entry in (stored or {}).items():
            old, cores = OLD.match(name), entry.get("machine", {}).get("cores")
            backend, device = old.groups() if old else ("", entry["ceilings"]["device"])
            gpu = hashing.is_gpu(backend, device, entry.get("machine", {})) if old else entry["gpu"]
            place = physical(device), gpu, None if gpu or not cores else int(cores)
            if not old:
                probed_at_once.add(place)
            elif place in probed_at_once:
                continue
            found = entries.setdefault(place, [])
            if not old:
                found.clear()
            found.append(Ceilings(**entry["ceilings"]))
        self.all = [Roof(*place, _best(place[0], found)) for place, found in entries.items()]

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
    """Return a device's name without what an emulation of a GPU puts before that of a processor."""
    return EMULATED.sub("", device)


def _best(device: str, found: list[Ceilings]) -> Ceilings:
    """Return at each size the highest of several ceilings of one device, of those that were probed as far."""
    if len(found) == 1:
        return found[0]
    made: dict[str, dict[str, list[Sequence[float]]]] = {}
    for name in ("bandwidths", "cold"):
        every = [getattr(each, name) for each in found]
        kinds = dict.fromkeys(kind for curves in every for kind in curves)
        made[name] = {kind: _highest([curves[kind] for curves in every if curves.get(kind)]) for kind in kinds}
    precisions = dict.fromkeys(precision for each in found for precision in each.rates)
    rates = {precision: max(each.rates.get(precision, 0.0) for each in found) for precision in precisions}
    return Ceilings(device, **made, rates=rates)


def _highest(curves: Iterable[list[Sequence[float]]]) -> list[tuple[float, float]]:
    curves = [curve for curve in curves if curve]
    sizes = sorted({size for curve in curves for size, _ in curve})
    return [(size, max(interpolated(curve, size) for curve in curves if size <= curve[-1][0])) for size in sizes]
