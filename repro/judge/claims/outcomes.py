"""The outcome of a claim, from the values of its points.

The rule is the same for all papers, and follows from the form of the sentence.

- *Up to*, *about*, *between*: a value within the printed digits and the tolerance is *reproduced*, one on the better
  side *exceeded*. *At least*, *at most*, *more than*, *less than*: a value that fulfils it is *reproduced*.
- Any other value is *weaker* where the effect behind the claim is there, and *contradicted* where it is not.
- A number that was not measured, as at other sizes than the paper's, is *not decided*, whatever its effect is, unless
  that is not there.
- Where no point of several misses a claim, it is exceeded if more than half of them are, else reproduced. Where some
  do, it is weaker if most of them meet it, and else goes by its effect.
- A number that is met is *weaker* where its effect is not there, and *not decided* while that is open or has no
  value. One that is missed is *weaker* already where most points show the effect, whatever the open ones are.
- A count of the paper's own data (`of_data`) that a stand-in misses is *not decided*: the data are others.
- A dataset that was made to have a number, or chosen by it (`fitted`), tests nothing of it.
- A point that a run measures by request alone, and that has no value, is left out, and a note names it. One value of
  all points needs it.
- One value of all points is decided where the points that are lacking cannot change its outcome: a comparison is 1 or 0
  there, and another number nothing negative.
- It is *not decided* where the intervals, the points that are missing, or samples that were disturbed or are too few
  for an interval leave two of these open.
"""

import math
from collections.abc import Sequence

from repro.judge.claims.model import EXCEEDED, REPRODUCED, UNDECIDED, WEAKER, Predicate
from repro.judge.intervals import Interval

UNDER = "under"  # of a number that is missed: weaker or contradicted, as its effect is
_ORDER = (UNDER, REPRODUCED, EXCEEDED)
_SLACK = 1e-9  # relative, for rounding


def _classes(span: Interval, bound: Interval, predicate: Predicate) -> frozenset[str]:
    """Return what the numbers of an interval may be: under, reproduced, exceeded."""
    if predicate.relation in ("at most", "less than"):  # mirrored at zero these are "at least" and "more than"
        span, bound = -span, -bound
    wider = widened(bound.low, bound.high, _SLACK)
    if predicate.relation in ("more than", "less than"):
        return frozenset([UNDER] * (span.low <= bound.low) + [REPRODUCED] * (span.high > bound.low))
    if predicate.relation in ("at least", "at most"):
        return frozenset([UNDER] * (span.low < wider.low) + [REPRODUCED] * (span.high >= wider.low))
    below, above = span.low < wider.low, span.high > wider.high
    inside = span.low <= wider.high and span.high >= wider.low
    over, under = {"more": (above, below), "less": (below, above)}.get(predicate.better, (False, above or below))
    return frozenset([UNDER] * under + [REPRODUCED] * inside + [EXCEEDED] * over)


def settled(span: Interval, value: Interval, bound: Interval, predicate: Predicate) -> frozenset[str]:
    """Return what an interval may be; what is reproduced at least is what its value is."""
    found = _classes(span, bound, predicate)
    return found if UNDER in found else _classes(value, bound, predicate) - {UNDER} or found


def one(classes: frozenset[str]) -> str:
    """Return the outcome of a point."""
    return next(iter(classes)) if len(classes) == 1 else UNDECIDED


def overall(points: Sequence[frozenset[str]], missing: int) -> str:
    """Return the outcome of all points, whatever the undecided and the missing ones are; else `UNDECIDED`."""
    worst = at_worst(points, missing)
    best = _counted([max(each, key=_ORDER.index) for each in points] + [EXCEEDED] * missing)
    return worst if worst == best else UNDECIDED


def at_worst(points: Sequence[frozenset[str]], missing: int) -> str:
    """Return the outcome of all points where what is undecided or missing is the worst that it may be."""
    return _counted([min(each, key=_ORDER.index) for each in points] + [UNDER] * missing)


def _counted(outcomes: Sequence[str]) -> str:
    met = sum(each != UNDER for each in outcomes)
    if met == len(outcomes):
        return EXCEEDED if 2 * sum(each == EXCEEDED for each in outcomes) > len(outcomes) else REPRODUCED
    return WEAKER if 2 * met > len(outcomes) else UNDER


def widened(low: float, high: float, share: float) -> Interval:
    """Return an interval made wider by a share of its ends; an end that is infinite stays."""
    low, high = (end if math.isinf(end) else end + sign * share * abs(end) for end, sign in ((low, -1), (high, 1)))
    return Interval(low, high)
