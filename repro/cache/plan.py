"""Cells that a command is about, and the ones of them that have to be measured, with the reason in words."""

import functools
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from repro import discovery
from repro.cache import beliefs, hashing, kept, keys
from repro.cache.files import Files, files_stem
from repro.cache.glance import once
from repro.cache.store import Store, Unreadable
from repro.discovery import Artefact
from repro.model import DONE, Cell, ReproError
from repro.settings import Settings

FIELDS = ("case", "method", "backend")
#: Said to whoever means the processor by ``backend=host``.
BY_OPENMP = "host has baselines alone, and kernels run on a processor by openmp: --only backend=openmp"


@dataclass(frozen=True)
class Selection:
    """Wanted cells of the chosen artefacts."""

    #: Wanted values of case, method, backend or a parameter: one of the values for each key.
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Back ends on which kernels may run; cells of baselines on the host are wanted in any case.
    backends: Sequence[str] = ()
    every: bool = False  #: whether cells are wanted that are measured by request alone, see `repro.judge.claims.needed`
    claimed: bool = False  #: whether cells are wanted that a claim reads, and no others

    def asks_for(self, cell: Cell) -> bool:
        """Return whether a cell that is wanted is asked for, by more than the name of its artefact.

        The cells that claims read are a part of a run of everything, however that part is chosen.
        """
        return self.every or (not self.claimed and (bool(self.only) or cell.backend in self.backends))

    def wants(self, cell: Cell) -> bool:
        """Return whether a cell is wanted."""
        if self.backends and cell.backend != "host" and cell.backend not in self.backends:
            return False
        values = values_of(cell)
        return all(key in values and values[key] in wanted for key, wanted in self.only.items())


@dataclass
class Task:
    """A cell and how it stands."""

    artefact: Artefact  #: whose `measure` measures the cell
    cell: Cell
    path: Path  #: the cell's file
    key: dict[str, Any]  #: what is known of the key of a measurement now, see `repro.cache.keys.before`
    #: The stored record; a measured one with a mark where the cell failed or was skipped later, see `kept`.
    record: dict[str, Any] | None = None
    reason: str = ""  #: why it has to be measured; empty when what is stored stands
    #: Where a record is read back from that the store has not, or not one that is measured and stands.
    files: Sequence[Files] = ()
    is_read_back: bool = False  #: whether what `record` says is not yet in the store as it is
    rounds: int = 1  #: how many it has to be measured in
    left_out: str = ""  #: why it is not measured unless it is asked for; empty when it is
    _told: tuple[Any, Any, list[str]] | None = None  # a record, the machine's facts, and how its key differs

    def changes(self) -> list[str]:
        """Say in words how what is stored differs from the present key, as it was at the last look."""
        machine = self.key.get("machine")
        if self._told is None or self._told[0] is not self.record or self._told[1] is not machine:
            self._told = self.record, machine, keys.changes(self.record, self.key)
        return self._told[2]

    @property
    def seconds(self) -> float | None:
        """The seconds that it took when it was last measured."""
        return self.record.get("seconds") if self.record and self.record["status"] == DONE else None

    @property
    def stands(self) -> bool:
        """Whether what is stored, be it done, skipped or failed, is of the present key."""
        return self.record is not None and not self.changes()

    def look(self, store: Store) -> None:
        """Read what is stored, and say why the cell has to be measured if it has to."""
        stored, problem = None, ""
        try:
            stored = once(("cell", self.path), lambda: store.read(self.path))  # which several artefacts may show
        except Unreadable as error:
            problem = f"{error}: will run again"
        self.record, self._told = stored, None
        is_whole = self.stands and stored["status"] == DONE
        found = [] if is_whole else self._in_files()
        self.record = kept.best(stored, found, self.key)
        self.is_read_back = self.record is not None and self.record is not stored
        self.reason = problem or self._why()

    def _in_files(self) -> list[dict[str, Any]]:
        found = (each.record(self.artefact.id, self.cell.identity()) for each in self.files)
        return list(filter(None, found))

    def keep(self, store: Store) -> None:
        """Store a record that was read back from the files, before they are written anew."""
        if self.is_read_back:
            store.write(self.path, self.record)

    def _why(self) -> str:
        if self.record is None:
            return "never run"
        status, reason = self.record["status"], self.record.get("reason", "")
        if since := self.record.get("since"):
            return f"{since['status']} on {since['date'][:10]}, after it was measured: {since['reason']}"
        if status != DONE:
            return f"{status}: {reason}"
        if changes := self.changes():
            return hashing.in_short(changes)
        return f"{self.found} of {self.rounds} rounds" if self.found < self.rounds else ""

    @property
    def found(self) -> int:
        """The number of rounds that are measured and stand; a record that counts none is of one.

        Rounds are of one processor: where more are wanted, another processor's rounds are none.
        """
        is_whole = self.stands and self.record["status"] == DONE and "since" not in self.record
        if not is_whole:
            return 0
        count = len(self.record.get("rounds") or [None])
        return count if count >= self.rounds or keys.of_one_processor(self.record, self.key) else 0


def values_of(cell: Cell) -> dict[str, str]:
    """Return what ``--only`` can ask of a cell, as text."""
    parameters = {str(name): str(value) for name, value in cell.parameters.items()}
    return {**parameters, **{name: str(getattr(cell, name)) for name in FIELDS}}


def cells_of(artefact: Artefact, module: ModuleType, scale: str) -> list[Cell]:
    """Return the cells of an artefact at a scale.

    Raises `ReproError` if the artefact's `cells` fails or gives a cell twice.
    """
    try:
        cells = list(module.cells(scale))
    except ReproError as error:
        raise ReproError(f"{artefact.id}: {error}") from error
    except Exception as error:
        raise ReproError(f"{artefact.id}: cells({scale!r}) failed: {type(error).__name__}: {error}") from error
    if len({repr(cell.identity()) for cell in cells}) < len(cells):
        raise ReproError(f"{artefact.id}: cells({scale!r}) gives a cell twice")
    return cells


def tasks_of(artefact: Artefact, module: ModuleType, settings: Settings) -> list[Task]:
    """Return the cells of an artefact with how each of them stands, as tasks of the artefact that measures them."""
    store = settings.store
    owner = discovery.measured_by(artefact) if artefact.measure else artefact
    tasks, cells = [], cells_of(artefact, module, settings.scale)
    files = files_of(artefact, {name for cell in cells for name in cell.data}, settings)
    by_request = _by_request(artefact, cells, settings)
    for cell in cells:
        path = store.path(owner.id, identity(cell, settings))
        why = by_request.get(cell, "")
        task = Task(owner, cell, path, key_of(cell, settings), files=files, rounds=settings.rounds, left_out=why)
        task.look(store)
        tasks.append(task)
    return tasks


def _by_request(artefact: Artefact, cells: Sequence[Cell], settings: Settings) -> Mapping[Cell, str]:
    """Return the cells that are measured by request alone, and why: only where there is a GPU to measure the others."""
    if "gpu" not in machine_facts():
        return {}
    from repro.judge.claims import needed

    return needed.left_out(artefact, cells, settings.scale)


def files_of(artefact: Artefact, data: Collection[str], settings: Settings) -> list[Files]:
    """Return the files that may have an artefact's cells: its own, and the files of others that show the same."""
    alike = [artefact]
    if not settings.overrides:  # of the others it is not known here which of the user's files they read
        owner = discovery.measured_by(artefact) if artefact.measure else artefact
        alike += [
            other for other in discovery.find()
            if other != artefact and (other == owner or other.measure == owner.module)
        ]  # fmt: skip
    return [Files(files_stem(each, settings, data), settings.scale) for each in alike]


def identity(cell: Cell, settings: Settings) -> dict[str, Any]:
    """Return what names a cell's file: with the user's own data, by name and content, it is another cell."""
    own = settings.own(cell.data)
    return {"scale": settings.scale, **cell.identity(), **({"overrides": own} if own else {})}


def key_of(cell: Cell, settings: Settings) -> dict[str, Any]:
    """Return what is known of what a measurement of a cell depends on before it has run."""
    data = {name: settings.data_key(name) for name in cell.data}
    folder = settings.store.folder
    believed = once(("beliefs", folder), lambda: beliefs.read(folder))
    return keys.before(data, machine_facts(), settings.seed, believed)


@functools.cache
def machine_facts() -> dict[str, str]:
    """Return the facts of this machine that enter each key.

    No device is opened for them: where a GPU takes one process at a time, it is for the one that measures.
    """
    from repro import machine

    return hashing.machine_facts(machine.fingerprint(), os.environ)


def parse_only(only: Sequence[str]) -> dict[str, list[str]]:
    """Read ``key=value`` options; values of one key are alternatives."""
    wanted: dict[str, list[str]] = {}
    for item in only:
        key, separator, value = item.partition("=")
        if not separator or not key:
            raise discovery.UnknownName(f"--only takes KEY=VALUE, as in backend=cuda; {item!r} is none")
        wanted.setdefault(key, []).append(value)
    return wanted


def check_only(only: Mapping[str, Sequence[str]], cells: Sequence[Cell]) -> None:
    """Raise `UnknownName` for a key or value of ``--only`` that no cell has, suggesting the nearest."""
    have: dict[str, set[str]] = {}
    for cell in cells:
        for key, value in values_of(cell).items():
            have.setdefault(key, set()).add(value)
    for key, values in only.items():
        discovery.require(key, sorted(have), "parameter")
        for value in values:
            if (key, value) == ("backend", "host") and "host" not in have[key] and "openmp" in have[key]:
                raise discovery.unknown(value, (), key, f"there are: {', '.join(sorted(have[key]))}; {BY_OPENMP}")
            discovery.require(value, sorted(have[key]), key)
