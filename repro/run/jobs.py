"""Artefacts with their cells, as a command wants them: which have to be measured, and how long that should take."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from repro import discovery
from repro.cache import estimates, kept, lacking, plan
from repro.cache.files import files_stem
from repro.cache.glance import glance
from repro.cache.plan import Selection, Task
from repro.cache.store import read_json
from repro.discovery import Artefact
from repro.judge.claims import needed
from repro.model import DONE, ReproError
from repro.settings import Settings, own_name

UNKNOWN_SECONDS = 5.0  # of a cell that has never run, in an artefact that states no minutes


@dataclass
class Job:
    """An artefact, all of its cells at the scale, and the cells that the command wants."""

    artefact: Artefact
    module: ModuleType | None = None
    tasks: list[Task] = field(default_factory=list)
    wanted: list[Task] = field(default_factory=list)
    problem: str = ""

    @property
    def data(self) -> set[str]:
        """The names of the datasets that its cells use."""
        return {name for task in self.tasks for name in task.cell.data}

    def pending(self, force: bool = False) -> list[Task]:
        """Wanted cells that have to be measured."""
        return [task for task in self.wanted if force or task.reason]

    def expected_seconds(self, settings: Settings) -> dict[Path, float]:
        """Return each cell's expected seconds: as last time, here or elsewhere, else as its like, else as stated."""
        with glance():
            known = {task.path: took for task in self.tasks if (took := estimates.seconds(task, settings)) is not None}
        of: dict[str, list[float]] = {}
        for task in self.tasks:
            if task.path in known:
                of.setdefault(task.cell.backend, []).append(known[task.path])
        usual = {backend: sum(each) / len(each) for backend, each in of.items()}
        other = sum(usual.values()) / len(usual) if usual else self._stated_seconds(settings.scale)
        return {task.path: known.get(task.path, usual.get(task.cell.backend, other)) for task in self.tasks}

    def _stated_seconds(self, scale: str) -> float:
        """Return the seconds that a cell should take by what the artefact states of all its cells."""
        if scale in self.artefact.minutes:
            return 60 * self.artefact.minutes[scale] / max(1, len(self.tasks))
        return UNKNOWN_SECONDS


def make_jobs(artefacts: Sequence[Artefact], settings: Settings, selection: Selection) -> list[Job]:
    """Look at every cell of artefacts; artefacts without a wanted one are left out where the selection names cells.

    Raises `UnknownName` if the selection asks for what no cell has, or the user's own file is for a dataset of no
    artefact.
    """
    with glance():
        jobs = [_planned(artefact, settings, selection) for artefact in artefacts]
    used = {name for job in jobs for name in job.data}
    for name in settings.overrides.keys() - used:
        advice = f"they use {', '.join(sorted(used)) or 'none'}"
        raise discovery.unknown(name, sorted(used), "dataset of these artefacts", advice)
    if selection.only:
        cells = [task.cell for job in jobs for task in job.tasks]
        if cells:
            plan.check_only(selection.only, cells)
            lacking.require_some(selection, cells)
    if selection.only or selection.claimed:
        # An artefact without such cells was not meant.
        jobs = [job for job in jobs if job.wanted or job.problem]
    return jobs


def _planned(artefact: Artefact, settings: Settings, selection: Selection) -> Job:
    """Look at every cell of an artefact; where that fails the job has the problem."""
    job = Job(artefact)
    try:
        job.module = discovery.load(artefact)
        job.tasks = plan.tasks_of(artefact, job.module, settings)
        read = needed.claimed(artefact, settings.scale) if selection.claimed else None
        job.wanted = [
            task for task in job.tasks
            if selection.wants(task.cell)
            and (not task.left_out or selection.asks_for(task.cell))
            and (read is None or task.cell in read)
        ]  # fmt: skip
    except ReproError as error:
        job.problem = str(error)
    except Exception as error:  # as of a dataset's recipe: it costs no other artefact
        job.problem = f"{artefact.id} cannot be planned: {type(error).__name__}: {error}"
    return job


def beside(jobs: Sequence[Job]) -> list[Artefact]:
    """Return the artefacts that no job is of and that may show cells of theirs, as they have a `measure` in common."""
    named = {job.artefact.id for job in jobs}
    owners = {task.artefact.module for job in jobs for task in job.tasks}
    return [
        each for each in discovery.find() if each.id not in named and not owners.isdisjoint((each.module, each.measure))
    ]


def sharing(artefacts: Sequence[Artefact], measured: Collection[Path], settings: Settings) -> list[Job]:
    """Return, as jobs, the artefacts among some that have files and show a cell of `measured`."""
    with glance():
        jobs = [_planned(artefact, settings, Selection()) for artefact in artefacts]
    return [job for job in jobs if any(task.path in measured for task in job.tasks) and listed(job, settings)]


def listed(job: Job, settings: Settings) -> list[Mapping[str, Any]]:
    """Return the cells that an artefact's files have, by their manifest; none where there is no such file of ours."""
    files = files_stem(job.artefact, settings, job.data)
    try:
        return read_json(files.with_name(f"{files.name}.json")).get("cells", [])
    except (OSError, ReproError):
        return []


def place(cell: Mapping[str, Any]) -> str:
    """Return what tells a cell from the others of its artefact, of a manifest's cell or a record's identity."""
    return repr([cell[name] for name in ("case", "method", "backend", "parameters")])


def dropped(job: Job, settings: Settings) -> int:
    """Return how many measured cells of an artefact's files would not be in them if they were written now."""
    stays = {place(task.record["identity"]) for task in kept.shown(job.tasks)}
    return sum(cell["status"] == DONE and place(cell) not in stays for cell in listed(job, settings))


def replaced(job: Job, settings: Settings) -> str:
    """Say when the artefact's files have cells that neither the store has nor can be read back, as a run drops them.

    As in a clone, which has the files and not the store, when another machine measured them, or other sources.
    """
    if job.problem:
        return ""
    files = files_stem(job.artefact, settings, job.data)
    owner = discovery.measured_by(job.artefact) if job.artefact.measure else job.artefact
    standing = {task.path for task in job.tasks if task.stands}
    try:
        manifest = read_json(files.with_name(f"{files.name}.json"))
        done = [cell for cell in manifest.get("cells", ()) if cell["status"] == DONE]
        paths = {settings.store.path(owner.id, _stored_identity(cell, manifest)) for cell in done}
        lost = sum(path not in standing and not path.exists() for path in paths)
    except (ReproError, KeyError, TypeError):  # it is damaged, or none of ours
        return ""
    if not lost:
        return ""
    return (
        f"{files}.* has {lost} cell{'s' if lost > 1 else ''} that do not stand here, as those measured elsewhere or by "
        "other sources; they are replaced (git keeps what is committed; --results or --machine keeps both)"
    )


def _stored_identity(cell: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the identity that names the file of a cell in a manifest, as `repro.cache.plan.identity` does."""
    given, keys = manifest.get("overrides") or {}, manifest.get("recipes", {})
    own = {name: own_name(file, keys[name]) for name, file in given.items() if name in cell["data"]}
    names = ("case", "method", "backend", "parameters", "data")
    return {
        "scale": manifest["scale"], **{name: cell[name] for name in names}, **({"overrides": own} if own else {})
    }  # fmt: skip
