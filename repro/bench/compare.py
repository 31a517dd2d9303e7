"""Two commits against each other, in rounds of both, until each benchmark is judged."""

import itertools
import math
import random
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repro.bench import commands, measured
from repro.cache.lacking import shortened
from repro.discovery import UnknownName
from repro.judge.difference import FASTER, FIRST_LOOK, SLOWER, THRESHOLD, UNDECIDED, Difference, looks, of_rounds
from repro.judge.difference import verdict as judged
from repro.model import ReproError

ROUNDS, MINUTES = 20, 60.0
ERRORS = re.compile(r"\.track_(error|residual)\b")
#: Of errors the least change that is called one: another order of additions moves them by less, a lost digit by ten.
ERRORS_THRESHOLD = 1.0
ROUNDING = 1e-15  # an error up to this is none
WORSE, BETTER, LOST, ADDED = "worse", "better", "lost", "added"
REGRESSIONS = (SLOWER, WORSE, LOST)
SIDES = {"base": "older", "new": "newer"}

Taken = Mapping[str, Sequence[float | None]]  # a value a round by side, None where it was not measured


@dataclass(frozen=True)
class Verdict:
    """A benchmark's result at the newer commit against the older."""

    benchmark: str
    unit: str
    #: `base`, `new`: medians over the rounds that measured it.
    base: float | None
    new: float | None
    #: `ratio`, `low`, `high`: new over base, and where it lies with 95 % confidence, of this benchmark by itself
    #: (`repro.judge.difference`).
    ratio: float | None
    low: float | None
    high: float | None
    #: one of 'slower', 'faster', 'same', 'undecided', 'worse', 'better', 'lost', 'added': Numbers that are no times are
    #: worse or better. Lost is what either commit did not measure in every round, added what the older never did and
    #: the newer always.
    verdict: str
    rounds: int  #: taken until it was judged
    reason: str = ""  #: which commit lost it, and how often


def judge(benchmark: str, unit: str, taken: Taken, chances: int = 1) -> Verdict:
    """Return the verdict on one benchmark from the values of all rounds.

    Parameters
    ----------
    taken : mapping
        Of the sides 'base' and 'new' as many values.
    chances : int
        See `repro.judge.difference.of_rounds`.
    """
    rounds = len(taken["base"])
    there = {side: [value for value in values if value is not None] for side, values in taken.items()}
    base, new = (statistics.median(there[side]) if there[side] else None for side in ("base", "new"))
    missed = {side: rounds - len(values) for side, values in there.items()}
    if any(missed.values()):
        is_added = base is None and not missed["new"]
        reason = "" if is_added else "; ".join(
            f"the {word} commit failed it in {missed[side]} of {rounds} rounds"
            for side, word in SIDES.items() if missed[side]
        )  # fmt: skip
        return Verdict(benchmark, unit, base, new, None, None, None, ADDED if is_added else LOST, rounds, reason)
    found = _difference(benchmark, unit, there["base"], there["new"], chances)
    words = {} if unit == "seconds" else {SLOWER: WORSE, FASTER: BETTER}
    verdict = words.get(found.verdict, found.verdict)
    return Verdict(benchmark, unit, base, new, found.ratio, found.low, found.high, verdict, rounds)


def _difference(benchmark: str, unit: str, old: Sequence[float], new: Sequence[float], chances: int) -> Difference:
    """Judge the values of all rounds; a number that is the same in each round is known, and has no interval."""
    threshold = THRESHOLD
    if ERRORS.search(benchmark):
        threshold = ERRORS_THRESHOLD
        old, new = ([max(value, ROUNDING) for value in values] for values in (old, new))
    if unit != "seconds" and len(set(old)) == len(set(new)) == 1:
        ratio = 1.0 if old[0] == new[0] else new[0] / old[0] if old[0] else float("inf")
        return Difference(judged(ratio, ratio, ratio, threshold), ratio, ratio, ratio)
    if min(*old, *new) <= 0:
        return Difference(UNDECIDED, float("nan"), 0.0, float("inf"))
    return of_rounds(old, new, threshold, chances)


def compare(
    base: str, new: str, machine: str, benchmarks: Sequence[str], *, rounds: int = ROUNDS, minutes: float = MINUTES,
    seconds: float = 0.5, say: Callable[[str], None] = lambda text: None,
) -> tuple[list[Verdict], bool]:  # fmt: skip
    """Measure two commits in rounds, and judge every benchmark that either has measured.

    Returns the verdicts, and whether Ctrl-C ended the rounds: the complete ones are then judged, if they are enough.

    Parameters
    ----------
    benchmarks : sequence of str
        Regular expressions over names with parameters.
    rounds, minutes : int, float
        The most of either: a benchmark that is judged is not measured again, one that is undecided then stays so.
    say : callable
        Told what is to be done, and how it goes on.

    Raises
    ------
    repro.discovery.UnknownName
        For a revision that is not one, too few rounds, what is no regular expression, or matches nothing.
    ReproError
        When asv fails, or the two have no benchmark in common.
    """
    if rounds < FIRST_LOOK:
        raise UnknownName(f"{rounds} rounds judge nothing; it takes {FIRST_LOOK}")
    commands.selection(benchmarks)
    commits = {"base": measured.commit_hash(base), "new": measured.commit_hash(new)}
    if commits["base"] == commits["new"]:
        say(f"{base} and {new} are one commit, {commits['new'][:9]}: what differs is noise")
    commands.name_machine(machine)
    known = measured.discover(commits["new"], machine, benchmarks)
    say(f"benchmarks that match: {len(known)}; each that runs here is "
        f"measured in {FIRST_LOOK} to {rounds} rounds of both commits, until it is judged")  # fmt: skip
    commands.say_what_is_left_out(say, "the two commits")
    found, units, verdicts, failed = {}, {}, {}, {side: {} for side in SIDES}
    planned, begun, wanted, is_stopped = list(looks(rounds)), time.monotonic(), benchmarks, False
    for number in range(1, rounds + 1):
        say(f"round {number} of at most {rounds}" + (f": {len(wanted)} undecided" if verdicts else ""))
        sides = random.sample(("base", "new"), 2)  # drawn, so that no drift of the machine's is on one's side
        try:
            taken = {side: measured.measure(commits[side], machine, wanted, seconds, may_be_nothing=number > 1,
                                            failed=failed[side]) for side in sides}  # fmt: skip
        except KeyboardInterrupt:
            if number <= FIRST_LOOK:
                say(f"stopped in round {number}: nothing is judged before {FIRST_LOOK} are complete")
                raise
            say(f"stopped in round {number}: the rounds before it are judged")
            is_stopped, number, taken = True, number - 1, {}
        for side, values in taken.items():
            for name, (value, unit) in values.items():
                units[name] = unit
                found.setdefault(name, {"base": {}, "new": {}})[side][number] = value
        passed = time.monotonic() - begun
        is_over = is_stopped or passed > 60 * minutes
        if number == 1 and not is_over:
            least = FIRST_LOOK * passed  # about, since the first round builds, too
            say(f"a round takes {passed:.0f} s; a verdict takes {FIRST_LOOK} rounds or more, about {least:.0f} s")
        if number not in planned and not is_over:
            continue
        for name in [name for name in found if name not in verdicts or verdicts[name].verdict == UNDECIDED]:
            values = {side: [found[name][side].get(each) for each in range(1, number + 1)] for side in commits}
            verdicts[name] = judge(name, units[name], values, len(found) * len(planned))
        undecided = [name for name, each in verdicts.items() if each.verdict == UNDECIDED]
        wanted = [f"^{re.escape(name)}$" for name in undecided]
        if undecided and is_over and not is_stopped and number < rounds:
            say(f"{minutes:g} minutes are over after round {number}: what is undecided stays so")
        if not undecided or is_over:
            break
    if all(None in (each.base, each.new) for each in verdicts.values()):
        raise ReproError(
            f"{base} and {new} have no benchmark in common that runs here and matches {' '.join(benchmarks)}"
        )
    if without := [name for name in known if name not in verdicts]:
        say(f"benchmarks that match and have no value here: {len(without)}, {shortened(without)}")
    verdicts = [verdicts[name] for name in sorted(verdicts)]
    _say_causes(verdicts, failed, say)
    return verdicts, is_stopped


def _say_causes(verdicts: Sequence[Verdict], failed: Mapping[str, Mapping[str, str]], say: Callable) -> None:
    """Say of each commit why it failed the first benchmark that it lost; others mostly fail for the same."""
    for side, word in SIDES.items():
        lost = [each.benchmark.partition("(")[0] for each in verdicts if f"the {word} commit" in each.reason]
        causes = ((name, text) for name in lost for end, text in failed[side].items() if name.endswith(end))
        for name, text in itertools.islice(causes, 1):
            say(f"asv's last lines on {name} at the {word} commit:\n{text.rstrip()}")


def ruled_out(verdicts: Sequence[Verdict]) -> str:
    """Return how much slower the undecided benchmarks may be, as far as is known."""
    undecided = [each for each in verdicts if each.verdict == UNDECIDED]
    worst = max(undecided, key=lambda each: each.high)
    word = "slower" if worst.unit == "seconds" else "worse"
    if worst.high <= 1:
        return f"{len(undecided)} undecided: none is {word}"
    most = f"up to {100 * (worst.high - 1):.1f} %" if math.isfinite(worst.high) else "any number of times"
    return f"{len(undecided)} undecided: {most} {word} is not ruled out"
