"""Two commits against each other, in rounds that alternate, with a verdict by the interval of the ratio."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repro import environment
from repro.bench import commands
from repro.model import ReproError

ROUNDS = 6  # the fewest whose extremes enclose the median with 95 % confidence: 1 - 2 / 2**6
THRESHOLD = 0.03
SLOWER, FASTER, SAME = "slower", "faster", "no change"


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
    verdict : {'slower', 'faster', 'no change', 'worse', 'better'}
        Slower only if the whole interval lies beyond the threshold. Numbers that do not vary, as iterations, errors or
        bytes, are worse or better by the same rule.
    """

    benchmark: str
    unit: str
    base: float
    new: float
    ratio: float
    low: float
    high: float
    verdict: str


def judge(benchmark: str, unit: str, base: Sequence[float], new: Sequence[float], threshold: float) -> Verdict:
    """Return the verdict on one benchmark from the rounds' medians, which belong together one by one."""
    ratios = [n / b if b else (1.0 if n == b else float("inf")) for b, n in zip(base, new, strict=True)]
    low, high = min(ratios), max(ratios)
    words = (SLOWER, FASTER) if unit == "seconds" else ("worse", "better")
    verdict = words[0] if low > 1 + threshold else words[1] if high < 1 / (1 + threshold) else SAME
    medians = [statistics.median(values) for values in (base, new, ratios)]
    return Verdict(benchmark, unit, *medians, low, high, verdict)


def compare(
    base: str, new: str, machine: str, benchmarks: Sequence[str], *, rounds: int = ROUNDS, threshold: float = THRESHOLD,
    seconds: float = 0.5, say: Callable[[str], None] = lambda text: None,
) -> list[Verdict]:  # fmt: skip
    """Measure two commits in turn, and judge every benchmark that both have.

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
        Told how it goes on.

    Raises
    ------
    ReproError
        For a revision that is not one, too few rounds, or when the two have no benchmark in common.
    """
    if rounds < ROUNDS:
        raise ReproError(f"{rounds} rounds give no interval of 95 %; it takes {ROUNDS}")
    commits = {"base": _hash(base), "new": _hash(new)}
    taken: dict[str, list[dict]] = {"base": [], "new": []}
    for number in range(rounds):
        for side in ("base", "new") if number % 2 == 0 else ("new", "base"):
            say(f"round {number + 1} of {rounds}: {side}, {commits[side][:9]}")
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
    return verdicts


def _hash(revision: str) -> str:
    command = ["git", "-C", str(environment.root()), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReproError(f"{revision!r} is no commit of this checkout")
    return done.stdout.strip()


def _measure(commit: str, machine: str, benchmarks: Sequence[str], seconds: float) -> Mapping[str, tuple[float, str]]:
    """Run asv on a commit and return what it found: value and unit by benchmark and parameters."""
    options = ["--machine", machine, "--launch-method", "spawn", "--show-stderr", *commands.selection(benchmarks)]
    status = commands.asv("run", *options, f"{commit}^!", seconds=seconds, quiet=True)
    found = read(commit, machine)
    if status not in (0, 2) or not found:  # 2: some benchmark failed, as one that the commit has not
        raise ReproError(f"asv could not run {commit[:9]}: exit status {status}")
    return found


def read(commit: str, machine: str) -> dict[str, tuple[float, str]]:
    """Return the newest results that asv keeps of a commit: value and unit by benchmark and parameters."""
    import itertools

    from asv.results import Results
    from asv.util import load_json

    folder = commands.results_folder()
    paths = sorted((folder / machine).glob(f"{commit[:8]}-*.json"), key=lambda path: path.stat().st_mtime)
    if not paths:
        return {}
    results = Results.load(str(paths[-1]), machine)
    described = load_json(str(folder / "benchmarks.json"), api_version=2)
    found = {}
    for name in results.get_all_result_keys():
        if name not in described:
            continue
        parameters = described[name]["params"]
        values = results.get_result_value(name, parameters)
        for combination, value in zip(itertools.product(*parameters), values):
            if isinstance(value, int | float) and value == value:
                shown = f"{name}({', '.join(combination)})" if combination else name
                found[shown] = (float(value), described[name].get("unit", ""))
    return found
