"""Two commits against each other, in rounds that alternate, with a verdict by the interval of the ratio."""

from __future__ import annotations

import itertools
import math
import re
import statistics
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from repro import environment
from repro.bench import commands
from repro.discovery import UnknownName
from repro.model import ReproError

ROUNDS = 6  # the fewest whose extremes enclose the median with 95 % confidence: 1 - 2 / 2**6
THRESHOLD = 0.03
ERRORS = re.compile(r"\.track_(error|residual)\b")
#: Of errors the least change that is called one: another order of additions moves them by less, a lost digit by ten.
ERRORS_THRESHOLD = 1.0
ROUNDING = 1e-15  # an error up to this is none
LAST = 20  # lines of asv's that are shown when it fails; a benchmark's traceback is at their end
SLOWER, FASTER, SAME, LOST = "slower", "faster", "no change", "lost"
REGRESSIONS = (SLOWER, "worse", LOST)


@dataclass(frozen=True)
class Verdict:
    """How one benchmark of the newer commit does against the older.

    Attributes
    ----------
    benchmark, unit : str
    base, new : float
        Medians over the rounds.
    ratio, low, high : float
        Median of the rounds' ratios new / base, and the least and the greatest of them, which enclose the true median
        with a confidence of 1 - 2^(1 - rounds).
    verdict : {'slower', 'faster', 'no change', 'worse', 'better', 'lost'}
        Slower only if the whole interval lies beyond the threshold. Numbers that do not vary, as iterations or bytes,
        are worse or better by the same rule, errors when they are twice or half as large and not of rounding. Lost is
        what the older commit measured and the newer did not, or not in every round; then there is no value of the
        newer, and no ratio.
    """

    benchmark: str
    unit: str
    base: float
    new: float | None
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str


def judge(benchmark: str, unit: str, base: Sequence[float], new: Sequence[float], threshold: float) -> Verdict:
    """Return the verdict on one benchmark from the rounds' medians, which belong together one by one."""
    pairs = list(zip(base, new, strict=True))
    if ERRORS.search(benchmark):
        threshold = max(threshold, ERRORS_THRESHOLD)
        pairs = [(max(b, ROUNDING), max(n, ROUNDING)) for b, n in pairs]
    ratios = [n / b if b else (1.0 if n == b else float("inf")) for b, n in pairs]
    low, high = min(ratios), max(ratios)
    words = (SLOWER, FASTER) if unit == "seconds" else ("worse", "better")
    verdict = words[0] if low > 1 + threshold else words[1] if high < 1 / (1 + threshold) else SAME
    medians = [statistics.median(values) for values in (base, new, ratios)]
    return Verdict(benchmark, unit, *medians, low, high, verdict)


def compare(
    base: str, new: str, machine: str, benchmarks: Sequence[str], *, rounds: int = ROUNDS, threshold: float = THRESHOLD,
    seconds: float = 0.5, say: Callable[[str], None] = lambda text: None,
) -> list[Verdict]:  # fmt: skip
    """Measure two commits in turn, and judge what every round has measured of both; the newer may have lost some.

    Parameters
    ----------
    base, new : str
        Revisions.
    machine : str
        This machine's name among asv's results.
    benchmarks : sequence of str
        Regular expressions over names with parameters.
    rounds : int
        Of one measurement of each commit; the one that goes first changes from round to round.
    threshold : float
        The least relative change that is called one.
    seconds : float
        Of sampling, each time.
    say : callable
        Told what is to be done, how it goes on, and for how long.

    Raises
    ------
    repro.discovery.UnknownName
        For a revision that is not one, too few rounds, what is no regular expression, or matches nothing.
    ReproError
        When asv fails, or the two have no benchmark in common.
    """
    if rounds < ROUNDS:
        raise UnknownName(f"{rounds} rounds give no interval of 95 %; it takes {ROUNDS}")
    commands.selection(benchmarks)
    commits = {"base": commit_hash(base), "new": commit_hash(new)}
    if commits["base"] == commits["new"]:
        say(f"{base} and {new} are one commit, {commits['new'][:9]}: what differs is noise")
    commands.name_machine(machine)
    say(f"benchmarks that match: {_count(commits['new'], machine, benchmarks)}; each that runs here is measured "
        f"{2 * rounds} times, {rounds} rounds of both commits")  # fmt: skip
    commands.say_what_is_left_out(say, "the two commits")
    taken: dict[str, list[Mapping[str, tuple[float, str]]]] = {"base": [], "new": []}
    turns = [(n, side) for n in range(rounds) for side in (("base", "new") if n % 2 == 0 else ("new", "base"))]
    begun = time.monotonic()
    for done, (number, side) in enumerate(turns):
        left = (time.monotonic() - begun) / done * (len(turns) - done) if done else None
        to_go = f"; about {math.ceil(left / 60)} min to go" if left else ""
        say(f"round {number + 1} of {rounds}: {side}, {commits[side][:9]}{to_go}")
        taken[side].append(_measure(commits[side], machine, benchmarks, seconds))
    common = set.intersection(*(set(found) for side in taken.values() for found in side))
    if not common:
        raise ReproError(
            f"{base} and {new} have no benchmark in common that runs here and matches {' '.join(benchmarks)}"
        )
    verdicts = []
    for name in sorted(common):
        values = {side: [found[name][0] for found in rounds_of] for side, rounds_of in taken.items()}
        verdicts.append(judge(name, taken["new"][-1][name][1], values["base"], values["new"], threshold))
    return verdicts + _lost(taken["base"], taken["new"])


def _lost(
    base: Sequence[Mapping[str, tuple[float, str]]], new: Sequence[Mapping[str, tuple[float, str]]]
) -> list[Verdict]:
    """Return what the older commit measured in any round, and the newer not in every one, as when it fails there."""
    verdicts = []
    for name in sorted(set().union(*base) - set.intersection(*map(set, new))):
        taken = [found[name] for found in base if name in found]
        median = statistics.median(value for value, _ in taken)
        verdicts.append(Verdict(name, taken[-1][1], median, None, None, None, None, LOST))
    return verdicts


def commit_hash(revision: str) -> str:
    """Return the hash of a commit of the checkout, or raise UnknownName."""
    command = ["git", "-C", str(environment.root()), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnknownName(f"{revision!r} is no commit of this checkout")
    return done.stdout.strip()


def _count(commit: str, machine: str, benchmarks: Sequence[str]) -> int:
    """Return how many benchmarks match, those that cannot run here among them; asv looks for them in seconds."""
    last: deque[str] = deque(maxlen=LAST)
    words = ("run", "--machine", machine, "--bench", "just-discover", f"{commit}^!")
    status = commands.asv(*words, show=last.append)
    if status:
        raise ReproError(_failure(f"asv found no benchmarks at {commit[:9]}", status, last))
    return len(matching(benchmarks))


def matching(benchmarks: Sequence[str]) -> list[str]:
    """Return the names with parameters, as asv found them last, that any of some regular expressions is found in.

    Raises
    ------
    repro.discovery.UnknownName
        If there are none.
    """
    described = _described()
    found = [name for each in described.values() for name in _names(each) if _matches(name, benchmarks)]
    if not found:
        known = ", ".join(sorted({name.rpartition(".")[0] for name in described}))
        raise UnknownName(
            f"no benchmark matches {' '.join(benchmarks)}; `--bench .` takes all of them, which are of {known}"
        )
    return found


def has_looked(since: float) -> bool:
    """Return whether asv has found benchmarks, whatever it was asked for, since a time in seconds since 1970."""
    path = commands.results_folder() / "benchmarks.json"
    return path.is_file() and path.stat().st_mtime >= since


def _measure(commit: str, machine: str, benchmarks: Sequence[str], seconds: float) -> Mapping[str, tuple[float, str]]:
    """Run asv on a commit and return what it measured: value and unit by benchmark and parameters."""
    options = ["--machine", machine, "--launch-method", "spawn", "--show-stderr", *commands.selection(benchmarks)]
    begun, last = time.time(), deque(maxlen=LAST)
    status = commands.asv("run", *options, f"{commit}^!", seconds=seconds, show=last.append)
    found = read(commit, machine, benchmarks, begun)
    if status not in (0, 2) or not found:  # 2: some benchmark failed, as one that the commit has not
        raise ReproError(_failure(f"asv could not run {commit[:9]}", status, last))
    return found


def _failure(what: str, status: int, last: Iterable[str]) -> str:
    """Say what asv did not do, with the last lines that it printed, which say why."""
    said = "".join(last).rstrip()
    return f"{what}: exit status {status}" + (f"; its last lines:\n{said}" if said else "")


def read(commit: str, machine: str, benchmarks: Sequence[str], since: float) -> dict[str, tuple[float, str]]:
    """Return what asv has measured of a commit since a time: value and unit by benchmark and parameters.

    asv keeps what earlier runs found, and of a benchmark that it runs anew the values of parameters that were not asked
    for; both are left out.

    Parameters
    ----------
    commit : str
        Its hash.
    machine : str
        This machine's name among asv's results.
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
