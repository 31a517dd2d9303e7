"""Measure in a process of its own, so that a kernel that crashes costs its cell and not the run.

After an illegal access a CUDA context answers every later call with the same error; a segmentation fault in compiled
code ends the process; one that hangs is stopped when its cell's time is over. In each case the next cell gets a fresh
process. ``repro run --in-process`` does without, for debuggers.
"""

import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from repro.cache.plan import Task
from repro.model import FAILED, ReproError
from repro.run import rounds
from repro.settings import Settings
from repro.units import significant

PR_SET_PDEATHSIG = 1
MEASURING = "measuring"  # what the process says when the machine is its own

NEVER = float("inf")
WHOLE = 0.8  # of a run's time: a cell that was not done in so much of it would not be done in another run either


class Late(ReproError):
    """The time of the run was over before a cell was measured."""


class Worker:
    """A process that measures cells one after another.

    Attributes
    ----------
    limit : float
        When cells have to have ended, as `time.monotonic()`.
    given : float
        Seconds that the run has. A cell that had most of them is not left to another run: it fails.
    """

    def __init__(self, settings: Settings):
        self.settings, self.limit, self.given = settings, NEVER, NEVER
        self._process: Any = None
        self._pipe: Any = None
        self._had = 0.0  # seconds of the cell that was stopped
        self._has_turn = False  # the machine is this run's, and the process measures

    def dispatch(
        self, task: Task, *, upto: int = 1, force: bool = False, begun: float = 0.0,
        tell: Callable[[str], None] = lambda text: None,
    ) -> bool:  # fmt: skip
        """Have a cell executed in the process, see `repro.run.execution.execute`; its death is a failed cell.

        One that dies while it waits for its turn has measured nothing, and another takes its place, once.

        Raises
        ------
        Late
            When it has not ended at the limit; it is stopped, and what is stored of it stays.
        ReproError
            When that dies as well; what is stored of the cell stays.
        """
        for is_last in (False, True):
            try:
                message = self._ask(task, upto, force, begun, tell)
                break
            except TimeoutError as late:
                self.close()
                if time.monotonic() >= self.limit and self._had < WHOLE * self.given:
                    raise Late(f"{task.artefact.id}: the time of the run is over") from None
                return self._fail(task, str(late), begun, upto)
            except (EOFError, ConnectionError):
                death = f"the measuring process died: {self._bury()}"
            if self._has_turn:
                return self._fail(task, death, begun, upto)
            if is_last:
                raise ReproError(f"{death}, as did one before it, and neither had begun; what is stored is kept")
        if isinstance(message, BaseException):
            raise message
        measured, task.record, task.reason = message
        if task.record["status"] == FAILED and task.record.get("traceback"):
            self.close()  # the fault may have spoilt the device's context
        return measured

    def _ask(self, task: Task, upto: int, force: bool, begun: float, tell: Callable[[str], None]) -> Any:
        """Have the process measure a cell and return what it answers; its time runs from when it holds the machine."""
        self._has_turn = False
        if self._process is None:
            self._process, self._pipe = spawned(_serve, self.settings)
        self._pipe.send((Task(task.artefact, task.cell, task.path, task.key), upto, force, begun))
        began, until = time.monotonic(), self.limit
        while True:
            left = None if until == NEVER else max(0.0, until - time.monotonic())
            if not self._pipe.poll(left):
                self._had = time.monotonic() - began
                option = "--minutes" if until == self.limit else "--cell-minutes"
                raise TimeoutError(f"not done after {significant(self._had, 2)} s, and stopped ({option})")
            message = self._pipe.recv()
            if message == MEASURING:
                self._has_turn, began = True, time.monotonic()
                until = min(began + self.settings.cell_seconds, self.limit)
            elif isinstance(message, str):
                tell(message)
            else:
                return message

    def _bury(self) -> str:
        """Return how the process died."""
        how = death(self._process)
        self.close()
        return how

    def _fail(self, task: Task, reason: str, begun: float, upto: int) -> bool:
        """Store that a cell failed, and return whether: not over one that is done since the run began.

        That is another run's, for which this one has waited, or the process had stored it and died before it said so.
        """
        from repro.run.execution import outcome

        task.look(self.settings.store)
        is_done = task.stands and rounds.count(task.record) >= upto
        if is_done and task.record.get("finished", 0.0) >= begun > 0:
            return False
        record = outcome(task, self.settings, FAILED, reason)
        self.settings.store.write(task.path, record)
        task.record, task.reason = record, ""
        return True

    def close(self) -> None:
        """End the process and all that it has started, at once if it is still measuring."""
        if self._process is None:
            return
        self._process.terminate()
        end(self._process, self._pipe, 5)
        self._process = self._pipe = None


def spawned(serve: Callable[..., None], *given: Any) -> tuple[Any, Any]:
    """Return a new process, which runs `serve` with a pipe, what it is given and this process's id; and our pipe."""
    spawn = multiprocessing.get_context("spawn")  # a forked process could not use a CUDA context
    pipe, theirs = spawn.Pipe()
    process = spawn.Process(target=serve, args=(theirs, *given, os.getpid()), daemon=True)
    # Ctrl-C goes to the whole group, and the parent decides: the child ignores it from its first instruction.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)
    theirs.close()
    return process, pipe


def death(process: Any) -> str:
    """Return how a process died."""
    process.join()
    return signal.Signals(-process.exitcode).name if process.exitcode < 0 else f"exit status {process.exitcode}"


def end(process: Any, pipe: Any, patience: float) -> None:
    """End a process that was told to, and all of its group, at once when it has had this many seconds."""
    process.join(patience)
    with contextlib.suppress(OSError):  # none is left, most often
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    pipe.close()


def _serve(pipe: Any, settings: Settings, parent: int) -> None:
    """Measure what the pipe asks for until it is closed."""
    # NumPy's and SciPy's threads would spin for a tenth of a second after a check, on cores that the next function has.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from repro.run.execution import execute

    die_with(parent)
    os.setpgid(0, 0)  # a group with the processes of rivals, so that none outlives it
    os.dup2(2, 1)  # what artefacts print must not mix with results on standard output
    apart: tuple[str, int] = ("", 0)
    while True:
        try:
            task, upto, force, begun = pipe.recv()
        except (EOFError, ConnectionError):
            return
        if apart != (loaded := (task.artefact.id, len(sys.modules))):
            set_apart()
            apart = loaded
        try:
            measured = execute(task, settings, upto=upto, force=force, begun=begun, tell=pipe.send)
            answer: Any = (measured, task.record, task.reason)
        except Exception as error:  # of the store, as when the disk is full; the cell's own faults are in its record
            answer = error
        try:
            pipe.send(answer)
        except ConnectionError:
            return


def set_apart() -> None:
    """Take what is there, most of it of modules, out of collections of garbage; what is garbage now is collected.

    A collection goes before each function that is timed. With all that a cell imports it takes longer than most
    functions are sampled.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Ask the system to end this process with its parent, so that a killed run leaves nothing on the device.

    Elsewhere than on Linux the process ends when it has finished its work and finds the pipe closed.
    """
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, by)
        if os.getppid() != parent:  # it died before it could be asked
            os._exit(1)
