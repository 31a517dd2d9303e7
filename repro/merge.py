"""Results of several folders in one: the shards of a run, or what two people measured on machines of one kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro import discovery, hashing, plan, runner
from repro.files import Files, files_stem
from repro.model import DONE, FAILED, SCALES, SKIPPED, ReproError
from repro.plan import Selection
from repro.render import Rendered, render
from repro.settings import Settings
from repro.store import Store, Unreadable

RANK = {DONE: 2, SKIPPED: 1, FAILED: 0}  # what is measured goes before what is not, then the later before the earlier
HARDWARE = ("cpu", "gpu")  # by which machines are of one kind; of cores each host may grant some, and versions change


@dataclass
class Merged:
    """What came of it.

    Attributes
    ----------
    taken, kept : int
        Cells that were copied, and cells that the target had as good or better.
    problems : list of str
        Cells that could not be read, machines that are not of one kind.
    rendered : list of Rendered
    """

    taken: int = 0
    kept: int = 0
    problems: list[str] = field(default_factory=list)
    rendered: list[Rendered] = field(default_factory=list)


def merge(
    sources: Sequence[Path], settings: Settings, say: Callable[[str], None] = lambda text: None, force: bool = False
) -> Merged:
    """Copy the cells of other results folders into this one's, and write the files of every artefact they belong to.

    Parameters
    ----------
    sources : sequence of Path
        Results folders; of each the machine of `settings` is taken, or its only one.
    settings : Settings
        Of the target; its machine names the folder in it.
    say : callable
        Told what is skipped, and what is replaced that the target has no cells of.
    force : bool
        Take cells of another processor or GPU than the artefact has others of, too.

    Raises
    ------
    ReproError
        If a source is not there, has no cells, or several machines and none of the target's name; without `force` if
        an artefact would have cells of several processors or GPUs, or those of one in place of another's. Nothing is
        written then.
    """
    merged, target = Merged(), settings.store
    stores = [_store(Path(source), settings.machine) for source in sources]  # all, before anything is taken
    if unlike := _unlike(stores, settings):
        if not force:
            advice = "nothing is merged; --machine names another folder, --force merges them all the same"
            raise ReproError(f"{'; '.join(unlike)}: {advice}")
        for text in unlike:
            say(text)
    touched: dict[tuple[str, tuple[tuple[str, str], ...]], set[str]] = {}  # cells by scale and the user's own files
    usual: dict[str, str] = {}  # by scale, on the machine of its first cell
    for store in stores:
        for path, record in _records(store):
            if isinstance(record, Unreadable):
                merged.problems.append(f"{path}: {record}; left out")
                continue
            name = path.relative_to(store.cells)
            _merge_cell(record, settings, target.cells / name, merged)
            own = _own(record)
            touched.setdefault((record["scale"], own), set()).add(name.as_posix())
            usual.setdefault(record["scale"], _usual(record["key"]["machine"]))
        _merge_ceilings(store, target)
    written: set[Path] = set()  # once, though an artefact that uses none of one's own files was run beside some as well
    for scale in SCALES:
        for own in sorted(own for of, own in touched if of == scale):
            alike = replace(settings, scale=scale, overrides=dict(own), usual_scale=usual[scale])
            _render(touched[scale, own], alike, merged, written, say)
    for problem in merged.problems:
        say(problem)
    return merged


def only_machine(sources: Iterable[Path]) -> str | None:
    """Return the machine of all cells in some folders; None where there are several, or none."""
    found = {path.parent.name for source in sources for path in source.glob("*/.cells")}
    return found.pop() if len(found) == 1 else None


def _store(source: Path, machine: str) -> Store:
    if not source.is_dir():
        raise ReproError(f"there is no folder of results {source}")
    found = sorted(path.parent.name for path in source.glob("*/.cells"))
    if machine in found:
        return Store(source, machine)
    if len(found) == 1:
        return Store(source, found[0])
    if not found:
        raise ReproError(f"{source} is no results folder with cells in it: git does not have them, nor has a clone")
    raise ReproError(f"{source} has the machines {', '.join(found)}, none of them {machine}: name one by --machine")


def _records(store: Store, pattern: str = "*/*.json") -> Iterator[tuple[Path, dict | Unreadable]]:
    """Every cell's file with its record, or with why it has none."""
    for path in sorted(store.cells.glob(pattern)):
        try:
            record = store.read(path)
        except Unreadable as problem:
            record = problem
        if record is not None:  # one that another process has just removed
            yield path, record


def _own(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The user's own files that a run was given."""
    return tuple(sorted(record.get("overrides", {}).items()))


def _unlike(stores: Iterable[Store], settings: Settings) -> list[str]:
    """Say of which artefacts a merge would mix, or replace by one another, what unlike processors or GPUs measured.

    Those cells count that are done: what is skipped or failed gives way.
    """
    target = settings.store
    taken: dict[tuple, dict[tuple, Mapping[str, str]]] = {}  # machines of what is taken, by artefact, scale, own files
    for store in stores:
        for path, record in _records(store):
            if isinstance(record, Unreadable) or record["status"] != DONE:
                continue
            present = _present(record, settings, target.cells / path.relative_to(store.cells))
            if present is None or _worth(present) < _worth(record):
                machine = record["key"]["machine"]
                taken.setdefault((record["artefact"], record["scale"], _own(record)), {})[_hardware(machine)] = machine
    texts = []
    for (artefact, scale, own), machines in taken.items():
        found = {_hardware(machine): machine for machine in _in_place(artefact, scale, own, machines, settings)}
        first, *others = (found | machines).values()
        every = first.keys() | {name for other in others for name in other}
        words = {
            word for other in others
            for word in hashing.differences({"machine": first}, {"machine": other}, every - {*HARDWARE})
        }  # fmt: skip
        if words:
            texts.append(f"{artefact} would have cells of unlike machines: {hashing.in_short(sorted(words))}")
    return texts


def _hardware(machine: Mapping[str, str]) -> tuple[str | None, ...]:
    return tuple(machine.get(name) for name in HARDWARE)


def _in_place(
    artefact: str, scale: str, own: tuple, machines: Mapping[tuple, Mapping[str, str]], settings: Settings
) -> Iterator[Mapping[str, str]]:
    """The machines that measured what the target has of an artefact, in its files or its store, the latter last."""
    for files in _files(artefact, scale, dict(own), _usual(next(iter(machines.values()))), settings)[1]:
        if machine := files.machine():
            yield machine
    for _, record in _records(settings.store, f"{artefact}/{scale}-*.json"):
        if not isinstance(record, Unreadable) and record["status"] == DONE and _own(record) == own:
            yield record["key"]["machine"]


def _merge_cell(record: dict, settings: Settings, path: Path, merged: Merged) -> None:
    present = _present(record, settings, path)
    is_kept = present is not None and _worth(present) >= _worth(record)
    merged.kept += is_kept
    merged.taken += not is_kept
    if not is_kept or not path.exists():
        better = present if is_kept else record
        settings.store.write(path, {name: value for name, value in better.items() if name != "schema"})


def _present(record: dict, settings: Settings, path: Path) -> dict | None:
    """What the target has of a cell, in its store or, as a clone, in its files."""
    store = settings.store
    try:
        present = store.read(path)
    except Unreadable:
        return None
    return _in_files(record, settings) if present is None and not store.was_removed(path) else present


def _in_files(record: dict, settings: Settings) -> dict | None:
    overrides, usual = record.get("overrides", {}), _usual(record["key"]["machine"])
    artefact, files = _files(record["artefact"], record["scale"], overrides, usual, settings)
    found = [plan.read_back(each, artefact, record["identity"], record["key"]) for each in files]
    return max((each for each in found if each), key=_worth, default=None)


def _files(
    name: str, scale: str, overrides: Mapping[str, str], usual: str, settings: Settings
) -> tuple[discovery.Artefact | None, list[Files]]:
    """An artefact and the files that the target may have of it."""
    artefact = next((each for each in discovery.find() if each.id == name), None)
    if artefact is None:
        return None, []
    settings = replace(settings, scale=scale, overrides=overrides, usual_scale=usual)
    try:  # it may use some of the overrides alone
        cells = plan.cells_of(artefact, discovery.load(artefact), scale) if overrides else []
    except ReproError:  # which is told where its files are to be written
        return artefact, []
    return artefact, plan.files_of(artefact, {name for cell in cells for name in cell.data}, settings)


def _worth(record: dict) -> tuple[int, float]:
    return RANK.get(record["status"], -1), float(record.get("finished", 0.0))


def _merge_ceilings(source: Store, target: Store) -> None:
    """Take the ceilings of devices that the target has not, or has older ones of."""
    from repro.device_ceilings import DeviceCeilings

    if found := DeviceCeilings(source).read():
        DeviceCeilings(target).keep(found, only_later=True)


def _usual(machine: dict) -> str:
    """Return the scale whose files have no suffix on the machine that measured, which need not be this one."""
    return "paper" if any(name == "gpu" or name.startswith("gpu.") for name in machine) else "small"


def _render(
    cells: Collection[str], settings: Settings, merged: Merged, written: set[Path], say: Callable[[str], None]
) -> None:
    """Write the files of the artefacts that show some of the cells; cells stand by the machine they are of."""
    owners = {name.partition("/")[0] for name in cells}
    found = discovery.find()
    modules = {artefact.module for artefact in found if artefact.id in owners}
    chosen = [artefact for artefact in found if artefact.id in owners or artefact.measure in modules]
    for job in runner.make_jobs(chosen, settings, Selection(files=cells)):
        if job.problem:
            if job.artefact.id in owners:  # of the others nothing is stored, as at a scale that they do not have
                merged.problems.append(job.problem)
            continue
        files = files_stem(job.artefact, settings, job.data)
        if files in written:
            continue
        written.add(files)
        # Those of the store: what files of an older state of the machine have is replaced.
        kept = [task for task in job.tasks if task.record is not None and task.path.exists()]
        for task in kept:
            _take_merged(task, settings.store)
        read_back = [task.record for task in job.tasks if task.record is not None and task.is_read_back]
        machine = hashing.common_facts((task.record for task in kept), read_back)
        for task in job.tasks:
            task.key["machine"] = machine
        odd = {
            word for task in kept for word in hashing.changes(task.record, {**task.record["key"], "machine": machine})
        }
        if text := runner.replaced(job, settings):
            say(text)
        if odd:
            merged.problems.append(f"{job.artefact.id}: cells of unlike machines: {hashing.in_short(sorted(odd))}")
        merged.rendered.append(render(job.artefact, job.module, job.tasks, settings))


def _take_merged(task: plan.Task, store: Store) -> None:
    """Give a task that has what the files hold of this machine what was merged, if that is of the same sources."""
    merged = store.read(task.path) if task.is_read_back else None
    if merged and not hashing.changes(merged, {**task.key, "machine": merged["key"].get("machine", {})}):
        task.record, task.is_read_back = merged, False
