"""In which interval the value of a formula lies, by the intervals of the measured numbers in it.

Interval arithmetic takes every number at its worst end at once. So it holds what is certain, and times far more often
than their own intervals do. Errors of two times that add up have the same direction, as when a host is slow. Errors of
two times that divide each other then cancel in part; at worst they are independent. So all numbers that move the value
one way move together here, over all points at once, and the two ways are independent of each other: the distance to
either end is the root of the sum of squares. Notes: docs/notes/harness.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from repro.judge.intervals import Interval, Undefined, Value, compares, evaluate_all, names_of
from repro.judge.spread import LARGEST

Spans = Mapping[str, Sequence[tuple[Interval, Interval]]]


def propagated(formula: str, spans: Spans) -> Value:
    """Return the interval of a formula's value, or a list of them, one a point; see `evaluate_all`.

    A formula that compares counts what is certain, by interval arithmetic.

    Raises `Undefined` when it has no value for these numbers or for their ends, `ReproError` as `evaluate_all` does.

    `spans`: of each name its number at each point, as an interval without width, and the interval of the number.
    """
    spans = {name: spans[name] for name in names_of(formula) if name in spans}
    values = evaluate_all(formula, _at(spans, 0))
    if all(span == number for pairs in spans.values() for number, span in pairs):
        return values
    if compares(formula):
        return evaluate_all(formula, _at(spans, 1))
    if not isinstance(values, list):
        return _one(formula, spans, values.low)
    each = ({name: [pairs[i]] for name, pairs in spans.items()} for i in range(len(values)))
    return [_one(formula, own, value.low) for own, value in zip(each, values, strict=True)]


def _at(spans: Spans, side: int) -> dict[str, list[Interval]]:
    return {name: [pair[side] for pair in pairs] for name, pairs in spans.items()}


def ends(
    number: Callable[[Mapping[str, list[Interval]]], float], spans: Spans
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return two values of a number at its lower end, and two at its upper end.

    One of two is where the numbers that it rises with have moved, the other where those have that it falls with.
    """
    exact, measured = _at(spans, 0), _at(spans, 1)
    least, most = ({name: [Interval.of(getattr(each, end)) for each in found] for name, found in measured.items()}
                   for end in ("low", "high"))  # fmt: skip

    def moved(ends: Mapping[str, Any], names: Sequence[str]) -> float:
        return number(exact | {name: ends[name] for name in names})

    rising = [name for name in spans if moved(most, [name]) >= moved(least, [name])]
    falling = [name for name in spans if name not in rising]
    return (moved(least, rising), moved(most, falling)), (moved(most, rising), moved(least, falling))


def _one(formula: str, spans: Spans, value: float) -> Interval:
    lows, highs = ends(partial(number_of, formula), spans)
    if not all(map(math.isfinite, (value, *lows, *highs))):  # as of a number of products that never pays
        found = evaluate_all(formula, _at(spans, 1))
        return found[0] if isinstance(found, list) else found
    if min(value, *lows, *highs) > 0:  # by ratios, as intervals of times are
        down, up = (math.hypot(*(abs(math.log(end / value)) for end in each)) for each in (lows, highs))
        return Interval(value * math.exp(-down), value * math.exp(min(up, LARGEST)))
    down, up = (math.hypot(*(end - value for end in each)) for each in (lows, highs))
    return Interval(value - down, value + up)


def number_of(formula: str, names: Mapping[str, Any]) -> float:
    """Return the one value of a formula for numbers without width.

    Raises `Undefined` when that is no number.
    """
    found = evaluate_all(formula, names)
    number = (found[0] if isinstance(found, list) else found).low
    if math.isnan(number):
        raise Undefined(f"{formula} makes no number at the ends of its intervals")
    return number
