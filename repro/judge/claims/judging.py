"""From stored rows to verdicts: evaluates the predicates of a claim at its points, and says what they show."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro import published
from repro.cache import hosts
from repro.cache.glance import glance
from repro.cache.store import tables
from repro.judge.claims import asked, causes, ledger, needed, notes, outcomes
from repro.judge.claims.model import (
    CONTRADICTED,
    EXCEEDED,
    MISSED,
    NEEDS_DATA,
    REPRODUCED,
    UNDECIDED,
    WEAKER,
    Claim,
    Judgement,
    PointOutcome,
    Predicate,
    Verdict,
)  # fmt: skip
from repro.judge.claims.numbers import doubted_of, evaluated, exact, interval_of
from repro.judge.claims.outcomes import UNDER
from repro.judge.claims.points import Point, find, selectors_of
from repro.judge.claims.stored import Stored, lacks_interval
from repro.judge.intervals import Interval, Undefined, argument_of, counts, enclosing, evaluate, reducer_of
from repro.judge.verify import unverified
from repro.model import DONE, ReproError
from repro.run.statistics import median
from repro.show.results import is_missing
from repro.units import significant, split


def machines(results: Path) -> list[str]:
    """Return the machines that have stored results."""
    folder = Path(results)
    found = {path.relative_to(folder).parts[0] for path in tables(folder, "*/*/*")} if folder.is_dir() else set()
    return sorted(found)


def verdicts(
    results: Path, paper: str | None = None, machine: str | None = None, root: Path = published.ROOT,
    stores: Sequence[Stored] | None = None,
) -> list[Verdict]:  # fmt: skip
    """Return a verdict on every claim, from the results that are stored.

    Raises `ReproError` when a ledger is malformed, or a predicate does not fit the rows that it selects.

    `machine`: judge by this machine's results. By default the machine whose results fit a claim best judges it. Results
    fit best, in this order, if they judge the number rather than only the effect, are at the papers' sizes, and are
    verified. A processor of as many cores as the paper's comes next, then more of the claim's points. Among equals,
    results that decide the claim come first, whichever way they do.
    """
    if stores is None:
        stores = [Stored(results, name, root) for name in ([machine] if machine else machines(results))]
    found = []
    with glance():
        for claim in ledger.claims(paper, root):
            judged = [(_known(claim, stored, root), stored) for stored in stores or [None]]
            cores = published.hardware(claim.paper, root).get("cpu", {}).get("vendor", {}).get("cores", 0)
            found.append(max(judged, key=lambda pair: _worth(*pair, cores))[0])  # the first of equals
    return found


def _worth(verdict: Verdict, stored: Stored | None, cores: int = 0) -> tuple:
    measured = [each for each in verdict.judgements if each.value is not None]
    paper = sum(each.scale in ("paper", "large") for each in measured)
    rows = [row for artefact in verdict.claim.artefacts for row in stored.rows(artefact)] if stored else []
    nearest = any(row["status"] == DONE and row["gpu"] and row["scale"] in ("paper", "large") for row in rows)
    points = sum(len(each.points) for each in measured)
    missing = sum(len(each.missing) for each in measured)  # what one value of all points lacks
    listed = unverified(stored.folder.parent) if stored else {}
    files = [f"{stored.machine}/{each.replace('-', '/', 1)}" for each in verdict.claim.artefacts] if listed else []
    proven = not any(file in listed for file in files)
    # Two cores cannot show what four gain over one.
    as_many = bool(stored and measured) and hosts.of_processor(stored.folder).get("cores", 0) >= cores
    is_decided = verdict.outcome != UNDECIDED
    return len(measured), paper, proven, as_many, points, -missing, is_decided, verdict.machine != "", nearest


def _known(claim: Claim, stored: Stored | None, root: Path) -> Verdict:
    """Return the verdict of `_judged`, worked out once by the results that are given."""
    if stored is None:
        return _judged(claim, stored, root)
    key = root, claim.paper, claim.id
    if key not in stored.verdicts:
        stored.verdicts[key] = _judged(claim, stored, root)
    return stored.verdicts[key]


def _judged(claim: Claim, stored: Stored | None, root: Path) -> Verdict:
    if stored is None:
        return Verdict(claim, needs=claim.unmeasured or "no results are stored")
    readings, values = {}, {}
    for name in ("stated", "effect", "today"):
        if (predicate := getattr(claim, name)) is None:
            continue
        try:
            readings[name], values[name] = judge(claim, predicate, stored, root)
        except ReproError as error:
            raise ReproError(f"claim {claim.paper} {claim.id}, {name}, on {stored.machine}: {error}") from None
    stated, effect = readings.get("stated"), readings.get("effect")
    outcome, needs = _together(stated, effect, claim.stated)
    has_rows = any(stored.rows(artefact) for artefact in claim.artefacts)
    measured = any(each.value is not None for each in readings.values())
    readings = {name: _named(each, getattr(claim, name), outcome) for name, each in readings.items()}
    if values.get("today"):
        readings["today"] = replace(readings["today"], winners=notes.winners(values["today"]))
    chosen = next((name for name in ("stated", "effect") if values.get(name)), "")
    found, is_on_bound = [], False
    if chosen:
        wanted = (EXCEEDED,) if outcome == EXCEEDED else (WEAKER, CONTRADICTED, MISSED)
        missed = [i for i, each in enumerate(readings[chosen].points) if each.outcome in wanted]
        at = values[chosen].of(missed)
        found = causes.tested(claim, at, stored, root)
        is_on_bound = 0 < len(missed) == readings[chosen].missed and at.is_on_bound
    return Verdict(
        claim, stored.machine if has_rows or measured else "", outcome, needs or claim.unmeasured, **readings,
        tested=tuple(found), is_on_bound=is_on_bound,
        notes=notes.of(claim, values[chosen], readings[chosen], stored, root) if chosen else (),
    )  # fmt: skip


def _together(stated: Judgement | None, effect: Judgement | None, predicate: Predicate | None) -> tuple[str, str]:
    """Return the outcome of a claim by its two readings, and what it would take where none is decided."""
    way = None if effect is None or effect.value is None else effect.outcome
    if stated is not None and stated.value is None and way is not None:
        # The direction alone can contradict a number that was not measured, and no more.
        return (CONTRADICTED, "") if way == UNDER else (UNDECIDED, stated.needs)
    if stated is None or stated.value is None:
        if way is None:
            return UNDECIDED, next((each.needs for each in (stated, effect) if each), "")
        return CONTRADICTED if way == UNDER else way, effect.needs
    if stated.outcome != UNDER:
        if stated.outcome not in (REPRODUCED, EXCEEDED):
            return stated.outcome, stated.needs
        if effect is not None and way is None:
            return UNDECIDED, f"met, and its effect has no value: {effect.needs}"
        if way == UNDECIDED and not effect.is_there:
            return UNDECIDED, f"met, and whether the effect is there is open: {effect.needs}"
        return (WEAKER if way == UNDER else stated.outcome), stated.needs
    if way is None:
        return (WEAKER if _same_way(stated.value, predicate) else CONTRADICTED), ""
    if way == UNDECIDED and not effect.is_there:
        return UNDECIDED, f"missed, and whether the effect is there is open: {effect.needs}"
    return (CONTRADICTED if way == UNDER else WEAKER), ""


def _same_way(value: float, predicate: Predicate) -> bool:
    """Return whether a value that misses its number goes the same way.

    A ratio is on the same side of one, a percentage above nothing, other values any.
    """
    if predicate.better == "neither":
        return False
    if predicate.unit != "x":
        return predicate.unit != "%" or value > 0
    return value > 1 if predicate.better == "more" else value < 1


def _named(judgement: Judgement, predicate: Predicate, outcome: str) -> Judgement:
    """Return a judgement that says weaker or contradicted where it is under what is asked.

    A point says it by its own direction, unless nothing of the claim is there or its interval has both.
    """

    def word(each: PointOutcome) -> str:
        if outcome == CONTRADICTED:
            return CONTRADICTED
        ways = {_same_way(value, predicate) for value in (each.low, each.value, each.high)}
        return MISSED if len(ways) > 1 else WEAKER if ways == {True} else CONTRADICTED

    points = tuple(replace(each, outcome=word(each)) if each.outcome == UNDER else each for each in judgement.points)
    whole = outcome if outcome in (WEAKER, CONTRADICTED) else MISSED
    return replace(judgement, points=points, outcome=whole if judgement.outcome == UNDER else judgement.outcome)


def judge(
    claim: Claim, predicate: Predicate, stored: Stored, root: Path = published.ROOT
) -> tuple[Judgement, causes.Values | None]:
    """Return what a machine's results say of one predicate of a claim, and what it was worked out from.

    Its outcome and each point's may be `UNDER`: the effect tells whether that is weaker or contradicted.
    """
    selectors = selectors_of(claim, predicate)
    found = find(claim, predicate, selectors, stored, root)
    # Of points of which the paper prints nothing, one says so.
    points = [each for each in found.points if asked.has_numbers(claim, predicate, each, root)] or found.points[:1]
    missing, untestable = ([each for each in some if asked.has_numbers(claim, predicate, each, root)]
                           for some in (found.missing, found.untestable))  # fmt: skip
    bounds = [asked.bounds(claim, predicate, point, root) for point in points]
    blank = Judgement(
        UNDECIDED, unit=predicate.unit, says=predicate.says,
        published=asked.printed(claim, predicate, root), requirement=asked.requirement(claim, predicate, root),
    )  # fmt: skip
    data = notes.data_of(untestable, predicate, stored)
    if not points:
        why = "" if data else needed.by_request(claim, selectors.values())
        missed = data or notes.unmeasured(claim, predicate, selectors, stored)
        return replace(
            blank, needs=f"{missed}; a run leaves out cells of it unless asked: {why}" if why else missed
        ), None
    try:
        ways = exact, interval_of, doubted_of(stored)
        values, spans, wide = (evaluated(predicate, points, selectors, each) for each in ways)
    except Undefined as error:
        return replace(blank, needs=notes.undefined(predicate, points, error)), None
    reduced = not isinstance(values, list)
    if reduced:
        values, spans, wide, bounds = [values], [spans], [wide], bounds[:1]
    names = [""] if reduced else [point.name for point in points]
    rows = _rows(points)
    low, high = _ends(values, spans, rows)
    spared = (
        [] if reduced else [each for each in missing if needed.by_request(claim, selectors.values(), found.scale, each)]
    )
    missing = [each for each in missing if each not in spared]
    lacking = len(missing) + (len(untestable) if reduced else 0)  # one value of all points would need these, too
    if reduced and lacking:
        spans, wide = ([_reach(predicate, points, selectors, lacking, each)] for each in ways[1:])
    absent = 0 if reduced else len(missing)
    sure, doubted = (
        [outcomes.settled(*each, predicate) for each in zip(every, values, bounds, strict=True)]
        for every in (spans, wide)
    )
    strange = {}  # the data of values that miss the number of the paper's own, where data can have that number
    groups = [points] if reduced else [[point] for point in points]
    for i, group in enumerate(groups) if claim.of_data else ():
        if UNDER in doubted[i] and not notes.in_doubt(claim, predicate, group, root):
            strange |= dict.fromkeys(others := notes.standing_in(_rows(group), stored))
            sure[i] = doubted[i] = frozenset((UNDER, REPRODUCED)) if others else doubted[i]
    known = [value if any(map(lacks_interval, _rows(group))) else span  # one side's interval is not both sides'
             for value, span, group in zip(values, spans, groups, strict=True)]  # fmt: skip
    outcome = outcomes.overall(doubted, absent)
    judgement = replace(
        blank, outcome=outcome, value=median(each.low for each in values), low=low, high=high,
        is_there=outcomes.at_worst(doubted, absent) != UNDER,
        points=tuple(
            PointOutcome(
                name, value.low, span.low, span.high, asked.numbers_of(claim, predicate, group[0], root),
                outcomes.one(classes),
            )
            for name, value, span, group, classes in zip(names, values, known, groups, doubted, strict=True)
        ),
        missing=tuple(point.name for point in missing), spared=tuple(point.name for point in spared), scale=found.scale,
        untestable=tuple(point.name for point in untestable),
        tested=len(points) if reduced and predicate.unit == "count" and reducer_of(predicate.formula) == "sum" else 0,
        extremes=_extremes(predicate, points, selectors) if reduced else (),
    )  # fmt: skip
    if outcome == UNDECIDED and strange:
        judgement = replace(judgement, needs=f"{NEEDS_DATA} {notes.first(list(strange))}")
    elif outcome == UNDECIDED:
        if not reduced:  # rows of the points that are left open, which alone need more
            rows = _rows(point for point, classes in zip(points, doubted, strict=True) if len(classes) > 1)
        needs = _needs(judgement, outcomes.overall(sure, absent), sure, rows, data, stored)
        judgement = replace(judgement, needs=needs)
    return judgement, causes.Values(predicate, points, selectors, values, bounds)


def _rows(points: Iterable[Point]) -> list[Mapping[str, Any]]:
    return [row for point in points for row in point.rows.values()]


def _needs(
    judgement: Judgement,
    sure: str,
    classes: Sequence[frozenset[str]],
    rows: Sequence[Mapping[str, Any]],
    data: str,
    stored: Stored,
) -> str:
    """Return what it would take to decide a reading, or why no run can.

    `data`: what it would take at points whose data test nothing.
    """
    lacking = [row for row in rows if lacks_interval(row)]  # the intervals of the others say nothing of these
    if sure != UNDECIDED or (lacking and not judgement.missing and not judgement.untestable):
        few = dict.fromkeys(row["method"] for row in lacking if not is_missing(row["n"]))
        none = dict.fromkeys(f"{row['method']} {row['metric']}" for row in lacking if is_missing(row["n"]))
        busy = dict.fromkeys(row["method"] for row in rows if stored.disturbed(row))
        if few and few == busy and not none:
            return f"it needs more samples on a quiet machine of {notes.first(list(few))}"
        told = [f"more samples of {notes.first(list(few))}"] * bool(few)
        told += [f"a quiet machine for {notes.first(list(busy))}"] * bool(busy)
        sentences = [f"it needs {' and '.join(told)}"] * bool(told)
        has, them = ("has", "it") if len(none) == 1 else ("have", "them")
        sentences += [f"{notes.first(list(none))} {has} no interval, since no run takes samples of {them}"] * bool(none)
        return "; ".join(sentences)
    if judgement.missing:
        return f"it needs a value of {notes.first(judgement.missing)}"
    if data and len(judgement.points) == 1 and not judgement.points[0].name:
        return data
    doubted = [each for each, found in zip(judgement.points, classes, strict=True) if len(found) > 1]
    ends = [(each.name, f"{significant(each.low)} to {significant(each.high)}") for each in doubted]
    told = [f"{name} ({span})" if name else span for name, span in ends]
    reaches = f"the interval reaches across a limit: {notes.first(told)}"
    return f"it needs more rounds, or rounds on a quieter machine, since {reaches}"


def _extremes(predicate: Predicate, points: Sequence[Point], selectors: Iterable[str]) -> tuple[tuple[str, float], ...]:
    """Return the names and values of the worst and the best point where a claim is decided by one of them."""
    if reducer_of(predicate.formula) not in ("max", "min") or len(points) < 2:
        return ()
    values = evaluated(replace(predicate, formula=argument_of(predicate.formula)), points, selectors, exact)
    if not isinstance(values, list):
        return ()
    pairs = sorted(((point.name, each.low) for point, each in zip(points, values, strict=True)), key=lambda it: it[1])
    return pairs[0], pairs[-1]


def _ends(
    values: list[Interval], spans: list[Interval], rows: list[Mapping[str, Any]]
) -> tuple[float, float] | tuple[None, None]:
    """Return the ends of what is shown beside the value: of the intervals of all points, or of the one of a value.

    Where a side was timed too few times for an interval, the other side's alone would pass for an interval of
    both: then several points show how far their values lie apart, and one shows nothing.
    """
    is_lacking = any(map(lacks_interval, rows))
    whole = enclosing(*(values if is_lacking else spans))
    is_exact = all(row["unit"] in ("", "count", "x", "B", "%") for row in rows)
    if len(values) > 1 or (not is_lacking and (whole.low < whole.high or is_exact)):
        return whole.low, whole.high
    return None, None


def _reach(predicate: Predicate, points: Sequence[Point], selectors: Iterable[str], missing: int, way) -> Interval:
    """Return what one value of all points may be, whatever the values at the missing points are.

    A comparison is 1 or 0, and another number nothing negative, unless the formula subtracts. The value may be anything
    where the formula does more than to reduce the points at once.
    """
    reducer, anything = reducer_of(predicate.formula), Interval(-math.inf, math.inf)
    unknown = Interval(0.0, math.inf) if "-" not in predicate.formula else anything
    if counts(predicate.formula):
        unknown = Interval(0.0, 1 / split(predicate.unit)[0])
    if not reducer or (unknown == anything and reducer in ("sum", "mean")):
        return anything
    each = evaluated(replace(predicate, formula=argument_of(predicate.formula)), points, selectors, way)
    return evaluate(f"{reducer}(each)", {"each": [*each, *[unknown] * missing]})
