"""Causes as tests: each predicts the value that a claim would have without it, and explains a part of the gap by that.

The gap is how many times the paper's number ours is. A cause without which the value is the paper's explains all of it;
one that leaves a gap, on either side, explains one less the logarithm of that gap over the logarithm of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repro.judge import peaks
from repro.judge.claims.model import Claim, Explanation, Predicate
from repro.judge.claims.points import Point, find
from repro.judge.claims.stored import Stored, is_timed
from repro.judge.intervals import Interval, Undefined, names_of
from repro.model import ReproError
from repro.published import hardware
from repro.run.statistics import median
from repro.units import is_rate, is_time, significant

MOST = 0.5  # of the gap: a cause that explains less is not printed


@dataclass(frozen=True)
class Values:
    """What a reading was worked out from."""

    predicate: Predicate
    points: Sequence[Point]
    selectors: Mapping[str, str]
    values: list[Interval]  #: one a point, or one of all
    bounds: list[Interval]  #: the paper's number of each value, with its tolerance
    evaluate: Callable  #: returns the value of a predicate at points by the names of its formula

    @property
    def gap(self) -> float:
        """How many times the paper's number ours is, the median of the points."""
        return _ratio([each.low for each in self.values], self.bounds)


def tested(claim: Claim, values: Values, stored: Stored, root: Path) -> list[Explanation]:
    """Return the causes that can be tested, with how much of the gap each explains, the most first."""
    if not values.predicate.published or not 0 < values.gap < math.inf or abs(math.log(values.gap)) < 1e-6:
        return []
    found = [test(values, stored, root) for test in (_bandwidths, _memory, _cache)]
    found += [declared(claim, cause, values, stored, root) for cause in claim.causes]
    made = []
    for says, without in filter(None, found):
        left = _ratio(without, values.bounds)
        if 0 < left < math.inf:
            share = 1 - abs(math.log(left)) / abs(math.log(values.gap))
            made.append(Explanation(says, median(without), share))
    return sorted(made, key=lambda each: -each.share)


Found = tuple[str, list[float]] | None  # what a cause is, and the values without it


def _ratio(values: Sequence[float], bounds: Sequence[Interval]) -> float:
    middles = [(each.low + each.high) / 2 for each in bounds]
    pairs = zip(values, middles, strict=True)
    return median([value / middle for value, middle in pairs if middle > 0] or [math.nan])


def _timed(values: Values) -> list[Mapping[str, Any]]:
    return [row for point in values.points for row in point.rows.values() if is_timed(row)]


def _peak(rows: Sequence[Mapping[str, Any]], stored: Stored) -> peaks.Peak | None:
    found = (peaks.of_roof(stored.roofs.of(stored.device(row), row.get("cores"))) for row in rows)
    return next(filter(None, found), None)


def _bandwidths(values: Values, stored: Stored, root: Path) -> Found:
    """A GPU beside a processor: their memories may be further apart now, or nearer.

    One thread does not draw its processor's bandwidth: of a paper that ran one this predicts nothing.
    """
    rows = _timed(values)
    paper = hardware(rows[0]["artefact"].partition("-")[0], root) if rows else {}
    if paper.get("cpu", {}).get("printed", {}).get("threads_used") == 1:
        return None
    sides = [[row for row in rows if row["gpu"] == gpu] for gpu in (True, False)]
    if not all(sides):
        return None
    ours = [_peak(side, stored) for side in sides]
    theirs = [peaks.of_table(rows[0]["artefact"], gpu, root) for gpu in (True, False)]
    if not all(ours) or not all(theirs):
        return None
    now, then = (pair[0].bandwidth / pair[1].bandwidth for pair in (ours, theirs))
    moved = now / then if values.predicate.better != "less" else then / now
    here, there = significant(now, 2), significant(then, 2)
    says = f"the GPU has {here} times the bandwidth of the processor here, {there} times in the paper"
    return says, [each.low / moved for each in values.values]


def _memory(values: Values, stored: Stored, root: Path) -> Found:
    """A time or a rate of one device beside one of the paper's: how much faster the memory has become."""
    rows, unit = _timed(values), values.predicate.unit
    if not rows or not (is_time(unit) or is_rate(unit)) or len({row["gpu"] for row in rows}) != 1:
        return None
    ours, theirs = _peak(rows, stored), peaks.of_table(rows[0]["artefact"], rows[0]["gpu"], root)
    if ours is None or theirs is None:
        return None
    faster = ours.bandwidth / theirs.bandwidth
    factor = faster if is_time(unit) else 1 / faster
    says = f"the memory is {significant(faster, 2)} times as fast as that of the paper's {theirs.name}"
    return says, [each.low * factor for each in values.values]


def _cache(values: Values, stored: Stored, root: Path) -> Found:
    """Data that the last cache keeps from one run to the next: the same with the cache evicted before each sample."""
    points = []
    for point in values.points:
        rows = {name: _cold(row, stored) for name, row in point.rows.items()}
        if None in rows.values():
            return None
        points.append(replace(point, rows=rows))
    found = _evaluated(values.predicate, points, values.selectors, values.evaluate)
    return found and ("the last cache holds the data, which differs where it is evicted before each sample", found)


def _cold(row: Mapping[str, Any], stored: Stored) -> dict[str, Any] | None:
    """Return a row with its value of a cold cache, None without; as it is where it is no time or rate."""
    if not is_timed(row):
        return dict(row)
    cold = stored.cold(row)
    return None if cold is None else {**row, "value": cold}


def declared(claim: Claim, cause, values: Values, stored: Stored, root: Path) -> Found:
    """A cause that the claim names: the value of its formula, by rows with the other choice."""
    every = {**claim.where, **values.predicate.where, **cause.where}
    names = names_of(cause.formula)
    if missing := names - set(every):
        raise ReproError(f"{', '.join(sorted(missing))} in {cause.formula!r} is bound to nothing")
    selectors = {name: every[name] for name in names}
    predicate = replace(values.predicate, formula=cause.formula)
    points = find(claim, predicate, selectors, stored, root).points
    known = {point.name: bound for point, bound in zip(values.points, values.bounds, strict=False)}
    points = [point for point in points if point.name in known] if len(values.bounds) > 1 else list(points)
    if not points:
        return None
    found = _evaluated(predicate, points, selectors, values.evaluate)
    return (cause.says, found) if found and len(found) == len(values.bounds) else None


def _evaluated(predicate: Predicate, points, selectors, evaluate) -> list[float] | None:
    try:
        value = evaluate(predicate, points, selectors)
    except Undefined:
        return None
    return [each.low for each in (value if isinstance(value, list) else [value])]
