"""Results of asv for a commit, as values by benchmark and parameters."""

import itertools
import math
import re
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence

from repro import environment
from repro.bench import commands
from repro.discovery import UnknownName
from repro.model import ReproError

HEADING = re.compile(r"\[ *[\d.]+%\] ··· \.*([\w.]+)")  # of a benchmark in asv's output; of a long name it is the end
FAILED = re.compile(r"asv: benchmark (failed|timed out)")


def commit_hash(revision: str) -> str:
    """Return the hash of a commit of the checkout, or raise UnknownName."""
    command = ["git", "-C", str(environment.root()), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnknownName(f"{revision!r} is no commit of this checkout")
    return done.stdout.strip()


def discover(commit: str, machine: str, benchmarks: Sequence[str]) -> list[str]:
    """Return the benchmarks that match, also benchmarks that cannot run here; asv looks for them in seconds.

    Each is a name with parameters in which one of the regular expressions is found.

    Raises `UnknownName` if there are none.
    """
    last: deque[str] = deque(maxlen=commands.LAST)
    words = ("run", "--machine", machine, "--bench", "just-discover", f"{commit}^!")
    status = commands.asv(*words, show=last.append)
    if status:
        raise ReproError(commands.failure(f"asv found no benchmarks at {commit[:9]}: exit status {status}", last))
    described = _described()
    found = [name for each in described.values() for name in _names(each) if _matches(name, benchmarks)]
    if not found:
        known = ", ".join(sorted({name.rpartition(".")[0] for name in described}))
        raise UnknownName(
            f"no benchmark matches {' '.join(benchmarks)}; `--bench .` takes all of them, which are of {known}; "
            "what is not committed is not measured"
        )
    return found


def measure(
    commit: str, machine: str, benchmarks: Sequence[str], seconds: float, may_be_nothing: bool = False,
    failed: dict[str, str] | None = None,
) -> Mapping[str, tuple[float, str]]:  # fmt: skip
    """Run asv on a commit and return what it measured: value and unit by benchmark and parameters.

    Nothing at all is an error, unless it may be since every benchmark failed.

    Parameters
    ----------
    failed : dict, optional
        Is given asv's last lines on each benchmark that failed, by the end of its name.
    """
    options = ["--machine", machine, "--show-stderr", *commands.selection(benchmarks)]
    begun, last, own, name = time.time(), deque(maxlen=commands.LAST), deque(maxlen=commands.LAST), ""

    def show(line: str) -> None:
        nonlocal name
        if heading := HEADING.match(line):
            name = heading[1]
            own.clear()
        last.append(line)
        own.append(line)
        if failed is not None and FAILED.search(line):
            failed[name] = "".join(own)

    status = commands.asv("run", *options, f"{commit}^!", seconds=seconds, show=show)
    found = read(commit, machine, benchmarks, begun)
    # 2: some benchmark failed, as one that the commit has not
    if status not in (0, 2) or not (found or (may_be_nothing and status == 2)):
        raise ReproError(commands.failure(
            f"asv could not run {commit[:9]}: exit status {status}" if status else
            f"asv ran, and none of the benchmarks that match has a value at {commit[:9]}", last
        ))  # fmt: skip
    return found


def read(commit: str, machine: str, benchmarks: Sequence[str], since: float) -> dict[str, tuple[float, str]]:
    """Return what asv has measured of a commit since a time: value and unit by benchmark and parameters.

    asv keeps what earlier runs found, and of a benchmark that it runs anew the values of parameters that were not asked
    for; both are left out.

    Parameters
    ----------
    benchmarks : sequence of str
        What asv was asked for: regular expressions over names with parameters.
    since : float
        Seconds since 1970.
    """
    from asv.results import Results

    folder = commands.results_folder() / machine
    paths = sorted(folder.glob(f"{commit[:8]}-*.json"), key=lambda path: path.stat().st_mtime)
    if not paths:
        return {}
    results, described = Results.load(str(paths[-1]), machine), _described()
    found = {}
    for name in results.get_all_result_keys():
        started = results.started_at.get(name) or 0  # milliseconds
        if name not in described or started < math.floor(since * 1000):
            continue
        values = results.get_result_value(name, described[name]["params"])
        for shown, value in zip(_names(described[name]), values):
            if _matches(shown, benchmarks) and isinstance(value, int | float) and value == value:
                found[shown] = (float(value), described[name].get("unit", ""))
    return found


def _described() -> dict[str, dict]:
    """Return the benchmarks as asv found them last, by name."""
    from asv.util import load_json

    return load_json(str(commands.results_folder() / "benchmarks.json"), api_version=2)


def _names(described: Mapping) -> list[str]:
    """Return the names of a benchmark with its parameters, as asv matches and shows them."""
    combinations = itertools.product(*described["params"])
    return [f"{described['name']}({', '.join(words)})" if words else described["name"] for words in combinations]


def _matches(name: str, benchmarks: Sequence[str]) -> bool:
    return any(re.search(pattern, name) for pattern in benchmarks)
