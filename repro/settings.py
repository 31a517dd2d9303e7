"""Settings of a whole run: scale, folder of results, machine, seed and the user's own data."""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from repro import discovery, environment
from repro import machine as this_machine
from repro.cache import hosts
from repro.cache.glance import once, state
from repro.cache.store import Store
from repro.model import SCALES

CELL_SECONDS = 3600.0


@dataclass(frozen=True)
class Settings:
    """Settings of a whole run."""

    scale: str
    results: Path  #: the results folder, and the machine's folder in it
    machine: str
    seed: int = 0
    overrides: Mapping[str, str] = field(default_factory=dict)  #: the user's own files by dataset name
    command: str = ""  #: as typed, for the manifest
    cell_seconds: float = CELL_SECONDS  #: the longest that one cell may take; then it is stopped, and has failed
    #: Why results do not go to the folder of this machine's plain name; empty where they do, or one was named.
    aside: str = ""
    rounds: int = 1  #: in how many processes, apart in time, each cell is measured
    continuing: bool = False  #: whether it goes on with the results of other hosts of this one's kind

    @property
    def store(self) -> Store:
        """The cells of this machine."""
        return Store(self.results, self.machine)

    def data_key(self, name: str) -> str:
        """Return what identifies a dataset, or the user's own file in its place; see `environment.dataset_key`."""
        file = self.overrides.get(name)
        if file is None:
            return once(("data", name, self.scale), lambda: environment.dataset_key(name, self.scale))
        return _own_key(name, self.scale, file, *state(Path(file)))

    def own(self, data: Collection[str]) -> dict[str, str]:
        """Return what names the user's own files in place of some of the datasets `data`: see `own_name`."""
        return {name: own_name(file, self.data_key(name)) for name, file in self.overrides.items() if name in data}


def own_name(file: str, key: str) -> str:
    """Return what a user's own file is known by wherever it lies: its name, and the hash of its content."""
    return f"{Path(file).name} {key}"


@functools.lru_cache(maxsize=64)
def _own_key(name: str, scale: str, file: str, _modified: int, _size: int) -> str:
    """Read a user's own file once for as long as it does not change: every cell asks."""
    return environment.dataset_key(name, scale, file)


def default_scale() -> str:
    """Return 'paper' on a machine with a GPU, else 'small'."""
    return "paper" if this_machine.fingerprint().get("gpu") else "small"


def make_settings(
    scale: str | None, results: Path | None, machine: str | None, seed: int = 0,
    meshes: Sequence[str] = (), command: str = "", cell_seconds: float = CELL_SECONDS,
    rounds: int = 1, continuing: bool = False,
) -> Settings:  # fmt: skip
    """Check what the command line gives, and fill in what it leaves out.

    Raises `UnknownName` if a scale, a machine's name or a dataset cannot be, or the file in a dataset's place is not
    there or not the only one.

    `scale`, `results`, `machine`, `seed`: see `Settings`; None takes the default. The machine's default is
    the first folder that other hosts have not, see `repro.cache.hosts.choose`.
    """
    if scale is not None:
        discovery.require(scale, SCALES, "scale")
    if not 0 < cell_seconds < float("inf"):
        raise discovery.UnknownName(f"a cell cannot take {cell_seconds / 60:g} minutes")
    results = Path(results) if results else environment.results_folder()
    aside = ""
    if not machine:  # the plain name may be another host's
        machine, aside = hosts.choose(results, this_machine.default_name(), continuing)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", machine):
        raise discovery.UnknownName(f"a machine's name is letters, digits, '.', '_' and '-'; {machine!r} is not")
    return Settings(
        scale or default_scale(), results, machine, seed, _overrides(meshes), command, cell_seconds, aside=aside,
        rounds=rounds, continuing=continuing,
    )  # fmt: skip


def _overrides(meshes: Sequence[str]) -> dict[str, str]:
    overrides = {}
    if meshes:
        known = {entry.name: entry for entry in environment.catalogue()}
        advice = "`repro data list` shows the names"
        own = [f"--{getattr(entry, 'kind', 'mesh')} {entry.name}=FILE" for entry in known.values() if not entry.scales]
        if own:
            advice += f"; a file that takes no other's place is {' or '.join(own)}"
    for mesh in meshes:
        name, separator, file = mesh.partition("=")
        if not separator:
            raise discovery.UnknownName(f"--mesh and --matrix take NAME=FILE, and {mesh!r} has no name; {advice}")
        if not file:
            raise discovery.UnknownName(f"--mesh and --matrix take NAME=FILE, and {mesh!r} has no file")
        if name not in known:
            raise discovery.unknown(name, known, "dataset", advice)
        if name in overrides:
            raise discovery.UnknownName(f"dataset {name} is given two files: one can take its place in a run")
        path = Path(file).expanduser().resolve()
        if not path.is_file():
            raise discovery.UnknownName(f"there is no file {file} to put in the place of dataset {name}")
        overrides[name] = str(path)
    return overrides
