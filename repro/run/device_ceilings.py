"""The measured ceilings of this machine's devices, kept in ``<results>/<machine>/ceilings.json``."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache import hashing
from repro.cache.plan import machine_facts
from repro.cache.store import Store, write_atomically
from repro.judge.peaks import with_cores
from repro.machine import identity
from repro.model import Skip

REMEDY = "`repro doctor --ceilings` measures them, and `repro run --force` then what lacks its fraction of the bound"
HELD_UP = f"its probes took as long for little data as for much, so other programs had its cores; {REMEDY}"
MORE, LONGER = 1000, 3  # so many times the bytes take at least so many times as long; usual is far more

_held_up: set[tuple[Path, str]] = set()  # by this process: a later one may find the device free


class DeviceCeilings:
    """Ceilings by device: measured when first asked for, and again when the machine or the probes have changed.

    Those of a processor hold for as many cores as they were measured with; several runs may have some each, and one
    folder of results.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    notes : list of str
        Why a device has no ceilings.
    """

    def __init__(self, store: Store):
        self.path, self._store = store.folder / "ceilings.json", store
        self.notes: list[str] = []

    def of(self, clock: Any, *, measuring: bool = True, again: bool = False):
        """Return the `repro.run.ceilings.Ceilings` of a clock's device; None, with a note, where there are none.

        Parameters
        ----------
        clock : Device or HostClock
        measuring : bool
            Measure them if the file has them not.
        again : bool
            Measure them even if the file has them.
        """
        from repro.run.ceilings import Ceilings, measure

        backend = getattr(clock, "backend", "host")
        name = f"{backend}: {clock.name}"
        known, key = self.here(), _key(backend)
        entry = known.get(_place(known, name, key["machine"]))
        changes = _changes(name, entry, key) if entry else []
        if entry and not again and not changes:
            return Ceilings.from_dict(entry["ceilings"])
        if not measuring:
            why = f"they are stale ({hashing.in_short(changes)})" if entry else "they have not been measured"
            return self._none(clock, f"{why}; {REMEDY}")
        if (self.path, name) in _held_up and not again:  # probing before every cell would hold up the next
            return self._none(clock, HELD_UP)
        try:
            probes = iter(environment.ceiling_kernels(clock))
            first = next(probes, None)
        except Skip as skip:
            return self._none(clock, str(skip))
        if first is None:
            return self._none(clock, "nothing measures them")
        ceilings = measure(itertools.chain([first], probes), clock)
        if held_up(ceilings):
            _held_up.add((self.path, name))
            return self._none(clock, HELD_UP)
        self.keep({name: {**key, "host": identity(), "measured": time.time(), "ceilings": ceilings.to_dict()}})
        return ceilings

    def _none(self, clock: Any, why: str) -> None:
        note = f"no ceilings of {clock.name}: {why}"
        if note not in self.notes:
            self.notes.append(note)

    def keep(self, found: Mapping[str, Any], *, only_later: bool = False) -> None:
        """Put ceilings, by device, into the file, in place of those of the same device and cores.

        Parameters
        ----------
        found : mapping
            As the file has them.
        only_later : bool
            Leave those in place that were measured later.
        """
        with self._store.lock("ceilings"):
            known = self.read()  # within the lock: another run may have put some there while these were measured
            for name, entry in found.items():
                machine = entry.get("machine", {})
                device = name.removesuffix(with_cores("", machine.get("cores")))
                place = _place(known, device, machine)
                is_later = place not in known or entry.get("measured", 0) > known[place].get("measured", 0)
                if is_later or not only_later:
                    known[place] = entry
            write_atomically(self.path, json.dumps(known, indent=1) + "\n")

    def stale(self) -> dict[str, str]:
        """Return this host's devices whose ceilings do not hold for it as it is now, and why, in words."""
        changes = {name: _changes(name, entry, _key(name.partition(": ")[0])) for name, entry in self.here().items()}
        return {name: hashing.in_short(found) for name, found in changes.items() if found}

    def here(self) -> dict[str, Any]:
        """Return what the file has that was measured on this host, by device."""
        return {name: entry for name, entry in self.read().items() if entry.get("host") == identity()}

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


def _is_gpu(name: str, machine: Mapping[str, str]) -> bool:
    """Return whether a device, by its name in the file, is a GPU: those do not depend on the cores beside them."""
    backend, _, device = name.partition(": ")
    return hashing.is_gpu(backend, device, machine)


def _changes(name: str, entry: Mapping[str, Any], key: Mapping[str, Any]) -> list[str]:
    """Say in words how what a device's ceilings depend on differs from a key; empty when they hold."""
    return hashing.differences(entry, key, hashing.THREADS if _is_gpu(name, key["machine"]) else ())


def _place(known: Mapping[str, Any], name: str, machine: Mapping[str, str]) -> str:
    """Return where the file has a device's ceilings: by its name, or by the cores as well where the name has others'.

    Most folders have those of one number of cores, which whoever asks for no number finds.
    """
    cores = machine.get("cores")
    there = known.get(name, {}).get("machine", {}).get("cores", cores)
    return with_cores(name, cores) if cores and there != cores and not _is_gpu(name, machine) else name


def _key(backend: str) -> dict[str, dict[str, str]]:
    """Return what the ceilings of a back end's device depend on: the machine, the probes, what runs and times them."""
    return {"machine": machine_facts(), "sources": environment.ceiling_sources(backend)}
