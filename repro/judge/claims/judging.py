"""From stored rows to verdicts: evaluates the predicates of a claim at its points, and says what they show."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro import published
from repro.judge.claims import ledger, reasons
from repro.judge.claims.model import FAILS, HOLDS, PART, UNMEASURED, Claim, Judgement, Predicate, Verdict
from repro.judge.claims.points import Point, bound, find
from repro.judge.claims.stored import Stored, lacks_interval
from repro.judge.intervals import Interval, Undefined, Value, evaluate_all, reducer_of
from repro.model import DONE, ReproError
from repro.run.statistics import median
from repro.show.results import is_missing
from repro.units import split

_SLACK = 1e-9  # relative, for rounding


def machines(results: Path) -> list[str]:
    """Return the machines that have stored results."""
    folder = Path(results)
    found = {path.relative_to(folder).parts[0] for path in folder.glob("*/*/*.csv")} if folder.is_dir() else set()
    return sorted(found)


def verdicts(
    results: Path, paper: str | None = None, machine: str | None = None, root: Path = published.ROOT
) -> list[Verdict]:
    """Return a verdict on every claim, from the results that are stored.

    Parameters
    ----------
    results : path
        The results folder, with a folder a machine.
    paper : str, optional
        Only the claims of this paper.
    machine : str, optional
        Judge by this machine's results. By default each claim is judged by those that say most of it: where its number
        can be judged rather than only the effect, at the papers' sizes rather than at others, on more of its points.
    root : path, optional
        Folder of the papers' folders.

    Raises
    ------
    ReproError
        When a ledger is malformed, or a predicate does not fit the rows that it selects.
    """
    stores = [Stored(results, name) for name in ([machine] if machine else machines(results))]
    found = []
    for claim in ledger.claims(paper, root):
        judged = [(_judged(claim, stored, root), stored) for stored in stores or [None]]
        found.append(max(judged, key=lambda pair: _worth(*pair))[0])  # the first of equals
    return found


def _worth(verdict: Verdict, stored: Stored | None) -> tuple:
    measured = [each for each in verdict.judgements if each.state != UNMEASURED]
    paper = sum(each.scale in ("paper", "large") for each in measured)
    rows = [row for artefact in verdict.artefacts for row in stored.rows(artefact)] if stored else []
    nearest = any(row["status"] == DONE and row["gpu"] and row["scale"] in ("paper", "large") for row in rows)
    return len(measured), paper, sum(each.points for each in measured), verdict.machine != "", nearest


def _judged(claim: Claim, stored: Stored | None, root: Path) -> Verdict:
    readings = {}
    for name in ("stated", "effect"):
        predicate = getattr(claim, name)
        if predicate is None:
            continue
        if stored is None:
            readings[name] = Judgement(UNMEASURED, says=predicate.says, reason="no results are stored")
            continue
        try:
            readings[name] = judge(claim, predicate, stored, root)
        except ReproError as error:
            raise ReproError(f"claim {claim.paper} {claim.id}, {name}, on {stored.machine}: {error}") from None
    has_rows = any(stored.rows(artefact) for artefact in claim.artefacts) if stored else False
    measured = any(each.state != UNMEASURED for each in readings.values())
    return Verdict(claim, stored.machine if stored and (has_rows or measured) else "", **readings)


def judge(claim: Claim, predicate: Predicate, stored: Stored, root: Path = published.ROOT) -> Judgement:
    """Return what a machine's results say of one predicate of a claim."""
    selectors = bound(claim, predicate)
    found = find(claim, predicate, selectors, stored, root)
    # Of points of which the paper prints nothing, one says so.
    points = [each for each in found.points if _has_numbers(claim, predicate, each, root)] or found.points[:1]
    missing, untestable = ([each for each in some if _has_numbers(claim, predicate, each, root)]
                           for some in (found.missing, found.untestable))  # fmt: skip
    without = reasons.left_out(untestable)
    bounds = [_bounds(claim, predicate, point, root) for point in points]
    blank = Judgement(
        UNMEASURED, unit=predicate.unit, says=predicate.says,
        published=_printed(claim, predicate, root), requirement=_requirement(claim, predicate, root),
    )  # fmt: skip
    if not points:
        return replace(blank, reason=without or reasons.unmeasured(claim, predicate, selectors, stored))

    try:
        values, spans = (evaluated(predicate, points, selectors, exact) for exact in (True, False))
    except Undefined as error:
        return replace(blank, reason=reasons.undefined(predicate, points, error))
    reduced = not isinstance(values, list)
    if reduced:
        values, spans, bounds = [values], [spans], bounds[:1]
    met = [_meets(span, limits, predicate) for span, limits in zip(spans, bounds, strict=True)]
    names = [""] if reduced else [point.name for point in points]
    rows = [row for point in points for row in point.rows.values()]
    low, high = _ends(values, spans, rows)
    lacking = len(missing) + (len(untestable) if reduced else 0)  # one value of all points would need these, too
    reach = _reach(spans[0], predicate, len(points), lacking) if reduced else None
    decided = None if reach is None else _meets(reach, bounds[0], predicate)
    judgement = replace(
        blank, state=_state(met, bool(lacking), reduced, decided), value=median(each.low for each in values),
        low=low, high=high, points=len(values),
        met=sum(each is True for each in met), undecided=sum(each is None for each in met),
        asked=1 if reduced else len(values) + len(missing),
        shared=reasons.beside_others(rows, stored.folder),
        missing=tuple(point.name for point in missing), scale=found.scale,
        failing=tuple(name for name, each in zip(names, met, strict=True) if each is not True and name),
    )  # fmt: skip
    why = reasons.reason(claim, judgement, predicate, points, stored, root)
    return replace(judgement, reason="; ".join(filter(None, [without, why])))


def _ends(
    values: list[Interval], spans: list[Interval], rows: list[Mapping[str, Any]]
) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of what is shown beside the value: of the intervals of all points, or of the one of a value.

    Where a side was timed too few times for an interval, that of the other side alone would pass for an interval of
    both: then several points show how far their values lie apart, and one shows nothing.
    """
    several = len(values) > 1
    if any(lacks_interval(row) for row in rows):
        return _enclosing(values) if several else (None, None)
    low, high = _enclosing(spans)
    return (low, high) if several or low < high or all(_exact(row) for row in rows) else (None, None)


def _enclosing(spans: list[Interval]) -> tuple[float, float]:
    return min(span.low for span in spans), max(span.high for span in spans)


def _state(met: list[bool | None], incomplete: bool, reduced: bool, decided: bool | None) -> str:
    """Return the verdict on points that meet a requirement, do not, or are undecided (None).

    Where some do not and the rest are undecided, nothing shows that it holds anywhere: then it does not. Where all are
    undecided, nothing shows either. With points missing, a claim on each of them can hold in part at most; of one on
    all together `decided` says what it is whatever the missing ones are, or None.
    """
    holds, fails = all(met), True not in met and False in met
    if not (holds or fails):
        return PART
    if incomplete and (decided is None if reduced else holds):
        return PART
    return HOLDS if holds else FAILS


def _reach(value: Interval, predicate: Predicate, points: int, missing: int) -> Interval:
    """Return what one value of all points may be whatever those that are missing are.

    They are nothing negative, unless the formula subtracts. Anything where it does more than to reduce them at once.
    """
    reducer, may_be_negative = reducer_of(predicate.formula), "-" in predicate.formula
    if reducer == "max" or (reducer == "sum" and not may_be_negative):
        return Interval(value.low, math.inf)
    if reducer == "mean" and not may_be_negative:
        return Interval(value.low * points / (points + missing), math.inf)
    if reducer == "min":
        return Interval(-math.inf if may_be_negative else min(0.0, value.low), value.high)
    return Interval(-math.inf, math.inf)


def evaluated(predicate: Predicate, points: list[Point], selectors: Mapping[str, str], exact: bool) -> Value:
    """Return the formula's value in the predicate's unit: one a point, or one of all of them."""
    names = {name: [_interval(point.rows[name], exact) for point in points] for name in selectors}
    value, factor = evaluate_all(predicate.formula, names), split(predicate.unit)[0]
    return [each / factor for each in value] if isinstance(value, list) else value / factor


def _exact(row: Mapping[str, Any]) -> bool:
    return row["unit"] in ("", "count", "x", "B", "%")


def _interval(row: Mapping[str, Any], exact: bool) -> Interval:
    factor = split(row["unit"] or "")[0]
    value, low, high = (row[name] for name in ("value", "ci_low", "ci_high"))
    if exact or is_missing(low) or is_missing(high):
        return Interval(value * factor, value * factor)
    return Interval(low * factor, high * factor)


def _bounds(claim: Claim, predicate: Predicate, point: Point, root: Path) -> Interval:
    """Return what the value must lie in, above or below, at a point: the printed digits with the tolerance."""
    if predicate.than is not None:
        return _widened(predicate.than, predicate.than, predicate.tolerance)
    names = {**point.words, "case": point.case}
    numbers = [_number(claim, each.format(**names), point.case, root) for each in predicate.published]
    factor, base = split(predicate.unit)
    for number in numbers:
        if split(number.unit)[1] != base:
            raise ReproError(f"{number.place} is in {number.unit or 'no unit'}, the formula in {predicate.unit}")
    ends = [tuple(end * split(number.unit)[0] / factor for end in number.interval()) for number in numbers]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return _widened(low, high, predicate.tolerance)


def _widened(low: float, high: float, share: float) -> Interval:
    """Return an interval made wider by a share of its ends; an end that is infinite stays."""
    low, high = (end if math.isinf(end) else end + sign * share * abs(end) for end, sign in ((low, -1), (high, 1)))
    return Interval(low, high)


def _meets(value: Interval, bound: Interval, predicate: Predicate) -> bool | None:
    """Return whether the whole interval of a value meets the requirement, or none of it does; None in between."""
    wider = _widened(bound.low, bound.high, _SLACK)
    low, high = wider.low, wider.high
    if predicate.relation in ("at least", "more than"):
        strict = predicate.relation == "more than"
        inside, outside = (value.low > bound.low, value.high <= bound.low) if strict else (
            value.low >= low, value.high < low)  # fmt: skip
    elif predicate.relation in ("at most", "less than"):
        strict = predicate.relation == "less than"
        inside, outside = (value.high < bound.high, value.low >= bound.high) if strict else (
            value.high <= high, value.low > high)  # fmt: skip
    else:
        inside, outside = value.low >= low and value.high <= high, value.high < low or value.low > high
    return True if inside else False if outside else None


def _number(claim: Claim, reference: str, case: str, root: Path) -> published.Number:
    found = reasons.number_of(claim.paper, reference, case, root)
    if found is None:
        raise ReproError(f"the paper has no number {reference!r}{f' for {case}' if case else ''}")
    return found


def _has_numbers(claim: Claim, predicate: Predicate, point: Point, root: Path) -> bool:
    """Whether the paper prints what bounds a point: a case of ours need not be one of its."""
    names = {**point.words, "case": point.case}
    return all(reasons.number_of(claim.paper, r.format(**names), point.case, root) for r in predicate.published)


def _fixed(claim: Claim, predicate: Predicate, root: Path) -> list[published.Number]:
    """Return the published numbers that hold for every point; none when each point has its own."""
    if any("{" in each or (not each.startswith("text ") and len(each.split()) < 4) for each in predicate.published):
        return []
    return [_number(claim, each, "", root) for each in predicate.published]


def _printed(claim: Claim, predicate: Predicate, root: Path) -> str:
    numbers = _fixed(claim, predicate, root)
    if predicate.published and not numbers:
        return "for each its own"
    return " to ".join(re.sub(r"^\((.+)\)$", r"1/\1", number.printed) for number in numbers)  # (1.3) is a slow-down


def _requirement(claim: Claim, predicate: Predicate, root: Path) -> str:
    number = f"{predicate.than:g}" if predicate.than is not None else _printed(claim, predicate, root)
    if predicate.published and not _fixed(claim, predicate, root):
        number = "the published number" + "s" * (len(predicate.published) - 1)
    elif predicate.relation == "between":
        number = number.replace(" to ", " and ")
    unit = "" if predicate.unit in ("", "count") else f" {predicate.unit}"
    margin = f" (± {100 * predicate.tolerance:g} %)" if predicate.tolerance else ""
    return f"{predicate.relation} {number}{unit}{margin}"
