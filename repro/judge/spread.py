"""In which interval the median of another round lies, another process on another day, with 90 %.

Times are compared as ratios, so all is done on logarithms. Between rounds the variance differs from row to row: most
rows repeat to a fraction of a percent, some do not to a tenth. It is taken to be one of a scaled inverse chi-square
distribution, so that the difference of two rounds follows Student's t distribution with the prior's degrees of
freedom; few of them are heavy tails. A row's own rounds then moderate the prior: k of them bring k - 1 degrees of
freedom, and the next round's distance follows t with the sum of both. With one round the prior says it all.

The priors come from the differences between two measurements of a row by equal kernels and baselines, on other days and
other hosts, in the stored history of the project. A device alone repeats best, and so do processors of one's own. Where
neighbours change the pace of a processor's cores, which is measured beside the samples, the scale grows by the width of
that pace. The pace tells how far rounds lie apart, and not in which direction: times at the cores' quickest pace agree
no better than times as measured.

Where a host drives a device, a round's own samples tell how well it will repeat: samples of a solve that the device
does most of lie close together, samples of a set-up far apart. Results are of a kind of machine, so that the interval
of a device alone has room for another card of that kind.

A sample may be of a single launch, as each cold one is, behind an eviction of the cache. Hosts with the same card and
driver are of two kinds: one takes longer for single launches, by the same time whatever is launched, and not in samples
of many. Rounds of one kind cannot tell that, so the room for it stays however many there are.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from repro.model import ReproError
from repro.run.statistics import median, summarise

COVERAGE = 0.9
LARGEST = 700.0  # logarithm of what a number holds


@dataclass(frozen=True)
class Prior:
    """Repetition of rows of a kind: the scale of their logarithm's deviation between rounds, and degrees of freedom."""

    scale: float
    freedom: float


ALONE = Prior(0.007, 1.6)  # of a device alone, and of processors whose cores keep one pace
PACED = 0.25  # growth of the scale by the logarithm of the slowest pace over the quickest
WITH_HOST = Prior(0.005, 1.7)  # of samples that do not scatter
GROWTH = 5.0  # of the scale by the scatter of a round's own samples
MOST_SCATTER = 0.02  # beyond which rounds repeat no worse
FEW = 5  # samples, of which fewer tell no scatter
LAUNCH = 1.9e-6  # seconds of room for what single launches differ by between hosts


def prior_of(rounds: Sequence[Mapping[str, Any]], is_paced: bool = False) -> Prior:
    """Return the prior of rounds by their mode, see `repro.run.timing.Samples`, and their scatter.

    `is_paced`: they are of a processor whose cores' pace is known.
    """
    if is_paced:
        width = median([math.log(slow / quick) for quick, slow in (each["pace"] for each in rounds)])
        return Prior(math.hypot(ALONE.scale, PACED * width), ALONE.freedom)
    if _is_of_device(rounds):
        return ALONE
    scatter = median(min(_scatter(each["seconds"]), MOST_SCATTER) for each in rounds)
    return Prior(math.hypot(WITH_HOST.scale, GROWTH * scatter), WITH_HOST.freedom)


def _is_of_device(rounds: Sequence[Mapping[str, Any]]) -> bool:
    return rounds[0]["mode"] == "graph"  # only replays lack the host


def _scatter(seconds: Sequence[float]) -> float:
    """Return the distance between the quartiles over the median."""
    if len(seconds) < FEW:
        return math.inf
    low, middle, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return (high - low) / middle


def interval(
    medians: Sequence[float], prior: Prior, coverage: float = COVERAGE, apart: float = 0.0
) -> tuple[float, float]:
    """Return the interval in which the median of another round lies.

    Raises `ReproError` when a median is not positive.

    `apart`: the logarithm of what rounds here cannot tell, as they are of one host or of hosts alike.
    """
    from scipy.special import stdtrit

    if not all(value > 0 for value in medians):
        raise ReproError(f"a time that is not positive has no interval: {list(medians)}")
    logs = [math.log(value) for value in medians]
    count, centre = len(logs), median(logs)
    mean = math.fsum(logs) / count
    freedom = prior.freedom + count - 1
    variance = (prior.freedom * prior.scale**2 + math.fsum((each - mean) ** 2 for each in logs)) / freedom
    reach = float(stdtrit(freedom, (1 + coverage) / 2)) * math.sqrt(variance * (1 + 1 / count))
    reach = math.hypot(reach, apart)
    return math.exp(centre - reach), math.exp(min(centre + reach, LARGEST))


def of_samples(rounds: Sequence[Mapping[str, Any]], backend: str) -> tuple[float, float]:
    """Return the interval that the samples of the rounds give, in seconds, with as many digits as samples have.

    The pace of a processor's cores tells how times on it repeat. Where a host drives a GPU it does not. The interval of
    one round is at least as wide as the rank interval of its median.
    """
    is_paced = backend != "cuda" and all(each.get("pace") for each in rounds)  # OpenCL: processors alone
    medians = [median(each["seconds"]) for each in rounds]
    apart = LAUNCH / median(medians) if _is_of_device(rounds) and rounds[0]["batch"] == 1 else 0.0
    low, high = interval(medians, prior_of(rounds, is_paced), apart=apart)
    if len(rounds) == 1:
        inner = summarise(rounds[0]["seconds"])
        if inner.ci_low is not None:
            low, high = min(low, inner.ci_low), max(high, inner.ci_high)
    return float(f"{low:.7g}"), float(f"{high:.7g}")
