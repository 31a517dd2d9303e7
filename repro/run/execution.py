"""Execute one cell: take the machine's lock, look at the store again, measure, store."""

import contextlib
import datetime
import gc
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repro import discovery, environment, machine
from repro.cache import keys
from repro.cache.glance import glance
from repro.cache.plan import Task
from repro.cache.store import alone
from repro.model import DONE, FAILED, SKIPPED, Cell, ReproError, Row, Skip
from repro.run import manifest, pace, rounds, state, tracing
from repro.run.context import Run
from repro.run.device_ceilings import DeviceCeilings
from repro.run.worker import MEASURING
from repro.settings import Settings

_known: set[tuple[Path, str]] = set()  # devices whose ceilings this process has found to hold, and the file


def execute(
    task: Task, settings: Settings, *, upto: int = 1, force: bool = False, begun: float = 0.0,
    tell: Callable[[str], None] = lambda text: None,
) -> bool:  # fmt: skip
    """Measure a cell and store its record, unless another run has just done so; sets `task.record`.

    Parameters
    ----------
    upto : int
        Rounds that its record should have then: one is measured, beside the stored ones that stand.
    force : bool
        Measure even if what is stored stands, and keep none of it.
    begun : float
        When the run began, as `time.time()`. A record that another run has stored since is taken as it is.
    tell : callable
        Is given `WAITING` if another run is measuring, `MEASURING` when the machine is this run's, and other lines.
    """
    with alone(tell):
        tell(MEASURING)
        store = settings.store
        task.look(store)
        if task.record is not None and task.stands:
            lately = task.record.get("finished", 0.0) >= begun > 0
            if (lately or not (task.reason or force)) and rounds.count(task.record) >= upto:
                return False
        is_added = task.record is not None and task.stands and not force
        # A round that failed takes the earlier ones nothing away; where one alone is wanted, the new one is that.
        is_added = is_added and (upto > 1 or ("since" in task.record and settings.rounds > 1))
        is_added = is_added and keys.of_one_processor(task.record, task.key)
        _empty_pool()
        record = _measured(task, settings, tell)
        if is_added and record["status"] == DONE == task.record["status"]:
            try:
                record = rounds.together(task.record, record, *discovery.by_timing(task.artefact))
            except rounds.Disagree as disagree:
                record = outcome(task, settings, FAILED, str(disagree))
        store.write(task.path, record)
        task.record, task.reason = record, ""
    return True


def _empty_pool() -> None:
    """Give back to the device what CuPy's pool keeps of earlier cells: a library may take its memory from there."""
    if cupy := sys.modules.get("cupy"):
        gc.collect()  # arrays in cycles
        with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):  # no device, or a fault that its cell has told
            cupy.get_default_memory_pool().free_all_blocks()


def _measured(task: Task, settings: Settings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run the artefact's `measure` for a cell and return its record, whatever happens in it."""
    cell, artefact = task.cell, task.artefact
    run = Run(cell, artefact.id, settings.scale, settings.seed, settings.overrides)
    begun, trace, ran = time.monotonic(), "", tracing.Ran()
    if settings.scale != "smoke" and cell.backend in state.ON_CORES and (cores := pace.of_cores()):
        cores.look()  # before any rival has processes of its own
    try:
        module = discovery.load(artefact)
        _require_cores(cell)
        with run.stages.of("set-up"), tracing.traced() as ran:
            module.measure(cell, run)
        run.finish()
        status, reason = DONE, ""
    except Skip as skip:
        status, reason = SKIPPED, str(skip)
    except ReproError as error:
        status, reason = FAILED, str(error)
    except (Exception, SystemExit) as error:  # a cell that fails, in whatever way, costs no other
        status, reason = FAILED, f"{type(error).__name__}: {error}".partition("\n")[0][:500]
        trace = traceback.format_exc()
    seconds = time.monotonic() - begun
    with run.stages.of("ceilings"):
        roofs = _roofs(run, settings, tell) if status == DONE else []
    notes = [*roofs, *_uncaptured(run), *run.notes] if status == DONE else []
    with run.stages.of("record"), glance():  # many functions that ran are of one file
        record = outcome(task, settings, status, reason, run)
        record.update(seconds=seconds, notes=notes, traceback=trace, key=keys.measured(task.key, ran))
    record["stages"] = run.stages.rounded()
    if status == DONE:
        record["rounds"] = [rounds.alone(record, run.state)]
        record["rows"] = rounds.shown(record["rows"], record["rounds"], task.cell.parameters)
    return record


def _require_cores(cell: Cell) -> None:
    """Raise `Skip` where the processes of a cell would take turns: their time would not be of so many at once."""
    if cell.cores > (there := machine.cores()):
        raise Skip(f"needs {cell.cores} cores, this machine has {there}")


def _roofs(run: Run, settings: Settings, tell: Callable[[str], None]) -> list[str]:
    """Measure ceilings of the devices on which known work was timed, unless they hold; return why some have none.

    It is done when the artefact's `measure` has returned and its arrays are free: probes take memory.
    """
    ceilings = DeviceCeilings(settings.store)
    # A smoke run takes seconds, and measuring ceilings longer: it uses known ones.
    measuring = settings.scale != "smoke"
    try:
        for clock in run.bounded.values():
            place = ceilings.path, clock.name
            if place not in _known and ceilings.of(clock, measuring=measuring, saying=tell):
                _known.add(place)
    except Exception as error:  # good times are not thrown away for want of a ceiling
        return [*ceilings.notes, f"no fraction of the bound: {type(error).__name__}: {error}"]
    return ceilings.notes


def _uncaptured(run: Run) -> list[str]:
    """Name the times that may hold launch cost: the device could not capture their work."""
    why: dict[str, list[str]] = {}
    for metric, samples in run.samples.items():
        if samples["mode"].startswith("calls, "):
            why.setdefault(samples["mode"].partition(", ")[2], []).append(metric)
    cell = run.cell
    return [
        f"{' and '.join(metrics)} of {cell.method} on {cell.backend} may hold launch cost: {mode}"
        for mode, metrics in why.items()
    ]


def outcome(task: Task, settings: Settings, status: str, reason: str, run: Run | None = None) -> dict[str, Any]:
    """Return the record of a cell; one that is not done has a single row, which says why."""
    cell = task.cell
    row = Row(task.artefact.id, settings.scale, cell.case, cell.method, cell.backend, status=status, reason=reason)
    if run is not None and status == FAILED:
        row.metric, row.error = run.failing
    rows = run.rows if run is not None and status == DONE else [row]
    revision, date = manifest.revision(environment.root()), datetime.datetime.now(datetime.UTC)
    for each in rows:
        each.parameters = each.parameters or dict(cell.parameters)
        if status == DONE:
            each.commit = rounds.commit_of(revision)
            each.host, each.date = revision["host"] or "", date.isoformat(timespec="seconds")
    return {
        "artefact": task.artefact.id, "status": status, "reason": reason, "scale": settings.scale,
        "identity": plain(cell.identity()), "overrides": dict(settings.overrides), "key": keys.stored(task.key),
        "uses": list(cell.uses), "revision": revision, "command": settings.command,
        "rows": [plain(row.as_dict()) for row in rows],
        "samples": run.samples if run is not None and status == DONE else {},
        "checks": plain(run.checks) if run is not None else [],
        "digests": run.digests if run is not None else {},
        "clocks": plain(run.clocks) if run is not None else {},
        "notes": [], "seconds": 0.0, "traceback": "", "finished": time.time(),
        "date": date.isoformat(timespec="seconds"),
    }  # fmt: skip


def plain(value: Any) -> Any:
    """Return `value` with mappings, sequences and NumPy scalars made what JSON has."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return plain(value.item()) if hasattr(value, "item") else str(value)
