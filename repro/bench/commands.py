"""asv's command lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from repro import environment, machine
from repro.discovery import UnknownName
from repro.model import ReproError, Skip

SECONDS_VARIABLE = "REPRO_BENCH_SECONDS"  # of sampling a benchmark


def checkout() -> Path:
    """Return the folder of the checkout, which has the benchmarks and the commits.

    Raises
    ------
    ReproError
        If the project is an installed package, or files without their history.
    """
    root = environment.root()
    if not all((root / name).exists() for name in ("asv.conf.json", "benchmarks", ".git")):
        raise ReproError(
            f"{root} is no git checkout: benchmarks over commits are not part of an installed package; "
            "`git clone` the project and run this there"
        )
    return root


def asv(*arguments: str, seconds: float | None = None, quiet: bool = False, tables: bool = True) -> int:
    """Run asv in the checkout and return its exit status.

    Without `tables` it shows how far it is, and not what it measures: most rows of its tables are of what does not run
    on a machine.

    Raises
    ------
    Skip
        If asv is not installed.
    ReproError
        If the project is not a checkout.
    """
    from importlib.util import find_spec

    root = checkout()  # first: outside of one asv would be installed in vain
    if find_spec("asv") is None:
        raise Skip("asv is not installed", f"{sys.executable} -m pip install asv virtualenv")
    settings = dict(os.environ) | ({SECONDS_VARIABLE: str(seconds)} if seconds else {})
    program = [sys.executable, "-m", "asv", *arguments]
    if tables or quiet:
        return subprocess.run(program, cwd=root, env=settings, stdout=subprocess.DEVNULL if quiet else None).returncode
    with subprocess.Popen(program, cwd=root, env=settings, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith(("·", "[")) and "===" not in line:
                print(line, end="", flush=True)
    return process.returncode


def name_machine(name: str) -> None:
    """Tell asv what this machine is: the harness's name for it, with the GPU where it has one."""
    facts = machine.fingerprint()
    processor = " + ".join(filter(None, (*facts.get("gpu", ()), facts.get("cpu"))))
    asv(
        "machine", "--yes", "--machine", name, "--cpu", processor, "--num_cpu", str(facts.get("cores", "")),
        "--ram", str(facts.get("memory_bytes", "")), quiet=True,
    )  # fmt: skip


def selection(benchmarks: Sequence[str]) -> list[str]:
    """Return asv's options for benchmarks by regular expression.

    Raises
    ------
    repro.discovery.UnknownName
        For what is none.
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
