"""Results of several folders in one: parts of a run, or what was measured on several machines of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro import discovery
from repro.cache import hashing, hosts, keys
from repro.cache.glance import glance
from repro.cache.plan import Selection, Task
from repro.cache.store import Store, Unreadable
from repro.model import DONE, FAILED, SCALES, SKIPPED, ReproError
from repro.run.jobs import make_jobs, replaced
from repro.settings import Settings
from repro.show.render import Rendered, render

RANK = {DONE: 2, SKIPPED: 1, FAILED: 0}  # what is measured goes before what is not, then the later before the earlier
Records = dict[str, dict[str, Any]]  # by their file's name within the store


@dataclass
class Merged:
    """What came of it."""

    #: `taken`, `kept`: cells that were copied, and cells that the target had as good or better.
    taken: int = 0
    kept: int = 0
    #: Cells that could not be read, artefacts that could not be written.
    problems: list[str] = field(default_factory=list)
    rendered: list[Rendered] = field(default_factory=list)


def merge(
    sources: Sequence[Path], settings: Settings, say: Callable[[str], None] = lambda text: None, force: bool = False
) -> Merged:
    """Copy the cells of other results folders into this one's, and write the files of every artefact they belong to.

    The hosts that measured them are told in the target, which then belongs to none of several; see `repro.cache.hosts`.
    Cells on the user's own files in place of datasets are left out: they are of whoever has the files.

    Raises `ReproError` if a source is not there, has no cells, or several machines and none of the target's name;
    without `force` if hosts have other processors or GPUs. Nothing is written then.

    Parameters
    ----------
    sources : sequence of Path
        Results folders; of each the machine of `settings` is taken, or its only one.
    settings : Settings
        Of the target; its machine names the folder in it.
    say : callable
        Told what is left out, and what is replaced that the target has no cells of.
    force : bool
        Merge what hosts with other processors or GPUs measured, too.
    """
    merged, target = Merged(), settings.store
    stores = [_store(Path(source), settings.machine) for source in sources]  # all, before anything is taken
    of_whom = [host for store in stores for host in hosts.read(store.folder)]
    if not force:
        _require_alike([*hosts.read(target.folder), *of_whom])
    found: dict[str, Records] = {scale: {} for scale in SCALES}
    for store in stores:
        for path in sorted(store.cells.glob("*/*.json")):
            try:
                record = store.read(path)
            except Unreadable as problem:
                merged.problems.append(f"{path}: {problem}; left out")
                continue
            records, name = found[record["scale"]], path.relative_to(store.cells).as_posix()
            records[name] = max(filter(None, (records.get(name), record)), key=_worth)
    hosts.unite(target, of_whom)
    for store in stores:
        _merge_ceilings(store, target)
    for scale, records in found.items():
        if records:
            usual = _usual(next(iter(records.values()))["key"]["machine"])
            _merge_scale(records, replace(settings, scale=scale, usual_scale=usual), merged, say)
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


def _require_alike(of_whom: Iterable[hosts.Host]) -> None:
    """Check that hosts, those that are known, have one processor and one kind of GPU."""
    kinds = {" with ".join([host["cpu"], *sorted({*host["gpu"]})]) for host in of_whom if host["host"] != hosts.UNKNOWN}
    if len(kinds) > 1:
        raise ReproError(
            f"the hosts are unlike, {' and '.join(sorted(kinds))}: nothing is merged; --machine names another folder, "
            "--force merges them all the same"
        )


def _worth(record: Mapping[str, Any]) -> tuple[int, float]:
    return RANK[record["status"]], float(record["finished"])


def _usual(machine: Mapping[str, str]) -> str:
    """Return the scale whose files have no suffix on the machine that measured, which need not be this one."""
    return "paper" if "gpu" in machine else "small"


def _merge_ceilings(source: Store, target: Store) -> None:
    """Take the ceilings of devices that the target has not, or has older ones of."""
    from repro.run.device_ceilings import DeviceCeilings

    if found := DeviceCeilings(source).read():
        DeviceCeilings(target).keep(found, only_later=True)


def _merge_scale(records: Records, settings: Settings, merged: Merged, say: Callable[[str], None]) -> None:
    """Take the cells of a scale that are better than what the target has, and write the artefacts that show some."""
    owners = {name.partition("/")[0] for name in records}
    found = discovery.find()
    modules = {artefact.module for artefact in found if artefact.id in owners}
    chosen = [artefact for artefact in found if artefact.id in owners or artefact.measure in modules]
    jobs = make_jobs(chosen, settings, Selection(files=records))
    # Of the others nothing is stored, as at a scale that they do not have.
    merged.problems += [job.problem for job in jobs if job.problem and job.artefact.id in owners]
    jobs = [job for job in jobs if not job.problem]
    wanted = {task.path.relative_to(settings.store.cells).as_posix(): task for job in jobs for task in job.wanted}
    if left := len(records.keys() - wanted.keys()):
        say(f"{left} at scale {settings.scale} left out: of the user's own files, or of no artefact here")
    taken: dict[Path, Any] = {}
    for name, task in wanted.items():
        is_kept = task.record is not None and _worth(task.record) >= _worth(records[name])
        merged.kept += is_kept
        merged.taken += not is_kept
        taken[task.path] = task.record if is_kept else records[name]
        settings.store.write(task.path, {name: value for name, value in taken[task.path].items() if name != "schema"})
    for job in jobs:
        if odd := _stand_by_their_own(job.tasks, taken, settings):
            merged.problems.append(f"{job.artefact.id}: cells of unlike machines: {hashing.in_short(odd)}")
        if text := replaced(job, settings):
            say(text)
        merged.rendered.append(render(job.artefact, job.module, job.tasks, settings))


def _stand_by_their_own(tasks: Sequence[Task], taken: Mapping[Path, Any], settings: Settings) -> list[str]:
    """Let cells stand by the machine that most of them are of, in place of this one; say in words how others differ."""
    records = {task.path: taken.get(task.path, task.record) for task in tasks}
    merged = [record for path, record in records.items() if record and path.exists()]  # before what a clone has
    others = [record for path, record in records.items() if record and not path.exists()]
    machine = hashing.common_facts(merged, others)
    with glance():
        for task in tasks:
            task.key["machine"] = machine
            task.look(settings.store)
    return sorted({word for each in merged for word in keys.changes(each, {**each["key"], "machine": machine})})
