"""The measured ceilings of this machine's devices, kept in ``<results>/<machine>/ceilings.json``."""

from __future__ import annotations

import json
import time
from typing import Any

from repro import environment
from repro.model import Skip
from repro.plan import machine_facts
from repro.store import Store, write_atomically


class DeviceCeilings:
    """Ceilings by device: measured when first asked for, and again when the machine has changed.

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

    def of(self, clock: Any, again: bool = False):
        """Return the `repro.ceilings.Ceilings` of a clock's device; None where nothing can measure them.

        Parameters
        ----------
        clock : Device or HostClock
        again : bool
            Measure even if the file has them.
        """
        from repro.ceilings import Ceilings, measure

        name = f"{getattr(clock, 'backend', 'host')}: {clock.name}"
        known = self.read()
        entry = known.get(name)
        if entry and entry.get("machine") == machine_facts() and not again:
            return Ceilings.from_dict(entry["ceilings"])
        try:
            kernels = environment.ceiling_kernels(clock)
        except Skip as skip:
            self.notes.append(f"no ceilings of {clock.name}: {skip}")
            return None
        if not kernels:
            self.notes.append(f"no ceilings of {clock.name}: nothing measures them")
            return None
        ceilings = measure(kernels, clock)
        known[name] = {"machine": machine_facts(), "measured": time.time(), "ceilings": ceilings.to_dict()}
        write_atomically(self.path, json.dumps(known, indent=1) + "\n")
        return ceilings

    def read(self) -> dict[str, Any]:
        """Return what the file has, by device; nothing if it is not there or damaged."""
        try:
            known = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}
