"""asv's command lines."""

import os
import re
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from repro import environment, machine
from repro.discovery import UnknownName
from repro.model import ReproError, Skip
from repro.optional import installer
from repro.run.manifest import revision

LAST = 20  # lines of asv's that are shown when it fails; a benchmark's traceback is at their end
SECONDS_VARIABLE = "REPRO_BENCH_SECONDS"  # of sampling a benchmark
# As `python -m asv`, but for an end without a traceback when it is terminated, after it has stopped its benchmark.
ASV = """
import signal, sys
try:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    from asv.main import main
    main()
except KeyboardInterrupt:
    sys.exit(130)
"""


def checkout() -> Path:
    """Return the folder of the checkout, which has the benchmarks and the commits.

    Raises `ReproError` if the project is an installed package, or files without their history.
    """
    root = environment.root()
    if not all((root / name).exists() for name in ("asv.conf.json", "benchmarks", ".git")):
        raise ReproError(
            f"{root} is no git checkout: benchmarks over commits are not part of an installed package; "
            "`git clone` the project and run this there"
        )
    return root


def say_what_is_left_out(say: Callable[[str], None], checked_out: str) -> None:
    """Tell who has changed something, and may want to know what that does, that it is not what asv measures."""
    if revision(checkout())["dirty"]:
        say(f"uncommitted changes are not measured, but for those of benchmarks/: asv checks {checked_out} out")


def asv(*arguments: str, seconds: float | None = None, show: Callable[[str], object] | None = None) -> int:
    """Run asv in the checkout and return its exit status.

    Parameters
    ----------
    seconds : float, optional
        Of sampling each benchmark.
    show : callable, optional
        Given each line that asv prints; by default they go where this process's go.

    Raises
    ------
    Skip
        If asv is not installed.
    ReproError
        If the project is not a checkout, or one that cannot be written.
    """
    from importlib.util import find_spec

    root = checkout()  # first: outside of one asv would be installed in vain
    if find_spec("asv") is None:
        raise Skip("asv is not installed", installer("bench"))
    _require_writable(root / ".asv")
    settings = dict(os.environ) | ({SECONDS_VARIABLE: str(seconds)} if seconds else {})
    # A group of its own: Ctrl-C goes to the whole group, and this process decides.
    with subprocess.Popen(
        [sys.executable, "-c", ASV, *arguments], cwd=root, env=settings, text=True, errors="replace", process_group=0,
        stdout=subprocess.PIPE if show else None, stderr=subprocess.STDOUT if show else None,
    ) as process:  # fmt: skip
        try:
            for line in process.stdout or ():
                show(line)
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.communicate()  # to the end, or its last lines would break its pipe
            raise


def _require_writable(folder: Path) -> None:
    """Raise ReproError where asv could not write: it would end in a traceback, or say that there are no benchmarks."""
    try:
        for within in (folder / "results", folder / "env"):
            within.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=within).close()
    except OSError as error:
        raise ReproError(
            f"{folder} cannot be written: {error.strerror}; asv keeps its results and checkouts there"
        ) from error


def failure(what: str, last: Iterable[str]) -> str:
    """Say what asv did not do, with the last lines that it printed, which say why."""
    said = "".join(last).rstrip()
    return what + (f"; its last lines:\n{said}" if said else "")


def name_machine(name: str) -> None:
    """Tell asv what this machine is: the harness's name for it, with the GPU where it has one.

    Raises `ReproError` if asv does not keep it, as in a home that cannot be written.
    """
    facts = machine.fingerprint()
    processor = " + ".join(filter(None, (*facts.get("gpu", ()), facts.get("cpu"))))
    last: deque[str] = deque(maxlen=LAST)
    status = asv(
        "machine", "--yes", "--machine", name, "--cpu", processor, "--num_cpu", str(facts.get("cores", "")),
        "--ram", str(facts.get("memory_bytes", "")), show=last.append,
    )  # fmt: skip
    if status:
        raise ReproError(failure(f"asv could not write ~/.asv-machine.json: exit status {status}", last))


def selection(benchmarks: Sequence[str]) -> list[str]:
    """Return asv's options for benchmarks by regular expression.

    Raises `UnknownName` for what is none.
    """
    for pattern in benchmarks:
        try:
            re.compile(pattern)
        except re.error as error:
            raise UnknownName(f"{pattern!r} is no regular expression: {error}") from error
    return [word for pattern in benchmarks for word in ("--bench", pattern)]


def quick_set() -> tuple[str, ...]:
    """Return the benchmarks that ``repro bench`` runs when it is asked for none by name."""
    import importlib

    sys.path.insert(0, str(checkout()))
    try:
        return tuple(importlib.import_module("benchmarks").QUICK)
    finally:
        sys.path.pop(0)


def results_folder() -> Path:
    """Return where asv keeps its results."""
    return environment.root() / ".asv" / "results"
