"""Go through the cells of the chosen artefacts: measure what has to be measured, and write each artefact's files."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro.cache import hosts, kept
from repro.cache.files import files_stem
from repro.cache.glance import glance
from repro.cache.plan import Task
from repro.cache.store import clean_temporaries, measuring_lock, read_json, require_writable
from repro.model import DONE, FAILED, SKIPPED, ReproError
from repro.run import building, execution, rehearsal
from repro.run.jobs import Job, replaced
from repro.run.minutes import Minutes
from repro.run.worker import NEVER, Late, Worker
from repro.settings import Settings
from repro.show.render import render

WRITTEN_EVERY = 600.0  # seconds between two writings of an artefact's files while it lacks rounds
WRITING_SECONDS = 1.5  # that the files of an artefact take, about
UNSURE = 1.25  # times what a cell should take, it may


class Silent:
    """A watcher that says nothing; `repro.cli.progress.Follower` has what one is told."""

    def __getattr__(self, name: str):
        return lambda *arguments: None


@dataclass
class Summary:
    """How a run ended."""

    #: `measured`, `reused`, `skipped`, `failed`: cells that were measured now and are done, that were done before,
    #: skipped, failed.
    measured: int = 0
    reused: int = 0
    skipped: int = 0
    failed: int = 0
    problems: dict[str, str] = field(default_factory=dict)  #: artefacts that could not be run or shown, and why
    #: `interrupted`, `late`: whether it was told to stop, and whether its time was over before every cell was measured.
    interrupted: bool = False
    late: bool = False
    files: list[Path] = field(default_factory=list)
    minutes: Minutes = field(default_factory=Minutes)  #: where its time went

    @property
    def exit_code(self) -> int:
        """0 when every cell is done or skipped, 3 when time was over, 1 when something failed, 130 when interrupted."""
        return 130 if self.interrupted else 3 if self.late else int(bool(self.failed or self.problems))

    def count(self, task: Task, measured: bool) -> None:
        """Count a cell."""
        status = kept.last(task.record)["status"] if task.record else FAILED
        if status == DONE:
            self.measured += measured
            self.reused += not measured
        else:
            self.skipped += status == SKIPPED
            self.failed += status == FAILED


def go_through(
    jobs: Sequence[Job], settings: Settings, *, force: bool = False, isolate: bool = True, watcher: Any = None,
    until: float = NEVER,
) -> Summary:  # fmt: skip
    """Measure the wanted cells of the jobs that have to be measured, and write the artefacts' files.

    Raises `ReproError` when the cache or the folder of results cannot be written, or that has other hosts' results.

    Parameters
    ----------
    isolate : bool
        Measure in a process of its own, so that a crash costs one cell; and build the data that the cells need before
        the first of them, several at once.
    until : float, optional
        When it has to have ended, as `time.monotonic()`: cells that would take longer are left to another run.
    """
    hosts.require_own(settings.store.folder, settings.continuing)
    watcher = watcher or Silent()
    begun, given, summary = time.time(), until - time.monotonic(), Summary()
    clean_temporaries(settings.store.folder)
    # Kept as they are now: the time left goes by how the finished cells kept to what was expected of them.
    pending = {task.path: (job, task) for job in jobs for task in job.pending(force)}
    every = {path: seconds for job in jobs for path, seconds in job.expected_seconds(settings).items()}
    expected = {path: every[path] for path in pending}
    had = {path: 0 if force else task.found for path, (_, task) in pending.items()}
    if expected:  # what cannot be written is found before any file is written anew, and before any cell is measured
        measuring_lock()
        require_writable(settings.store.folder)
        hosts.claim(settings.store, settings.continuing)
    for job in jobs:
        if text := replaced(job, settings):
            watcher.replaces(text)
    counted: set[tuple[str, Path]] = set()
    times = {path: settings.rounds - had[path] for path in expected}
    watcher.begin(sum(times.values()), sum(seconds * times[path] for path, seconds in expected.items()))
    worker = Worker(settings) if isolate else None
    if worker:
        worker.given = given
    unwritten: dict[str, tuple[Job, float]] = {}  # artefacts with cells that their files have not, since when
    try:
        if isolate:
            begun_to_build = time.monotonic()
            building.build_ahead([task for job in jobs for task in job.pending(force)], settings, watcher, until)
            built = time.monotonic()
            summary.minutes.add("data", built - begun_to_build)
            rehearsal.rehearse([task for job in jobs for task in job.pending(force)], settings, watcher, until)
            summary.minutes.add("compile", time.monotonic() - built)
        passes = max(times.values(), default=1)
        for passed in range(passes + (until < NEVER)):
            is_last = passed == passes  # cells that seemed too long for the time that is left: they may not be
            if worker and passed:
                worker.close()  # a round is a process of its own
            lot = int(time.time()) if is_last else settings.seed + passed
            order = _shuffled(jobs, lot) if settings.rounds > 1 or is_last else jobs
            for job in order:
                if job.problem:
                    if not passed:
                        summary.problems[job.artefact.id] = job.problem
                        watcher.problem(job.artefact, job.problem)
                elif any(task.path in expected for task in job.wanted) or not (
                    passed or _is_written(job, settings, until)
                ):
                    name = job.artefact.id
                    unwritten[name] = job, unwritten.get(name, (job, time.monotonic()))[1]
                    limit = until - WRITING_SECONDS * len(unwritten)
                    if worker:
                        worker.limit = limit
                    _run_job(
                        job, settings, force and not passed, begun, worker, watcher, summary, expected, had, counted,
                        limit, 0.0 if is_last else UNSURE,
                    )  # fmt: skip
                    is_done = not any(task.path in expected for task in job.wanted)
                    if is_done or time.monotonic() - unwritten[name][1] > WRITTEN_EVERY:
                        _write(unwritten.pop(name)[0], settings, watcher, summary)
        _write_all(unwritten, settings, watcher, summary)
        summary.late = bool(expected)
    except KeyboardInterrupt:
        summary.interrupted = True
        _write_all(unwritten, settings, watcher, summary)
    except (OSError, ReproError) as error:
        with contextlib.suppress(ReproError):  # whatever happened, what is done is shown
            _write_all(unwritten, settings, watcher, summary)
        if isinstance(error, OSError):
            raise _unwritable(settings, error) from error
        raise
    finally:
        if worker:
            worker.close()
    return summary


def _shuffled(jobs: Sequence[Job], seed: int) -> list[Job]:
    """Return the jobs, and the cells of each, in an order drawn by lot; cells that share data stay together."""
    lot = random.Random(seed)
    drawn = []
    for job in lot.sample(jobs, len(jobs)):
        groups: dict[tuple[str, ...], list[Task]] = {}
        for task in lot.sample(job.wanted, len(job.wanted)):
            groups.setdefault(task.cell.data, []).append(task)
        drawn.append(replace(job, wanted=[task for group in groups.values() for task in group]))
    return drawn


def _run_job(
    job: Job, settings: Settings, force: bool, begun: float, worker: Worker | None, watcher: Any, summary: Summary,
    expected: dict[Path, float], had: dict[Path, int], counted: set[tuple[str, Path]], limit: float, unsure: float,
) -> None:  # fmt: skip
    """Measure a round of each of a job's wanted cells that lacks one.

    Parameters
    ----------
    expected : dict of Path to float
        Seconds of a round of the cells that still lack some; those that have all, or failed, are taken out.
    had : dict of Path to int
        The rounds that each cell has, counted up.
    counted : set of (str, Path)
        The artefacts' cells that the summary has.
    limit : float
        When its last cell has to have ended.
    unsure : float
        How many times as long as it should a cell may take.
    """
    current: Task | None = None  # what is being measured
    has_waited = False

    def waiting() -> None:
        nonlocal has_waited
        has_waited = True
        watcher.waiting()

    options = {"force": force, "begun": begun, "waiting": waiting, "saying": watcher.data}
    for owner in {task.artefact.id: task.artefact for task in job.wanted if task.path in expected}.values():
        if owner.id != job.artefact.id:
            watcher.shares(job.artefact, owner)
    with glance():
        for task in job.wanted:
            if task.path not in expected:  # as before, or measured for an earlier job that shows the same cell
                task.look(settings.store)
    try:
        for task in job.wanted:
            measured = task.path in expected
            began = time.monotonic()
            if measured and began + unsure * expected[task.path] > limit:
                continue
            if measured:
                watcher.cell(task, task.reason or "forced")
                current, has_waited = task, False
                if task.stands:  # its earlier rounds may be in the files alone
                    task.keep(settings.store)
                options["upto"] = had[task.path] = had[task.path] + 1
                try:
                    measured = (
                        worker.dispatch(task, **options) if worker else execution.execute(task, settings, **options)
                    )
                except Late:
                    had[task.path] -= 1
                    current = None
                    continue
                current = None
                if measured:
                    summary.minutes.measured(task.artefact.paper, task.record, time.monotonic() - began)
                watcher.done(task, measured, expected[task.path])
                if had[task.path] >= settings.rounds or kept.last(task.record)["status"] != DONE:
                    del expected[task.path]
                    summary.count(task, measured)
                    counted.add((job.artefact.id, task.path))
            elif (job.artefact.id, task.path) not in counted:
                summary.count(task, False)
                counted.add((job.artefact.id, task.path))
    except (KeyboardInterrupt, OSError, ReproError):
        if worker:
            worker.close()  # at once, or it goes on and stores a cell that neither the summary nor the files have
        if current and _is_stored_since(begun, current, settings):
            summary.count(current, not has_waited)  # where it waited, what is stored may be the other run's
        raise


def _is_written(job: Job, settings: Settings, until: float) -> bool:
    """Return whether a run whose time is short need not write an artefact's files: they have every cell as it is."""
    if until == NEVER:
        return False
    files = files_stem(job.artefact, settings, job.data)
    try:
        cells = read_json(files.with_name(f"{files.name}.json")).get("cells", ())
    except (OSError, ReproError):
        return False
    names = ("case", "method", "backend", "parameters")

    def place(cell: Mapping[str, Any], date: str) -> str:
        return repr(([cell[name] for name in names], date))

    shown = {place(task.record["identity"], task.record["date"]) for task in kept.shown(job.tasks)}
    return bool(shown) and shown == {place(cell, cell["date"]) for cell in cells}


def _write_all(unwritten: dict[str, tuple[Job, float]], settings: Settings, watcher: Any, summary: Summary) -> None:
    while unwritten:
        _write(unwritten.pop(next(iter(unwritten)))[0], settings, watcher, summary)


def _write(job: Job, settings: Settings, watcher: Any, summary: Summary) -> None:
    """Write an artefact's files."""
    began = time.monotonic()
    try:
        rendered = render(job.artefact, job.module, job.tasks, settings)
    except OSError as error:
        raise _unwritable(settings, error) from error
    summary.files += rendered.files
    if rendered.problems:
        summary.problems[job.artefact.id] = "; ".join(rendered.problems)
    watcher.rendered(rendered)
    summary.minutes.add("files", time.monotonic() - began, job.artefact.paper)


def _unwritable(settings: Settings, error: OSError) -> ReproError:
    return ReproError(f"{settings.store.folder} cannot be written: {error}; what is stored is kept")


def _is_stored_since(begun: float, task: Task, settings: Settings) -> bool:
    """Return whether a cell at which the run was cut off had been stored by then, and take what is stored."""
    task.look(settings.store)
    return task.record is not None and kept.last(task.record)["finished"] >= begun
