"""The measured ceilings of this machine's devices, kept in ``<results>/<machine>/ceilings.json``.

A physical device has one entry, by its name: a processor's was probed by C, else by Numba, a GPU's by CUDA, else by
OpenCL. All that runs on the device has the same roof, in whichever way it is programmed.
"""

import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache import hashing, hosts, keys
from repro.cache.plan import machine_facts
from repro.cache.store import Store, write_atomically
from repro.judge.roofs import physical
from repro.machine import identity
from repro.model import DONE, ReproError, Skip
from repro.run import tracing
from repro.run.timing import HostClock

REMEDY = "`repro doctor --ceilings` measures them"
SECONDS = {True: 30, False: 80}  # that the probes of a GPU and of a processor take, about; more with a large last cache
EACH = {True: 0.2, False: 0.05}  # seconds at most that each is sampled: the fastest sample counts
HELD_UP = f"its probes took as long for little data as for much, so other programs had its cores; {REMEDY}"
MORE, LONGER = 1000, 3  # so many times the bytes take at least so many times as long; usual is far more

_held_up: set[tuple[Path, str]] = set()  # by this process: a later one may find the device free


class DeviceCeilings:
    """Ceilings by device: measured when first asked for, and again when the machine or the probes have changed.

    A processor's ceilings hold for as many cores as they were measured with. Several runs may have some cores each, and
    one folder of results.

    `notes`: why a device has no ceilings.
    """

    def __init__(self, store: Store):
        self.path, self._store = store.folder / "ceilings.json", store
        self.notes: list[str] = []

    def of(
        self, clock: Any, *, measuring: bool = True, again: bool = False, saying: Callable[[str], None] | None = None
    ):  # fmt: skip
        """Return the `repro.run.ceilings.Ceilings` of a clock's device; None, with a note, where there are none."""
        from repro.run.ceilings import Ceilings, measure

        clock, facts = prober(clock), machine_facts()
        gpu, name = getattr(clock, "is_gpu", False), physical(clock.name)
        place = _place(name, gpu, facts)
        entry = self.here().get(place)
        changes = _changes(entry, facts) if entry else []
        if entry and not again and not changes:
            return Ceilings(**entry["ceilings"])
        if not measuring:
            why = f"they are stale ({hashing.in_short(changes)})" if entry else "they have not been measured"
            return self._none(name, f"{why}; {REMEDY}")
        if (self.path, place) in _held_up and not again:  # probing before every cell would hold up the next
            return self._none(name, HELD_UP)
        with tracing.traced() as ran:
            try:
                probes = iter(environment.ceiling_kernels(clock))
                first = next(probes, None)
            except Skip as skip:
                return self._none(name, str(skip))
            if first is None:
                return self._none(name, "nothing measures them")
            if saying:
                saying(f"measuring what {name} allows, about {SECONDS[gpu]} s")
            ceilings = measure(itertools.chain([first], probes), clock, EACH[gpu])
        if held_up(ceilings):
            _held_up.add((self.path, place))
            return self._none(name, HELD_UP)
        ceilings = replace(ceilings, device=name)
        self.keep({place: {
            **keys.measured(_before(facts), ran), "backend": _backend(clock), "gpu": gpu, "host": identity(),
            "measured": time.time(), "ceilings": asdict(ceilings),
        }})  # fmt: skip
        return ceilings

    def _none(self, name: str, why: str) -> None:
        note = f"no ceilings of {name}: {why}"
        if note not in self.notes:
            self.notes.append(note)

    def keep(self, found: Mapping[str, Any]) -> None:
        """Put ceilings, by place, into the file, in place of earlier ones of the same device and cores."""
        with self._store.lock("ceilings"):
            known = self.read()  # within the lock: another run may have put some there while these were measured
            write_atomically(self.path, json.dumps({**known, **found}, indent=1) + "\n")

    def stale(self) -> dict[str, str]:
        """Return this host's devices whose ceilings do not hold for it as it is now, and why, in words."""
        facts = machine_facts()
        changes = {name: _changes(entry, facts) for name, entry in self.here().items()}
        return {name: hashing.in_short(found) for name, found in changes.items() if found}

    def here(self) -> dict[str, Any]:
        """Return what the file has of this host's devices, or of devices of hosts of its kind that measured here."""
        alike = hosts.alike(hosts.read(self._store.folder))
        known = {name: entry for name, entry in self.read().items() if entry.get("host") in alike}
        cpu = machine_facts()["cpu"]
        return {name: entry for name, entry in known.items() if entry["gpu"] or entry["machine"].get("cpu") == cpu}

    def read(self) -> dict[str, Any]:
        """Return what the file has, by device; nothing if it is not there or damaged."""
        try:
            known = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}


def held_up(ceilings: Any) -> bool:
    """Return whether the device did something else while it was probed: then no time grows with the bytes moved."""
    for curve in ceilings.bandwidths.values():
        (little, low), (much, high) = curve[0], curve[-1]
        if much >= MORE * little and much / high < LONGER * little / low:
            return True
    return False


def prober(clock: Any) -> Any:
    """Return the clock of the best back end that a clock's device has: CUDA's of a GPU, C's of a processor."""
    gpu = getattr(clock, "is_gpu", False)
    best = "cuda" if gpu else "openmp"
    found = clock
    if _backend(clock) != best:
        try:
            found = environment.device(best)
        except ReproError:
            found = clock if gpu else HostClock()
    return found if physical(found.name) == physical(clock.name) else clock


def _backend(clock: Any) -> str:
    return getattr(clock, "backend", "host")


def _changes(entry: Mapping[str, Any], facts: Mapping[str, str]) -> list[str]:
    """Say in words how what a device's ceilings depend on has changed, as of a cell that is timed on the device."""
    rows = [{"device": entry["ceilings"]["device"], "metric": ""}]
    cell = {"identity": {"backend": entry["backend"]}, "status": DONE, "samples": True, "rows": rows}
    return keys.changes({"key": entry, **cell}, _before(facts))


def _before(facts: Mapping[str, str]) -> dict[str, Any]:
    return keys.before({}, facts, 0, {})


def _place(name: str, gpu: bool, machine: Mapping[str, str]) -> str:
    """Return where the file has a device's ceilings: by its name, and a processor's by the cores as well."""
    cores = "" if gpu else machine.get("cores", "")
    return f"{name}, {cores} cores" if cores else name
