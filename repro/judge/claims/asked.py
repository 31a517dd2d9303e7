"""The paper's requirement on a value: its numbers, their bounds with the tolerance, and both in words."""

import re
from pathlib import Path

from repro import published
from repro.judge.claims import notes, outcomes
from repro.judge.claims.model import Claim, Predicate
from repro.judge.claims.points import Point
from repro.judge.intervals import Interval
from repro.model import ReproError
from repro.units import significant, split


def bounds(claim: Claim, predicate: Predicate, point: Point, root: Path) -> Interval:
    """Return what the value must lie in, above or below, at a point: the printed digits with the tolerance."""
    if predicate.than is not None:
        return outcomes.widened(predicate.than, predicate.than, predicate.tolerance)
    return _widened(_numbers(claim, predicate, point, root), predicate)


def _widened(numbers: list[published.Number], predicate: Predicate) -> Interval:
    factor, base = split(predicate.unit)
    for number in numbers:
        if split(number.unit)[1] != base:
            raise ReproError(f"{number.place} is in {number.unit or 'no unit'}, the formula in {predicate.unit}")
    ends = [tuple(end * split(number.unit)[0] / factor for end in number.interval()) for number in numbers]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return outcomes.widened(low, high, predicate.tolerance)


def _number(claim: Claim, reference: str, case: str, root: Path) -> published.Number:
    found = notes.number_of(claim.paper, reference, case, root)
    if found is None:
        raise ReproError(f"the paper has no number {reference!r}{f' for {case}' if case else ''}")
    return found


def _numbers(claim: Claim, predicate: Predicate, point: Point, root: Path) -> list[published.Number]:
    names = {**point.words, "case": point.case}
    return [_number(claim, each.format(**names), point.case, root) for each in predicate.published]


def has_numbers(claim: Claim, predicate: Predicate, point: Point, root: Path) -> bool:
    """Whether the paper prints what bounds a point: a case of ours need not be one of its."""
    names = {**point.words, "case": point.case}
    return all(notes.number_of(claim.paper, r.format(**names), point.case, root) for r in predicate.published)


def _fixed(claim: Claim, predicate: Predicate, root: Path) -> list[published.Number]:
    """Return the published numbers that hold for every point; none when each point has its own."""
    if any("{" in each or (not each.startswith("text ") and len(each.split()) < 4) for each in predicate.published):
        return []
    return [_number(claim, each, "", root) for each in predicate.published]


def printed(claim: Claim, predicate: Predicate, root: Path) -> str:
    """Return the numbers that hold for every point, as the paper prints them."""
    numbers = _fixed(claim, predicate, root)
    if predicate.published and not numbers:
        return "for each its own"
    return " to ".join(map(_plain, numbers))


def numbers_of(claim: Claim, predicate: Predicate, point: Point, root: Path) -> str:
    """Return the paper's numbers that bound a point, in the predicate's unit; as printed where they are in it."""
    if predicate.than is not None:
        return f"{predicate.than:g}"
    factor, told = split(predicate.unit)[0], []
    for number in _numbers(claim, predicate, point, root):
        times = split(number.unit)[0] / factor
        told.append(_plain(number) if times == 1 else significant(number.value * times))
    return " to ".join(told)


def _plain(number: published.Number) -> str:
    return re.sub(r"^\((.+)\)$", r"1/\1", number.printed)  # (1.3) is a slow-down


def requirement(claim: Claim, predicate: Predicate, root: Path) -> str:
    """Return what is asked of a value, in words, with its tolerance."""
    number = f"{predicate.than:g}" if predicate.than is not None else printed(claim, predicate, root)
    if predicate.published and not _fixed(claim, predicate, root):
        number = "the published number" + "s" * (len(predicate.published) - 1)
    elif predicate.relation == "between":
        number = number.replace(" to ", " and ")
    unit = "" if predicate.unit in ("", "count") or number.startswith("the ") else f" {predicate.unit}"
    margin = f" (± {100 * predicate.tolerance:g} %{_limits(claim, predicate, root)})" if predicate.tolerance else ""
    return f"{predicate.relation} {number}{unit}{margin}"


def _limits(claim: Claim, predicate: Predicate, root: Path) -> str:
    """Return what a number with few digits and the tolerance make together, where every point has the same."""
    numbers = _fixed(claim, predicate, root)
    if not numbers or predicate.relation not in ("about", "between", "up to"):
        return ""
    ends = _widened(numbers, predicate)
    return f": {significant(ends.low)} to {significant(ends.high)}"
