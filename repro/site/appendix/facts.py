"""What the appendix says: papers, artefacts, claims, machines, data and software, each from where it is kept."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import repro
from repro import discovery, environment, published
from repro.cache.store import read_json
from repro.judge import claims
from repro.model import SCALES, ReproError
from repro.units import MISSING

DISTRIBUTION = "repro-gpu-fem"
ALGORITHMS = {
    "fu2014": ("assembly by patches", "algebraic multigrid with relaxation on patches"),
    "geveler2011": ("geometric multigrid",),
    "remacle2016": ("spectral elements with overlapping Schwarz preconditioners",),
    "wong2015": ("sparse matrix-vector products in sliced and blocked formats", "a monodomain model of the heart"),
    "zhang2013": (
        "sparse matrix-vector products in sliced and blocked formats", "polynomial preconditioners in mixed precision"
    ),
}  # fmt: skip
WHERE = {"cuda": "NVIDIA GPU", "opencl": "OpenCL device", "openmp": "CPU", "host": "CPU"}


@dataclass(frozen=True)
class Element:
    """A table or a figure of a paper.

    Attributes
    ----------
    id, shows : str
        As in ``fu2014-table2``, and what the paper shows there.
    claims : tuple of str
        Ids of the claims that it decides.
    verdicts : mapping of str to int
        How many of them have each verdict.
    minutes : mapping of str to float
        Expected minutes by scale; empty when there is no module of it.
    backends : tuple of str
        On which it is measured.
    data : tuple of str
        The datasets that it reads.
    results : tuple of str
        Its stored tables, below the results folder.
    problem : str
        Why it cannot be run; empty when it can.
    """

    id: str
    shows: str
    claims: tuple[str, ...]
    verdicts: Mapping[str, int]
    minutes: Mapping[str, float]
    backends: tuple[str, ...]
    data: tuple[str, ...]
    results: tuple[str, ...]
    problem: str = ""

    @property
    def hardware(self) -> str:
        """What it can be measured on."""
        return ", ".join(dict.fromkeys(WHERE[backend] for backend in self.backends))


@dataclass(frozen=True)
class Paper:
    """A paper with its artefacts and claims, and the machine it was measured on."""

    key: str
    title: str
    authors: str
    year: str
    devices: tuple[str, ...]
    elements: tuple[Element, ...]
    verdicts: tuple[claims.Verdict, ...]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Its algorithms, in a few words each."""
        return ALGORITHMS.get(self.key, ())


@dataclass(frozen=True)
class Machine:
    """A machine with stored results: its processors, what is known of its hosts, and at which commits it measured."""

    name: str
    devices: tuple[str, ...]
    system: str
    memory: str
    commits: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Everything that the appendix says.

    Attributes
    ----------
    version, python : str
        Of this project, and the Pythons that it supports.
    papers : tuple of Paper
    machines : tuple of Machine
    datasets : tuple of catalogue entries
    software : mapping of str to str
        Pinned version by package.
    minutes : mapping of str to float
        Of everything together, by scale.
    """

    version: str
    python: str
    licence: str
    papers: tuple[Paper, ...]
    machines: tuple[Machine, ...]
    datasets: tuple[Any, ...]
    software: Mapping[str, str]
    minutes: Mapping[str, float]

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Those of the papers, each once."""
        return tuple(dict.fromkeys(name for paper in self.papers for name in paper.algorithms))

    @property
    def stand_ins(self) -> tuple[Any, ...]:
        """The datasets that stand in for others."""
        return tuple(entry for entry in self.datasets if entry.stand_in_for)

    @property
    def fetched(self) -> tuple[Any, ...]:
        """Those of the stand-ins whose original can be downloaded."""
        return tuple(entry for entry in self.stand_ins if getattr(entry, "address", ""))


def collect(results: Path, papers: Iterable[str] = ()) -> Facts:
    """Return what the appendix of some papers, by default of all, says.

    Parameters
    ----------
    results : path
        The results folder, with a folder a machine.
    papers : iterable of str, optional
        As in ``fu2014``.
    """
    keys = list(papers) or published.papers()
    modules = {artefact.id: artefact for artefact in discovery.find()}
    found = tuple(_paper(key, modules, Path(results)) for key in keys)
    elements = [element for paper in found for element in paper.elements]
    read = {name for element in elements for name in element.data}
    about = _project(environment.root())
    return Facts(
        version=repro.__version__, python=about["requires-python"], licence=about["license"], papers=found,
        machines=tuple(_machine(Path(results) / name) for name in claims.machines(results)),
        datasets=tuple(entry for entry in environment.catalogue() if entry.name in read),
        software=_software(environment.root(), about["dependencies"]),
        minutes={scale: sum(each.minutes.get(scale, 0.0) for each in elements) for scale in SCALES},
    )  # fmt: skip


def _paper(key: str, modules: Mapping[str, discovery.Artefact], results: Path) -> Paper:
    about = published.paper(key)
    verdicts = claims.verdicts(results, key)
    devices = [device["printed"]["name"] for device in published.hardware(key).values() if "printed" in device]
    listed = {entry["id"]: entry["shows"] for entry in published.artefacts(key)}
    ids = [*listed, *(name for name, module in modules.items() if module.paper == key and name not in listed)]
    return Paper(
        key=key, title=about.get("title", key), authors=about.get("authors", ""), year=str(about.get("year", "")),
        devices=tuple(devices), verdicts=tuple(verdicts),
        elements=tuple(_element(name, listed.get(name, ""), modules.get(name), verdicts, results) for name in ids),
    )  # fmt: skip


def _element(
    name: str, shows: str, module: discovery.Artefact | None, verdicts: Iterable[claims.Verdict], results: Path
) -> Element:
    own = [verdict for verdict in verdicts if name in verdict.artefacts]
    paper, _, stem = name.partition("-")
    files = sorted(path.relative_to(results).as_posix() for path in results.glob(f"*/{paper}/{stem}.md"))
    backends, data, problem = _cells(module)
    return Element(
        id=name, shows=shows or (module.title if module else ""), claims=tuple(verdict.id for verdict in own),
        verdicts=Counter(verdict.state for verdict in own), minutes=module.minutes if module else {},
        backends=backends, data=data, results=tuple(files), problem=problem,
    )  # fmt: skip


def _cells(module: discovery.Artefact | None) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The back ends and the datasets of an artefact's cells at the papers' sizes."""
    if module is None:
        return (), (), "there is no module of it"
    try:
        cells = list(discovery.load(module).cells("paper"))
    except ReproError as error:
        return (), (), str(error)
    backends = {cell.backend for cell in cells}
    places = {entry.name for entry in environment.catalogue() if not entry.scales}  # for a user's file, nothing itself
    data = dict.fromkeys(name for cell in cells for name in cell.data if name not in places)
    return tuple(name for name in WHERE if name in backends), tuple(data), ""


def _machine(folder: Path) -> Machine:
    devices, commits, systems, memory = {}, {}, {}, []
    for path in sorted(folder.glob("*/*.json")):
        manifest = read_json(path)
        if "devices" not in manifest:
            continue
        host = manifest.get("machine") or {}  # merged from several hosts, it says neither system nor memory
        systems |= dict.fromkeys(filter(None, [host.get("system")]))
        memory += filter(None, [host.get("memory_bytes")])
        devices.update(dict.fromkeys(device["name"] for device in manifest["devices"]))
        for revision in [manifest, *(cell.get("revision") or {} for cell in manifest.get("cells", ()))]:
            if revision.get("commit"):
                commits[revision["commit"][:9]] = None
    sizes = sorted({f"{each / 2**30:.0f}" for each in memory}, key=int)
    names = [name for name in devices if not re.match(r"(pthread|cpu)-", name)]  # PoCL's names of the processor
    return Machine(
        folder.name, tuple(names), ", ".join(systems) or MISSING,
        f"{' to '.join(dict.fromkeys([sizes[0], sizes[-1]]))} GiB" if sizes else MISSING, tuple(commits),
    )  # fmt: skip


def _project(root: Path) -> dict[str, Any]:
    """Licence, Pythons and dependencies: of the checkout, else of the installed package."""
    file = root / "pyproject.toml"
    if file.is_file():
        return tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    about = metadata.metadata(DISTRIBUTION)
    needed = [line for line in metadata.requires(DISTRIBUTION) or [] if "extra ==" not in line]
    return {
        "requires-python": about["Requires-Python"], "license": about["License-Expression"], "dependencies": needed
    }  # fmt: skip


def _software(root: Path, needed: Iterable[str]) -> dict[str, str]:
    """The version of each package that is always needed: as a checkout pins it, else as it is installed."""
    pins = root / "constraints.txt"
    lines = pins.read_text(encoding="utf-8").splitlines() if pins.is_file() else []
    pinned = dict(line.split("==", 1) for line in lines if "==" in line and not line.startswith("#"))
    names = [re.match(r"[A-Za-z0-9._-]+", line)[0] for line in needed]
    return {name: (pinned.get(name) or metadata.version(name)).split(";")[0].strip() for name in names}
