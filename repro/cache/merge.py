"""Results of several folders in one: the shards of a run, or what two people measured on machines of one kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro import discovery
from repro.cache import hashing, hosts, keys, plan
from repro.cache.files import Files, files_stem
from repro.cache.plan import Selection
from repro.cache.store import Store, Unreadable
from repro.model import DONE, FAILED, SCALES, SKIPPED, ReproError
from repro.run import runner
from repro.settings import Settings, own_name
from repro.show.render import Rendered, render

RANK = {DONE: 2, SKIPPED: 1, FAILED: 0}  # what is measured goes before what is not, then the later before the earlier
Own = tuple[tuple[str, str, str], ...]  # dataset, the user's own file in its place, and the hash of that
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

    The hosts that measured them are told in the target, which then belongs to none of several; see `repro.cache.hosts`.

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
    of_whom = [host for store in stores for host in hosts.read(store.folder)]
    hosts.read(target.folder)  # damaged, it is told before anything is taken
    own_files = OwnFiles([*stores, target])
    if unlike := _unlike(stores, own_files, settings):
        if not force:
            advice = "nothing is merged; --machine names another folder, --force merges them all the same"
            raise ReproError(f"{'; '.join(unlike)}: {advice}")
        for text in unlike:
            say(text)
    hosts.unite(target, of_whom)
    touched: dict[tuple[str, Own], set[str]] = {}  # cells by scale and the user's own files
    usual: dict[str, str] = {}  # by scale, on the machine of its first cell
    for store in stores:
        for path, record in _records(store):
            if isinstance(record, Unreadable):
                merged.problems.append(f"{path}: {record}; left out")
                continue
            name = path.relative_to(store.cells)
            own = own_files.of(store, record)
            _merge_cell(record, _with_own(settings, own), target.cells / name, merged)
            touched.setdefault((record["scale"], own), set()).add(name.as_posix())
            usual.setdefault(record["scale"], _usual(record["key"]["machine"]))
        _merge_ceilings(store, target)
    written: set[Path] = set()  # once, though an artefact that uses none of one's own files was run beside some as well
    for scale in SCALES:
        for own in sorted(own for of, own in touched if of == scale):
            alike = replace(_with_own(settings, own), scale=scale, usual_scale=usual[scale])
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


class OwnFiles:
    """The user's own files that runs were given: one of one name and content is the same, wherever it lay.

    Parameters
    ----------
    stores : sequence of Store
    """

    def __init__(self, stores: Sequence[Store]):
        self._keys: dict[tuple, dict[str, str]] = {}  # by dataset, of each folder's runs that were given the same
        self._places: dict[tuple[str, str], str] = {}  # by dataset and own name
        for store in stores:
            for _, record in _records(store):
                if not isinstance(record, Unreadable):
                    self._add(store, record)

    def _add(self, store: Store, record: Mapping[str, Any]) -> None:
        for dataset, file in record.get("overrides", {}).items():
            if key := record["key"]["data"].get(dataset):
                self._keys.setdefault(_given(store, record), {})[dataset] = key
                place = dataset, own_name(file, key)
                if not Path(self._places.setdefault(place, file)).is_file():  # one that is here can be drawn
                    self._places[place] = file

    def of(self, store: Store, record: Mapping[str, Any]) -> Own:
        """Return those of the run that measured a cell, without those that none of its cells used."""
        keys = {**self._keys.get(_given(store, record), {}), **record["key"]["data"]}
        found = [(name, file, keys[name]) for name, file in record.get("overrides", {}).items() if name in keys]
        return tuple(sorted((name, self._places[name, own_name(file, key)], key) for name, file, key in found))


def _given(store: Store, record: Mapping[str, Any]) -> tuple:
    return store.folder, record["scale"], tuple(sorted(record.get("overrides", {}).items()))


def _with_own(settings: Settings, own: Own) -> Settings:
    return replace(
        settings, overrides={name: file for name, file, _ in own}, own_keys={name: key for name, _, key in own}
    )


def _unlike(stores: Iterable[Store], own_files: OwnFiles, settings: Settings) -> list[str]:
    """Say of which artefacts a merge would mix, or replace by one another, what unlike processors or GPUs measured.

    Those cells count that are done: what is skipped or failed gives way.
    """
    target = settings.store
    taken: dict[tuple, dict[tuple, Mapping[str, str]]] = {}  # machines of what is taken, by artefact, scale, own files
    for store in stores:
        for path, record in _records(store):
            if isinstance(record, Unreadable) or record["status"] != DONE:
                continue
            own, machine = own_files.of(store, record), record["key"]["machine"]
            present = _present(record, _with_own(settings, own), target.cells / path.relative_to(store.cells))
            if present is None or _worth(present) < _worth(record):
                taken.setdefault((record["artefact"], record["scale"], own), {})[_hardware(machine)] = machine
    texts = []
    for (artefact, scale, own), machines in taken.items():
        usual = _usual(next(iter(machines.values())))
        alike = replace(_with_own(settings, own), scale=scale, usual_scale=usual)
        found = {_hardware(machine): machine for machine in _in_place(artefact, own, own_files, alike)}
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


def _in_place(artefact: str, own: Own, own_files: OwnFiles, settings: Settings) -> Iterator[Mapping[str, str]]:
    """The machines that measured what the target has of an artefact, in its files or its store, the latter last."""
    for files in _files(artefact, settings)[1]:
        if machine := files.machine():
            yield machine
    store = settings.store
    for _, record in _records(store, f"{artefact}/{settings.scale}-*.json"):
        if not isinstance(record, Unreadable) and record["status"] == DONE and own_files.of(store, record) == own:
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
    usual = _usual(record["key"]["machine"])
    artefact, files = _files(record["artefact"], replace(settings, scale=record["scale"], usual_scale=usual))
    found = [each.record(artefact.id, record["identity"]) for each in files]
    return max((each for each in found if each), key=_worth, default=None)


def _files(name: str, settings: Settings) -> tuple[discovery.Artefact | None, list[Files]]:
    """An artefact and the files that the target may have of it."""
    artefact = next((each for each in discovery.find() if each.id == name), None)
    if artefact is None:
        return None, []
    try:  # it may use some of the user's own files alone
        cells = plan.cells_of(artefact, discovery.load(artefact), settings.scale) if settings.overrides else []
    except ReproError:  # which is told where its files are to be written
        return artefact, []
    return artefact, plan.files_of(artefact, {name for cell in cells for name in cell.data}, settings)


def _worth(record: dict) -> tuple[int, float]:
    return RANK.get(record["status"], -1), float(record.get("finished", 0.0))


def _merge_ceilings(source: Store, target: Store) -> None:
    """Take the ceilings of devices that the target has not, or has older ones of."""
    from repro.run.device_ceilings import DeviceCeilings

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
        odd = {word for task in kept for word in keys.changes(task.record, {**task.record["key"], "machine": machine})}
        if text := runner.replaced(job, settings):
            say(text)
        if odd:
            merged.problems.append(f"{job.artefact.id}: cells of unlike machines: {hashing.in_short(sorted(odd))}")
        merged.rendered.append(render(job.artefact, job.module, job.tasks, settings))


def _take_merged(task: plan.Task, store: Store) -> None:
    """Give a task that has what the files hold of this machine what was merged, if that is of the same sources."""
    merged = store.read(task.path) if task.is_read_back else None
    if merged and not keys.changes(merged, {**task.key, "machine": merged["key"].get("machine", {})}):
        task.record, task.is_read_back = merged, False
