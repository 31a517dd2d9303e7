"""Long solves of compiled loops, by some of their iterations: each takes as long, so that a part tells of all."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

WHOLE = 3  # seconds of a solve up to which all of it is sampled
PART = 0.7  # seconds that a sample of a longer one takes


def by_some(run, what: str, solve: Callable[[int], object], total: int, least: int = 1) -> float | None:
    """Return the seconds of a long solve, from a sample of its iterations; None of a short one.

    The metrics are ``some_<what>``, their time, and ``times_some_<what>``, by how many times there are more.

    Parameters
    ----------
    run : repro.run.context.Run
        Which has checked the whole solve.
    what : str
        As ``iterations``.
    solve : callable
        Takes how many of them shall be.
    total : int
        Of the whole solve.
    least : int
        Of a sample.
    """
    begun = time.perf_counter()
    solve(least)
    each = (time.perf_counter() - begun) / least
    count = max(least, math.ceil(PART / each))
    if total * each < WHOLE or count >= total:
        return None
    summary = run.time(f"some_{what}", lambda: solve(count), capture=False, max_seconds=max(6 * count * each, 0.1))
    run.value(f"times_some_{what}", total / count, "count")
    return summary.median * total / count
