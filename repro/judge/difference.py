"""Slower, faster, the same or undecided: one judgement on two sets of measurements of one thing.

Two sets come as rounds, a median each in turns (`of_rounds`), or as values with intervals (`of_intervals`). Either way
there is a ratio, new over old, and an interval that it lies in, and `verdict` reads the two.
"""

import functools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from repro.judge.intervals import Interval
from repro.judge.propagation import propagated

SLOWER, FASTER, SAME, UNDECIDED = "slower", "faster", "same", "undecided"
THRESHOLD = 0.02  # the least relative change that matters
ALPHA = 0.05  # of false calls, in a whole set of benchmarks whose code is equal
#: After so many rounds a benchmark is looked at, then after half as many again each time: each look is a chance of a
#: false call, so there are few.
FIRST_LOOK = 4
#: A Student-t of this scale (of the logarithm) and these degrees of freedom has the typical change of times that equal
#: code was measured for twice, and their 95th percentile. Notes: docs/notes/harness.md.
USUAL_SPREAD, USUAL_FREEDOM = 0.011, 1.3
#: A value without an interval is one of a few samples, or of one, and the same sources have differed by much between
#: runs. Two must differ by half for a call. Notes: docs/notes/harness.md.
ALONE = 1.5 ** math.sqrt(0.5)


@dataclass(frozen=True)
class Difference:
    """A verdict and the interval that it is read from."""

    verdict: str  #: one of 'slower', 'faster', 'same', 'undecided'
    ratio: float  #: new over old
    #: `low`, `high`: where the true ratio lies; for rounds with 95 % confidence, of this one thing by itself.
    low: float
    high: float


def verdict(ratio: float, low: float, high: float, threshold: float = THRESHOLD) -> str:
    """Return what a ratio and its interval say of a time, or of another number that is better when it is less.

    The same is what is shown to change by less than the threshold. Slower or faster is what is shown to change, by more
    than the threshold as far as is known.
    """
    if low >= 1 / (1 + threshold) and high <= 1 + threshold:
        return SAME
    if low > 1 and ratio > 1 + threshold:
        return SLOWER
    if high < 1 and ratio < 1 / (1 + threshold):
        return FASTER
    return UNDECIDED


def of_intervals(
    old: tuple[float, float | None, float | None], new: tuple[float, float | None, float | None], threshold: float
) -> Difference:
    """Judge two positive values with the ends of their intervals, None where there are none (then `ALONE` apart).

    Their errors are taken to be independent, see `repro.judge.propagation`.
    """
    (was, was_low, was_high), (now, now_low, now_high) = (
        (value, value / ALONE, value * ALONE) if None in (low, high) else (value, low, high)
        for value, low, high in (old, new)
    )  # fmt: skip
    if min(was_low, now_low) <= 0:
        return Difference(UNDECIDED, now / was, 0.0, math.inf)
    spans = {"now": (now, now_low, now_high), "was": (was, was_low, was_high)}
    spans = {name: [(Interval.of(value), Interval(low, high))] for name, (value, low, high) in spans.items()}
    (found,), ratio = propagated("now / was", spans), now / was
    return Difference(verdict(ratio, found.low, found.high, threshold), ratio, found.low, found.high)


def of_rounds(old: Sequence[float], new: Sequence[float], threshold: float = THRESHOLD, chances: int = 1) -> Difference:
    """Judge positive medians that belong together one by one, an old and a new of each round, in either order.

    Parameters
    ----------
    old, new : sequence of float
        As many of either.
    chances : int
        How often something may be called falsely: benchmarks times looks. Slower and faster are held to `ALPHA` over
        all of them together (Bonferroni); the same is held to it by itself, since it raises no alarm.
    """
    changes = [math.log(after / before) for before, after in zip(old, new, strict=True)]
    ratio = math.exp(statistics.median(changes))
    low, high = (math.exp(end) for end in interval(changes, ALPHA))
    found = verdict(ratio, low, high, threshold)
    if found in (SLOWER, FASTER):
        found = verdict(ratio, *(math.exp(end) for end in interval(changes, ALPHA / chances)), threshold)
    return Difference(found, ratio, low, high)


def looks(rounds: int) -> Iterator[int]:
    """Yield after how many rounds of at most `rounds` there is a look; the last of them is one."""
    look = FIRST_LOOK
    while look < rounds:
        yield look
        look += max(2, look // 2)
    yield rounds


def interval(changes: Sequence[float], alpha: float) -> tuple[float, float]:
    """Return where the centre of some numbers lies, but for a chance of `alpha`; they scatter alike to either side.

    It is what two intervals have in common, each with half of the chance. Student's t is short after a few rounds, and
    its confidence holds for tails of any weight that are mixtures of normal ones, each round with a spread of its own,
    if `alpha` is at most 8 % (Bakirov and Székely 2005, Ibragimov and Müller 2010). Wilcoxon's signed ranks need more
    rounds, are exact for any symmetric scatter, and are not widened by a few rounds that were disturbed.
    """
    import numpy
    from scipy.special import stdtrit

    values = numpy.asarray(changes, dtype=float)
    n = len(values)
    if n < 2:
        return -math.inf, math.inf
    # Rounds that agree by chance are taken to spread as is usual; rounds that spread more count as they are.
    own = float(values.var(ddof=1))
    usual = (USUAL_FREEDOM * USUAL_SPREAD**2 + (n - 1) * own) / (USUAL_FREEDOM + n - 1)
    reach = -float(stdtrit(n - 1, alpha / 4)) * math.sqrt(max(own, usual) / n)
    low, high = float(values.mean()) - reach, float(values.mean()) + reach
    if outside := _ranks_outside(n, alpha / 4):
        rows, columns = numpy.triu_indices(n)
        averages = numpy.sort((values[rows] + values[columns]) / 2)  # Walsh's
        lower, upper = max(low, float(averages[outside - 1])), min(high, float(averages[-outside]))
        if lower <= upper:  # else the scatter is not alike to either side, and Student's is wider
            return lower, upper
    return low, high


@functools.cache
def _ranks_outside(n: int, tail: float) -> int:
    """Return how many of Walsh's averages lie left of the interval's lower end with it; 0 if there is no such end.

    Sums of the positive numbers' ranks are sums of subsets of 1 to n, each as likely: exact, in integers.
    """
    ways = [1]  # of each sum
    for rank in range(1, n + 1):
        shifted = [0] * rank + ways
        ways = [a + b for a, b in zip(ways + [0] * rank, shifted, strict=True)]
    allowed, below = tail * 2**n, 0
    for total, count in enumerate(ways):
        below += count
        if below > allowed:
            return total
    raise AssertionError("a tail is less than all")
