"""Go through the cells of the chosen artefacts: measure what has to be measured, and write each artefact's files."""

import contextlib
import itertools
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from repro import environment
from repro.cache import hosts, kept
from repro.cache.glance import glance
from repro.cache.plan import Task
from repro.cache.store import WAITING, clean_temporaries, measuring_lock, require_writable
from repro.model import DONE, FAILED, SKIPPED, ReproError
from repro.run import building, execution, manifest, rehearsal
from repro.run.jobs import Job, beside, dropped, listed, place, replaced, sharing
from repro.run.minutes import Minutes
from repro.run.state import ON_CORES
from repro.run.worker import MEASURING, NEVER, Late, Worker
from repro.settings import Settings
from repro.show.render import render

WRITTEN_EVERY = 600.0  # seconds between two writings of an artefact's files while it lacks rounds
WRITING_SECONDS = 1.5  # that the files of an artefact take, about,
WRITING_A_CELL = 0.005  # and what each of its cells adds
UNSURE = 1.25  # times what a cell should take, it may
UNPROVABLE = (
    "nothing tells by which sources this measures, so `repro verify` will call it unverified: there is no git, or no "
    "checkout; set REPRO_COMMIT to the commit that these sources are of"
)
SOONEST = "cuda"  # where time is short, its cells come before cells of processors, which take longer and tell less


class Silent:
    """A watcher that says nothing; `repro.cli.progress.Follower` has what one is told."""

    def __getattr__(self, name: str):
        return lambda *arguments: None


@dataclass
class Summary:
    """Outcome of a run."""

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
    clean_temporaries(settings.store.folder)
    going = _Going(jobs, settings, force, watcher or Silent(), until, Worker(settings) if isolate else None)
    try:
        going.prepare()
        going.through()
    except KeyboardInterrupt:
        going.summary.interrupted = True
        going.write_all()
    except (OSError, ReproError) as error:
        with contextlib.suppress(ReproError):  # whatever happened, what is done is shown
            going.write_all()
        if isinstance(error, OSError):
            raise _unwritable(settings, error) from error
        raise
    finally:
        if going.worker:
            going.worker.close()
    return going.summary


class _Going:
    """A run on its way.

    Attributes
    ----------
    expected : dict of Path to float
        Seconds of a round of the cells that still lack some; cells that have all, failed or were skipped are taken out.
    had : dict of Path to int
        The rounds that each cell has, counted up.
    counted : set of (str, Path)
        The artefacts' cells that the summary has.
    unwritten : dict of str to (Job, float)
        Artefacts with cells that their files have not, since when.
    measured : dict of str to set of Path
        The cells that have been measured since an artefact's files were written.
    beside : list of Artefact
        Artefacts that may show its cells, too, though it does not name them.
    unshared : set of Path
        The cells that have been measured since the files of `beside` were written.
    """

    def __init__(
        self, jobs: Sequence[Job], settings: Settings, force: bool, watcher: Any, until: float, worker: Worker | None
    ):
        self.jobs, self.settings, self.force, self.watcher = jobs, settings, force, watcher
        self.until, self.worker, self.begun, self.summary = until, worker, time.time(), Summary()
        if worker:
            worker.given = until - time.monotonic()
        # Kept as they are now: the time left goes by how the finished cells kept to what was expected of them.
        pending = {task.path: task for job in jobs for task in job.pending(force)}
        every = {path: seconds for job in jobs for path, seconds in job.expected_seconds(settings).items()}
        self.expected = {path: every[path] for path in pending}
        self.had = {path: 0 if force else task.found for path, task in pending.items()}
        self.counted: set[tuple[str, Path]] = set()
        self.unwritten: dict[str, tuple[Job, float]] = {}
        self.measured: dict[str, set[Path]] = {job.artefact.id: set() for job in jobs}
        self.beside, self.unshared = beside(jobs), set[Path]()
        self.served = set[Path]()  # the cells that have had their round of this pass

    def prepare(self) -> None:
        """Find out what cannot be written before any cell is measured, and build what the cells need."""
        settings, watcher = self.settings, self.watcher
        if self.expected:
            measuring_lock()
            require_writable(settings.store.folder)
            on_cores = any(task.cell.backend in ON_CORES for job in self.jobs for task in job.pending(self.force))
            hosts.claim(settings.store, settings.continuing, processor=on_cores)
            if manifest.revision(environment.root())["commit"] is None:
                watcher.tell(UNPROVABLE, "yellow")
        for job in self.jobs:
            if text := replaced(job, settings):
                watcher.tell(text, "yellow")
        times = {path: settings.rounds - self.had[path] for path in self.expected}
        watcher.begin(sum(times.values()), sum(seconds * times[path] for path, seconds in self.expected.items()))
        if self.worker:
            began = time.monotonic()
            tasks = [task for job in self.jobs for task in job.pending(self.force)]
            building.build_ahead(tasks, settings, watcher, self.until)
            built = time.monotonic()
            rehearsal.rehearse(tasks, settings, watcher, self.until)
            self.summary.minutes.add("data", built - began)
            self.summary.minutes.add("compile", time.monotonic() - built)

    def through(self) -> None:
        """Go through the jobs, round after round."""
        passes = max((self.settings.rounds - self.had[path] for path in self.expected), default=1)
        for passed in range(passes + (self.until < NEVER)):
            is_last = passed == passes  # cells that seemed too long for the time that is left: they may not be
            if self.worker and passed:
                self.worker.close()  # a round is a process of its own
            self.served.clear()
            lot = int(time.time()) if is_last else self.settings.seed + passed
            jobs = _shuffled(self.jobs, lot) if self.settings.rounds > 1 or is_last else self.jobs
            orders = (True, False) if self.until < NEVER and not is_last else (None,)
            for soonest, job in itertools.product(orders, jobs):
                name = job.artefact.id
                if job.problem:
                    if name not in self.summary.problems:
                        self.summary.problems[name] = job.problem
                        self.watcher.tell(job.problem, "red")
                elif self._lacks(job) or self._shows_more(job, passed):
                    self.unwritten[name] = job, self.unwritten.get(name, (job, time.monotonic()))[1]
                    self._measure(job, 0.0 if is_last else UNSURE, soonest)
                    if not self._lacks(job) or time.monotonic() - self.unwritten[name][1] > WRITTEN_EVERY:
                        self.write(name)
        self.write_all()
        self.summary.late = bool(self.expected)

    def _lacks(self, job: Job) -> bool:
        return any(task.path in self.expected for task in job.wanted)

    def _shows_more(self, job: Job, passed: int) -> bool:
        """Return whether an artefact's files lack cells that are measured, by other jobs of this run or before it."""
        if any(task.path in self.measured[job.artefact.id] for task in job.tasks):
            return True
        return not (passed or _is_written(job, self.settings, self.until))

    def _measure(self, job: Job, unsure: float, soonest: bool | None) -> None:
        """Measure a round of each of a job's wanted cells that lacks one, unless it may take too long.

        A cell may take `unsure` times as long as it should. `soonest`: only the cells that come first in a short time,
        or only the others; None: all.
        """
        expected, had, summary, watcher, worker = self.expected, self.had, self.summary, self.watcher, self.worker
        limit = self.until - WRITING_SECONDS * (len(self.unwritten) + len(self.beside))
        limit -= WRITING_A_CELL * sum(len(each.tasks) for each, _ in self.unwritten.values())
        if worker:
            worker.limit = limit
        current: Task | None = None  # what is being measured
        has_waited = False

        def tell(text: str) -> None:
            nonlocal has_waited
            has_waited |= text == WAITING
            if text != MEASURING:
                watcher.tell(text)

        options = {"begun": self.begun, "tell": tell}
        for owner in {task.artefact.id: task.artefact.id for task in job.wanted if task.path in expected}:
            if owner != job.artefact.id:
                watcher.tell(f"{job.artefact.id} shows cells of {owner}, which are measured by that name")
        with glance():
            for task in job.wanted:
                if task.path not in expected:  # as before, or measured for an earlier job that shows the same cell
                    task.look(self.settings.store)
        try:
            for task in job.wanted:
                measured = task.path in expected
                if measured and task.path in self.served:  # for another artefact that shows it
                    continue
                began = time.monotonic()
                if measured and began + unsure * expected[task.path] > limit:
                    continue
                if measured and soonest not in (None, task.cell.backend == SOONEST):
                    continue
                if measured:
                    watcher.cell(task, task.reason or "forced")
                    current, has_waited = task, False
                    if task.stands:  # its earlier rounds may be in the files alone
                        task.keep(self.settings.store)
                    options["force"] = self.force and not had[task.path]  # the first round replaces what was stored
                    options["upto"] = had[task.path] = had[task.path] + 1
                    try:
                        measured = (
                            worker.dispatch(task, **options)
                            if worker
                            else execution.execute(task, self.settings, **options)
                        )
                    except Late:
                        had[task.path] -= 1
                        current = None
                        continue
                    current = None
                    self.served.add(task.path)
                    if measured:
                        for since in (*self.measured.values(), self.unshared):
                            since.add(task.path)
                        summary.minutes.measured(task.artefact.paper, task.record, time.monotonic() - began)
                    watcher.done(task, measured, expected[task.path])
                    if had[task.path] >= self.settings.rounds or kept.last(task.record)["status"] != DONE:
                        del expected[task.path]
                        self._count(job, task, measured)
                elif (job.artefact.id, task.path) not in self.counted:
                    self._count(job, task, False)
        except (KeyboardInterrupt, OSError, ReproError):
            if worker:
                worker.close()  # at once, or it goes on and stores a cell that neither the summary nor the files have
            if current and _is_stored_since(self.begun, current, self.settings):
                summary.count(current, not has_waited)  # where it waited, what is stored may be the other run's
            raise

    def _count(self, job: Job, task: Task, measured: bool) -> None:
        self.summary.count(task, measured)
        self.counted.add((job.artefact.id, task.path))

    def write_all(self) -> None:
        """Write the files of all artefacts that have cells which their files have not."""
        for name in list(self.unwritten):
            self.write(name)
        measured, self.unshared = self.unshared, set()
        for job in sharing(self.beside, measured, self.settings) if measured else ():
            self._write_beside(job)

    def _write_beside(self, job: Job) -> None:
        """Write the files of an artefact that this run does not name, unless they would lose what others measured."""
        name = job.artefact.id
        if lost := dropped(job, self.settings):
            text = f"{name} shows cells of this run, but its files stay older: of their cells {lost} would be lost, as "
            self.watcher.tell(f"{text}they do not stand here; `repro run {name}` renews the files", "yellow")
            return
        self._render(job, shows=False)

    def write(self, name: str) -> None:
        """Write an artefact's files."""
        job, since = self.unwritten.pop(name)
        self.measured[name].clear()
        try:
            self._render(job)
        except KeyboardInterrupt:  # half of its files may be there: they are written again
            self.unwritten[name] = job, since
            raise

    def _render(self, job: Job, shows: bool = True) -> None:
        began = time.monotonic()
        try:
            rendered = render(job.artefact, job.module, job.tasks, self.settings)
        except OSError as error:
            raise _unwritable(self.settings, error) from error
        self.summary.files += rendered.files
        if rendered.problems:
            self.summary.problems[job.artefact.id] = "; ".join(rendered.problems)
        self.watcher.rendered(rendered if shows else replace(rendered, tables=[]))
        self.summary.minutes.add("files", time.monotonic() - began, job.artefact.paper)


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


def _is_written(job: Job, settings: Settings, until: float) -> bool:
    """Return whether a run whose time is short need not write an artefact's files: they have every cell as it is."""
    if until == NEVER:
        return False
    shown = {(place(task.record["identity"]), task.record["date"]) for task in kept.shown(job.tasks)}
    return bool(shown) and shown == {(place(cell), cell["date"]) for cell in listed(job, settings)}


def _unwritable(settings: Settings, error: OSError) -> ReproError:
    return ReproError(f"{settings.store.folder} cannot be written: {error}; what is stored is kept")


def _is_stored_since(begun: float, task: Task, settings: Settings) -> bool:
    """Return whether a cell at which the run was cut off had been stored by then, and take what is stored."""
    task.look(settings.store)
    return task.record is not None and kept.last(task.record)["finished"] >= begun
