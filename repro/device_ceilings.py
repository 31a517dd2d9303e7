"""The measured ceilings of this machine's devices, kept in ``<results>/<machine>/ceilings.json``."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

from repro import environment, sources
from repro.model import Skip
from repro.plan import machine_facts
from repro.store import Store, write_atomically

HELD_UP = ("its probes took as long for little data as for much, so other programs had its cores; "
           "`repro doctor --ceilings` measures again")  # fmt: skip
MORE, LONGER = 1000, 3  # so many times the bytes take at least so many times as long; a hundred times is usual

_held_up: set[tuple[Path, str]] = set()  # by this process: a later one may find the device free


class DeviceCeilings:
    """Ceilings by device: measured when first asked for, and again when the machine or the probes have changed.

    Parameters
    ----------
    store : Store

    Attributes
    ----------
    notes : list of str
        Why a device has no ceilings.
    """

    def __init__(self, store: Store):
        self.path = store.folder / "ceilings.json"
        self.notes: list[str] = []

    def of(self, clock: Any, *, measuring: bool = True, again: bool = False):
        """Return the `repro.ceilings.Ceilings` of a clock's device; None, with a note, where there are none.

        Parameters
        ----------
        clock : Device or HostClock
        measuring : bool
            Measure them if the file has them not.
        again : bool
            Measure them even if the file has them.
        """
        from repro.ceilings import Ceilings, measure

        name = f"{getattr(clock, 'backend', 'host')}: {clock.name}"
        known = self.read()
        entry, key = known.get(name), _key(clock)
        if entry and all(entry.get(part) == value for part, value in key.items()) and not again:
            return Ceilings.from_dict(entry["ceilings"])
        if not measuring:
            return self._none(clock, "they have not been measured; `repro doctor --ceilings` does it")
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
        known[name] = {**key, "measured": time.time(), "ceilings": ceilings.to_dict()}
        write_atomically(self.path, json.dumps(known, indent=1) + "\n")
        return ceilings

    def _none(self, clock: Any, why: str) -> None:
        note = f"no ceilings of {clock.name}: {why}"
        if note not in self.notes:
            self.notes.append(note)

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


def _key(clock: Any) -> dict[str, dict[str, str]]:
    """Return what the ceilings of a clock depend on: the machine, and the probes with what runs and times them."""
    backend = getattr(clock, "backend", "host")
    start = Path(environment.load().__file__).resolve()
    found = sources.sources(start, environment.root(), [backend], backend != "host", entry="ceiling_kernels")
    return {"machine": machine_facts(), "sources": found}
