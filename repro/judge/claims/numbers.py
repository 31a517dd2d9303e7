"""Numbers of rows as intervals, and the value of a formula at the points of a claim by them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from repro.judge.claims.model import Predicate
from repro.judge.claims.points import Point
from repro.judge.claims.stored import Stored, is_timed, lacks_interval
from repro.judge.intervals import Interval, Value
from repro.judge.propagation import Spans, propagated
from repro.show.results import is_missing
from repro.units import is_rate, split

FEW = 1.5  # a time without an interval may be as many times longer or shorter
DISTURBED = 3.0  # a time of disturbed samples may be as many times too long

Row = Mapping[str, Any]


def evaluated(
    predicate: Predicate, points: Sequence[Point], selectors: Iterable[str], interval: Callable[[Row], Interval]
) -> Value:
    """Return a formula's value in the predicate's unit: one a point, or one of all of them."""
    value = propagated(predicate.formula, spans_of(points, selectors, interval))
    factor = split(predicate.unit)[0]
    return [each / factor for each in value] if isinstance(value, list) else value / factor


def spans_of(points: Sequence[Point], names: Iterable[str], interval: Callable[[Row], Interval]) -> Spans:
    """Return of each name its number at each point, and the interval of that."""
    return {name: [(exact(point.rows[name]), interval(point.rows[name])) for point in points] for name in names}


def exact(row: Row) -> Interval:
    """Return a row's number as an interval without width."""
    value = row["value"] * split(row["unit"] or "")[0]
    return Interval(value, value)


def interval_of(row: Row) -> Interval:
    """Return a row's interval; without width where it has none."""
    if is_missing(row["ci_low"]) or is_missing(row["ci_high"]):
        return exact(row)
    factor = split(row["unit"] or "")[0]
    return Interval(row["ci_low"] * factor, row["ci_high"] * factor)


def doubted_of(stored: Stored) -> Callable[[Row], Interval]:
    """Return the interval that a row decides by: wider where its samples are too few, or were disturbed."""

    def interval(row: Row) -> Interval:
        found = interval_of(row)
        if not is_timed(row):
            return found
        if lacks_interval(row):
            found = Interval(found.low / FEW, found.high * FEW)
        if stored.disturbed(row):
            times = (1, DISTURBED) if is_rate(row["unit"] or "") else (1 / DISTURBED, 1)
            found = Interval(found.low * times[0], found.high * times[1])
        return found

    return interval
