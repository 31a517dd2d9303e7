"""Causes as tests: each predicts the value that a claim would have without it, and explains a part of the gap by that.

The gap is how many times the paper's number ours is, of a range its nearer end, or the bound that a claim sets without
one. A cause without which the value is that number, within that range, or where that bound wants it, explains all of
it; one that leaves a gap explains one less the logarithm of that gap over the logarithm of the whole. Of several points
it is the median of what it explains at each: medians of the values would be of different points. The explained part
has an interval, too, by the intervals of the rows with the cause and without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repro.judge import peaks
from repro.judge.claims import notes
from repro.judge.claims.model import MOST, Claim, Explanation, Predicate
from repro.judge.claims.numbers import Row, doubted_of, evaluated, exact, spans_of
from repro.judge.claims.points import Point, find, selectors_of
from repro.judge.claims.stored import CEILINGS, Stored, is_timed
from repro.judge.intervals import Interval, Undefined, names_of
from repro.judge.propagation import ends, number_of
from repro.judge.roofs import Roof
from repro.published import hardware
from repro.run.statistics import median
from repro.units import is_rate, is_time, significant, split

LEAST = 1e-6  # a gap that is less is the rounding of equal numbers


@dataclass(frozen=True)
class Values:
    """The inputs from which a reading was worked out."""

    predicate: Predicate
    points: Sequence[Point]
    selectors: Mapping[str, str]
    values: list[Interval]  #: one a point, or one of all
    bounds: list[Interval]  #: the paper's number of each value, with its tolerance

    def of(self, indices: Sequence[int]) -> Values:
        """Return the values at some points, as at the ones that miss their number; all where none is named."""
        if not indices or len(self.points) != len(self.values):
            return self
        points, values, bounds = ([each[i] for i in indices] for each in (self.points, self.values, self.bounds))
        return replace(self, points=points, values=values, bounds=bounds)

    def at(self, i: int, points: Sequence[Point] = ()) -> Sequence[Point]:
        """Return the points that the value of this index is of: its own, or all; of others in their place, if given."""
        points = points or self.points
        return [points[i]] if len(points) == len(self.values) else points

    @property
    def gaps(self) -> list[float]:
        """The logarithm of our number over the paper's, for each value."""
        pairs = zip(self.values, self.bounds, strict=True)
        return [_gap(value.low, bound, self.predicate) for value, bound in pairs]

    @property
    def is_on_bound(self) -> bool:
        """Whether every value is its bound itself, which leaves no gap: a share of nothing has no value."""
        return all(abs(gap) <= LEAST for gap in self.gaps)


@dataclass(frozen=True)
class Found:
    """A cause that can be tested."""

    says: str
    without: list[float | None]  #: the values without it, None where it has no rows
    #: `formula`, `points`: what these are worked out from; without, they are the claim's times a factor.
    formula: str = ""
    points: Sequence[Point | None] = ()


def tested(claim: Claim, values: Values, stored: Stored, root: Path) -> list[Explanation]:
    """Return the causes that can be tested, with how much of the gap each explains, the most first."""
    which = [i for i, gap in enumerate(values.gaps) if math.isfinite(gap) and abs(gap) > LEAST]
    if not which:
        return []
    found = []
    if values.predicate.published:  # on the paper's hardware, which a bound of ours knows nothing of
        found = [test(values, stored, root) for test in (_bandwidths, _memory, _cache)]
        found.append(_contradiction(claim.paper, values, root))
    found += [declared(claim, cause, values, stored, root) for cause in claim.causes]
    made = []
    for cause in filter(None, found):
        known = [i for i in which if cause.without[i] is not None]
        if not known:
            continue
        shares = [_folded(_way(values, i, values.values[i].low, cause.without[i])) for i in known]
        spans = [_span(values, i, cause, doubted_of(stored)) for i in known]
        low, high = (median(getattr(each, end) for each in spans) for end in ("low", "high"))
        most = sum(share > MOST for share in shares)
        value, untested = median(each for each in cause.without if each is not None), len(which) - len(known)
        made.append(Explanation(cause.says, value, median(shares), low, high, len(shares), most, untested))
    return sorted(made, key=lambda each: -each.share)


def _way(values: Values, i: int, value: float, without: float) -> float:
    """Return how much of the way from a value to the paper's a cause goes: more than 1 where it goes beyond.

    Raises `Undefined` where the value is on another side of the paper's than the one that was measured.
    """
    gap, left = (_gap(each, values.bounds[i], values.predicate) for each in (value, without))
    if gap * values.gaps[i] <= 0 or math.isinf(gap):
        raise Undefined("no such gap")
    return 1 - _left(left, values.predicate) / gap


def _folded(way: float) -> float:
    """Return the part of the gap that is gone: what goes beyond the paper's value leaves a gap there."""
    return 1 - abs(1 - way)


def _span(values: Values, i: int, cause: Found, interval: Callable[[Row], Interval]) -> Interval:
    """Return between which ends the part lies that a cause explains of a value, by the intervals of all its rows.

    A row that both the value and the one without the cause have by one name moves both. A factor between the two, as
    of the memory or of a cold cache, is taken as it is.
    """
    formula, unit = values.predicate.formula, split(values.predicate.unit)[0]
    own = spans_of(values.at(i), names_of(formula), interval)
    other = spans_of(values.at(i, cause.points), names_of(cause.formula), interval) if cause.formula else {}
    keys = {name: name if own.get(name) == spans else f"without {name}" for name, spans in other.items()}
    measured, without = values.values[i].low, cause.without[i]
    way = _way(values, i, measured, without)
    if math.isinf(way):
        return Interval(0.0, 0.0)

    def moved(names: Mapping[str, list[Interval]]) -> float:
        value = number_of(formula, {name: names[name] for name in own}) / unit
        if not cause.formula:
            return _way(values, i, value, value * without / measured)
        return _way(values, i, value, number_of(cause.formula, {name: names[keys[name]] for name in other}) / unit)

    try:
        lows, highs = ends(moved, own | {keys[name]: spans for name, spans in other.items()})
    except Undefined:
        return Interval(0.0, 1.0)
    low = way - math.hypot(*(end - way for end in lows))
    high = way + math.hypot(*(end - way for end in highs))
    shares = [max(_folded(each), 0.0) for each in (low, high)]
    return Interval(min(shares), 1.0 if low <= 1 <= high else max(shares))


def _gap(value: float, bound: Interval, predicate: Predicate) -> float:
    """Return the logarithm of a value over the middle of its bound, of a range over the nearest in it.

    It is infinite where there is none.
    """
    wanted = _within(bound, value) if predicate.relation == "between" else (bound.low + bound.high) / 2
    ratio = value / wanted if wanted > 0 else 0
    return math.log(ratio) if 0 < ratio < math.inf else math.inf


def _left(gap: float, predicate: Predicate) -> float:
    """Return the gap that a cause leaves: none where a bound on one side, without a number of the paper's, is met."""
    side = {"at most": 1, "less than": 1, "at least": -1, "more than": -1}.get(predicate.relation)
    if predicate.published or side is None or side * gap > 0 or math.isinf(gap):
        return gap
    return 0.0


def _timed(values: Values) -> list[Mapping[str, Any]]:
    return [row for point in values.points for row in point.rows.values() if is_timed(row)]


def _roof(rows: Sequence[Mapping[str, Any]], stored: Stored) -> Roof | None:
    found = (stored.roofs.of(stored.device(row), row.get("cores")) for row in rows)
    return next(filter(None, found), None)


def _contradiction(paper: str, values: Values, root: Path) -> Found | None:
    """Published numbers that do not follow from the paper's others: ours beside the numbers that do.

    Of several that do, the one nearest to the published number takes its place, and not the one nearest to ours.
    """
    wrong, predicate = notes.doubtful(paper, root), values.predicate
    points = values.points
    if len(values.values) == 1 and predicate.published[0].startswith("text "):  # a mean, say, which no case has alone
        points = points[:1]
    if len(points) != len(values.values):
        return None
    found, many = [], 0
    for point, value, bound in zip(points, values.values, values.bounds, strict=True):
        reference = predicate.published[0].format(**point.words, case=point.case)
        number = notes.number_of(paper, reference, point.case, root)
        verdict = wrong.get(notes.name(number)) if number else None
        right = value.low
        if verdict is not None:
            many += 1
            factor, printed = split(number.unit)[0] / split(predicate.unit)[0], (bound.low + bound.high) / 2
            wanted = printed / factor
            each_nearest = (_within(span, wanted) for span in verdict.expected.values())
            follows = factor * min(each_nearest, key=lambda each: abs(each - wanted))
            right = value.low * printed / follows if follows > 0 else math.nan
        found.append(right)
    if len(found) == 1:
        says = "the paper's number does not follow from its others; tested with the nearest that does"
    else:
        follow = f"{many} of the {len(found)} numbers that are missed {'does' if many == 1 else 'do'} not follow"
        if many == len(found):
            follow = f"none of the {many} numbers that are missed follows"
        says = f"{follow} from the paper's others; each tested with the nearest that does"
    return Found(says, found) if many else None


def _within(span: Interval, value: float) -> float:
    return min(max(value, span.low), span.high)


def _bandwidths(values: Values, stored: Stored, root: Path) -> Found | None:
    """A GPU beside a processor: their memories may be further apart now, or nearer.

    One thread does not draw its processor's bandwidth: of a paper that ran one the GPU's memory alone predicts.
    """
    if is_time(values.predicate.unit) or is_rate(values.predicate.unit):  # each of one of the two
        return None
    rows = _timed(values)
    sides = [[row for row in rows if row["gpu"] == gpu] for gpu in (True, False)]
    if not all(sides) or _share(sides[0], stored) is None:
        return None
    ours = [_roof(side, stored) for side in sides]
    theirs = [peaks.of_table(rows[0]["artefact"], gpu, root) for gpu in (True, False)]
    paper = hardware(rows[0]["artefact"].partition("-")[0], root)
    is_serial = paper.get("cpu", {}).get("printed", {}).get("threads_used") == 1
    if not all(each[0] if is_serial else all(each) for each in (ours, theirs)):
        return None
    if is_serial:
        faster = [ours[0].bandwidth / theirs[0].bandwidth, 1.0]
        says = f"the GPU's memory{_binds(sides[0], stored)} is {significant(faster[0], 2)} times as fast as the"
        says += f" memory of the paper's {theirs[0].device}, and the processor runs one thread, as there"
    else:
        faster = [now.bandwidth / then.bandwidth for now, then in zip(ours, theirs, strict=True)]
        here, there = (significant(pair[0].bandwidth / pair[1].bandwidth, 2) for pair in (ours, theirs))
        says = f"the GPU's memory{_binds(sides[0], stored)} has {here} times the bandwidth of the processor's here"
        says += f"; the paper's had {there} times, by the vendors' peaks"
    found = []
    for each, own in zip(values.values, _rows_by_value(values), strict=True):
        gpu, cpu = (_slower([row for row in own if row["gpu"] == gpu], by, stored, unknown)
                    for gpu, by, unknown in zip((True, False), faster, (0.0, 1.0), strict=True))  # fmt: skip
        found.append(each.low * (cpu / gpu if values.predicate.better != "less" else gpu / cpu))
    return Found(says, found)


def _memory(values: Values, stored: Stored, root: Path) -> Found | None:
    """Times or rates of one device each beside the paper's: how much faster its memory has become."""
    unit = values.predicate.unit
    if not (is_time(unit) or is_rate(unit)):
        return None
    found, names = [], {}
    for value, rows in zip(values.values, _rows_by_value(values), strict=True):
        if len({row["gpu"] for row in rows}) != 1:
            return None
        ours, theirs = _roof(rows, stored), peaks.of_table(rows[0]["artefact"], rows[0]["gpu"], root)
        if ours is None or theirs is None:
            return None
        faster = ours.bandwidth / theirs.bandwidth
        names.setdefault(theirs.device, significant(faster, 2))
        slower = _slower(rows, faster, stored, 0.0)
        found.append(value.low * slower if is_time(unit) else value.low / slower)
    if _share(_timed(values), stored) is None:
        return None
    told = ", and ".join(f"{times} times as fast as the memory of the paper's {name}" for name, times in names.items())
    return Found(f"the memory{_binds(_timed(values), stored)} is {told}", found)


def _rows_by_value(values: Values) -> list[list[Mapping[str, Any]]]:
    """Return the times and rates that each value is of: of its point, or all where one value is of all points."""
    each = [[row for row in point.rows.values() if is_timed(row)] for point in values.points]
    return each if len(each) == len(values.values) else [_timed(values)]


def _slower(rows: Sequence[Mapping[str, Any]], times: float, stored: Stored, unknown: float) -> float:
    """Return how many times as long rows take where their memory is so many times as slow.

    The part of the time that their bytes take grows, the rest stays.

    `unknown`: that part, where it is not known: none, so that it explains nothing. Of a processor beside a GPU it is
    all, so that the GPU's faster memory explains less of its lead.
    """
    share = _share(rows, stored)
    share = unknown if share is None else share
    return share * times + 1 - share


def _share(rows: Sequence[Mapping[str, Any]], stored: Stored) -> float | None:
    """Return which part of the time the memory takes for the bytes that must move, the median; None if not known.

    A ceiling of the memory is all of it.
    """
    if rows and all(row["artefact"].endswith(f"-{CEILINGS}") and row["method"] == "memory" for row in rows):
        return 1.0
    known = [share for row in rows if (share := stored.bound(row, of_bytes=True)) is not None]
    return min(1.0, median(known)) if known else None


def _binds(rows: Sequence[Mapping[str, Any]], stored: Stored) -> str:
    share = _share(rows, stored)
    return f", which takes {significant(100 * share, 2)} % of the time," if share < 1 else ""


def _cache(values: Values, stored: Stored, root: Path) -> Found | None:
    """Data that the last cache keeps from one run to the next: the same with the cache evicted before each sample."""
    points = []
    for point in values.points:
        rows = {name: _cold(row, stored) for name, row in point.rows.items()}
        if None in rows.values():
            return None
        points.append(replace(point, rows=rows))
    found = _evaluated(values.predicate, points, values.selectors)
    says = "the last cache holds the data, which differs where it is evicted before each sample"
    return Found(says, found) if found else None


def _cold(row: Mapping[str, Any], stored: Stored) -> dict[str, Any] | None:
    """Return a row with its value of a cold cache, None without; as it is where it is no time or rate."""
    if not is_timed(row):
        return dict(row)
    cold = stored.cold(row)
    return None if cold is None else {**row, "value": cold}


def declared(claim: Claim, cause, values: Values, stored: Stored, root: Path) -> Found | None:
    """A cause that the claim names: the value of its formula at the points that have rows with the other choice."""
    where = {**values.predicate.where, **cause.where}
    predicate = replace(values.predicate, formula=cause.formula, where=where)
    selectors = selectors_of(claim, predicate)
    points = find(claim, predicate, selectors, stored, root).points
    is_each = len(values.points) == len(values.bounds)  # of which there may be one: others may have been met
    points = [_at(own, points) for own in values.points] if is_each else points
    there = [point for point in points if point]
    found = _evaluated(predicate, there, selectors) if there else None
    if not found or len(found) != (len(there) if is_each else len(values.bounds)):
        return None
    left = iter(found)
    without = [next(left) if point else None for point in points] if is_each else found
    return Found(cause.says, without, cause.formula, points)


def _at(own: Point, points: Sequence[Point]) -> Point | None:
    """Return the one that stands for a point of the claim: a formula may name no case, or not all of its words."""
    fitting = (each for each in points if each.case in ("", own.case) and each.words.items() <= own.words.items())
    return next(fitting, None)


def _evaluated(predicate: Predicate, points: Sequence[Point], selectors: Mapping[str, str]) -> list[float] | None:
    try:
        value = evaluated(predicate, points, selectors, exact)
    except Undefined:
        return None
    return [each.low for each in (value if isinstance(value, list) else [value])]
