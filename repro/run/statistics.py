"""Statistics of repeated measurements: medians, their rank-based intervals, outliers. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from repro.model import ReproError


@dataclass(frozen=True)
class Summary:
    """Statistics that a row reports of its samples."""

    median: float
    #: `ci_low`, `ci_high`: rank-based 95 % confidence interval of the median; None with fewer than six samples.
    ci_low: float | None
    ci_high: float | None
    n: int  #: samples taken
    outliers: int  #: Samples beyond Tukey's fences. They are counted, never removed.

    def relative_width(self) -> float:
        """Return the distance from the median to the farther end of the interval, over the median; infinite without."""
        if self.ci_low is None or self.ci_high is None:
            return math.inf
        distance = max(self.ci_high - self.median, self.median - self.ci_low)
        return 0.0 if distance == 0 else (distance / abs(self.median) if self.median else math.inf)


@lru_cache(maxsize=4096)
def median_ranks(n: int, confidence: float = 0.95) -> tuple[int, int] | None:
    """Return the 1-based ranks of the order statistics that enclose the median with at least the given confidence.

    The number of samples below the median is binomial with probability 1/2 whatever the distribution, so
    P(X_(l) <= median <= X_(n+1-l)) = 1 - 2 P(Bin(n, 1/2) < l); l is the largest rank for which this reaches
    `confidence`. The sum is exact, in integers.

    Returns
    -------
    (int, int) or None
        Ranks l and n + 1 - l; None when even the extremes do not reach the confidence (n < 6 for 95 %).
    """
    if n < 1:
        return None
    tail = (1 - Fraction(str(confidence))) / 2 * 2**n  # of the 2**n equally likely sides, those allowed below rank l
    below, rank = 0, 0
    for i in range(n // 2 + 1):
        below += math.comb(n, i)
        if below > tail:
            break
        rank = i + 1
    return (rank, n + 1 - rank) if rank else None


def median(values: Iterable[float]) -> float:
    """Return the median; the mean of the middle two for an even count."""
    ordered = sorted(values)
    if not ordered:
        raise ReproError("no samples to summarise")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def quartiles(values: Iterable[float]) -> tuple[float, float]:
    """Return the lower and upper quartile, interpolated linearly between order statistics (NumPy's default)."""
    ordered = sorted(values)
    if not ordered:
        raise ReproError("no samples to summarise")

    def quantile(p: float) -> float:
        position = p * (len(ordered) - 1)
        low = math.floor(position)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (position - low) * (ordered[high] - ordered[low])

    return quantile(0.25), quantile(0.75)


def outliers(values: Sequence[float], reach: float = 1.5) -> list[int]:
    """Return the indices of the values beyond Tukey's fences, `reach` interquartile ranges outside the quartiles."""
    low, high = quartiles(values)
    margin = reach * (high - low)
    return [i for i, value in enumerate(values) if value < low - margin or value > high + margin]


def summarise(values: Iterable[float], confidence: float = 0.95) -> Summary:
    """Return median, interval, count and outliers of samples.

    Raises `ReproError` when there is no sample, or one is not finite.
    """
    ordered = sorted(values)
    if not all(math.isfinite(value) for value in ordered):
        raise ReproError("a sample is not a finite number")
    middle = median(ordered)
    ranks = median_ranks(len(ordered), confidence)
    low, high = (ordered[ranks[0] - 1], ordered[ranks[1] - 1]) if ranks else (None, None)
    return Summary(middle, low, high, len(ordered), len(outliers(ordered)))
