"""Facts that a reader should know of the rows behind a verdict, and why a reading has no value."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro import environment, published
from repro.cache.lacking import shortened
from repro.judge import consistency
from repro.judge.claims.model import NEEDS_DATA, UNDECIDED, Claim, Judgement, Predicate, combinations
from repro.judge.claims.stored import CEILINGS, Selector, Stored, in_place, is_timed, lacks_interval
from repro.judge.intervals import Undefined, reducer_of
from repro.model import DONE, SKIPPED
from repro.run.statistics import median
from repro.show.results import is_missing
from repro.units import convert, is_rate, significant

if TYPE_CHECKING:
    from repro.judge.claims.causes import Values
    from repro.judge.claims.points import Point

SHOWN = 3  # points that are named
ENERGY = "energy"  # a metric
UNLIKE = "does not"  # what a stand-in's recipe says of one that does not resemble its original


def unmeasured(claim: Claim, predicate: Predicate, selectors: Mapping[str, str], stored: Stored) -> str:
    """Return why a predicate cannot be judged by a machine's results."""
    for text in selectors.values():
        selector = Selector.parse(text.format(**next(combinations(claim))))
        artefact = f"{claim.paper}-{selector.stem}"
        named = "the ceilings" if selector.stem == CEILINGS else published.name_of(artefact)
        rows = stored.rows(artefact)
        if not rows and selector.stem == CEILINGS:
            return "no ceilings are stored"
        if not rows:
            return f"{named} was not measured"
        rows = [row for row in rows if row["scale"] in predicate.scales]
        if not rows:
            here, there = ", ".join(stored.scales(artefact)), " or ".join(predicate.scales)
            return f"{named} was measured at scale {here}, and not at {there}"
        asked = {selector.case} - {""} or set(claim.cases)
        asked = asked or {row["case"] for row in rows}.difference(claim.users_cases, claim.added_cases)
        wanted = [row for row in rows if selector.takes(row["method"]) and row["case"] in asked]
        done = [row for row in wanted if row["status"] == DONE and fnmatchcase(row["metric"], selector.metric)]
        if not [row for row in done if in_place(row, selector.place)]:
            what = f"{' or '.join(selector.methods)} of {named}" + f" ({selector.case})" * bool(selector.case)
            if done and selector.place:
                place = f"a {selector.place.upper()}" if selector.place in ("gpu", "cpu") else selector.place
                return f"{what} was not measured on {place}"
            ended = next((row for row in wanted if row["status"] != DONE and row["reason"]), None)
            if ended is None:
                known = [row for row in wanted if row["status"] == DONE and in_place(row, selector.place)]
                if known and selector.metric == ENERGY:  # recorded wherever a counter can be read
                    return f"{what} ran on a {'GPU' if known[0]['gpu'] else 'processor'} that tells no energy"
                return f"{f'the {selector.metric} of ' * bool(known)}{what} was not measured"
            return f"{what} {'was skipped' if ended['status'] == SKIPPED else 'failed'}: {ended['reason']}"
    return f"no case has all of {', '.join(selectors)}"


def data_of(points: Sequence[Point], predicate: Predicate, stored: Stored) -> str:
    """Return which data it would take where they are unlike the paper's: what can be downloaded first."""
    free = [each.name for each in points if all(public().issuperset(stored.data(row)) for row in each.rows.values())]
    own = [each.name for each in points if each.name not in free]
    if not free:
        return f"{NEEDS_DATA} {first(own)}" if own else ""
    besides = f", and the paper's own of {first(own)}" if own and reducer_of(predicate.formula) else ""
    return f"it needs a download of the public data of {first(free)}{besides}"


def undefined(predicate: Predicate, points: Sequence[Point], error: Undefined) -> str:
    """Return why a predicate's formula has no value, with the rows that may be why: of zero, or infinite."""
    rows = [row for point in points for row in point.rows.values() if row["value"] == 0 or math.isinf(row["value"])]
    names = [f"{row['method']} {row['metric']} of {row['case']} is {row['value']:g}" for row in rows]
    return f"{predicate.formula} has no value: {'; '.join(filter(None, [str(error), first(names)]))}"


def of(claim: Claim, values: Values, judgement: Judgement, stored: Stored, root: Path) -> tuple[str, ...]:
    """Return what a reader should know of the rows that a reading is worked out from, a line each."""
    alone = f"not measured here, since a run leaves these out unless asked: {first(judgement.spared)}" * bool(
        judgement.spared
    )
    rows = [row for point in values.points for row in point.rows.values()]
    apart = [*judgement.missing, *judgement.untestable] if reducer_of(values.predicate.formula) else []
    data = standing_in(rows, stored)
    settled = f"without a value, and unable to change the outcome: {first(apart)}" if apart else ""
    found = [
        _sides(claim.paper, values, root), f"on stand-ins: {first(data)}" if data else "",
        in_doubt(claim, values.predicate, values.points, root), _without_interval(rows),
        _disturbed(rows, stored), alone, settled * (judgement.outcome != UNDECIDED),
    ]  # fmt: skip
    return tuple(filter(None, found))


def _sides(paper: str, values: Values, root: Path) -> str:
    """Return each method's speed over the paper's, if that prints times or rates of it: the source of a gap."""
    found: dict[str, list[float]] = {}
    for point in values.points:
        for name, row in point.rows.items():
            if not is_timed(row) or row["scale"] != "paper":
                continue
            theirs = published.stand_ins(paper, [row["method"]], root).get(row["method"], row["method"])
            stem = row["artefact"].partition("-")[2]
            number = number_of(paper, f"{stem} {theirs} {row['metric']}", row["case"], root)
            if number is not None and number.value > 0 and row["value"] > 0:
                times = convert(row["value"], row["unit"], number.unit) / number.value
                short = _short(row["method"], values.selectors[name], point)
                found.setdefault(short, []).append(times if is_rate(row["unit"]) else 1 / times)
    if len(found) < 2:  # of one alone the claim's own value says it
        return ""
    told = [f"{method} {significant(median(times), 2)} times as fast" for method, times in found.items()]
    return f"our times against the paper's for the same method: {first(told)}"


def _disturbed(rows: Sequence[Mapping[str, Any]], stored: Stored) -> str:
    """Return how many cells' samples something disturbed for as long as they took, and the methods of these."""
    cells = {(row["artefact"], row["case"], row["method"], row["backend"]): row for row in rows}
    found = [row["method"] for row in cells.values() if stored.disturbed(row)]
    return (f"other work disturbed the samples of {len(found)} of {len(cells)} cells, of "
            f"{first(list(dict.fromkeys(found)))}, which may slow them") if found else ""  # fmt: skip


def _without_interval(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the methods that the claim's interval has nothing of: not sampled, or long and timed too few times."""
    lacking = [row for row in rows if lacks_interval(row)]
    few = {row["method"]: f"{row['method']} ({int(row['n'])})" for row in lacking if not is_missing(row["n"])}
    none = {(row["method"], row["metric"]): f"{row['method']} {row['metric']}" for row in lacking
            if is_missing(row["n"])}  # fmt: skip
    told = [f"too few runs for an interval: {first(list(few.values()))}"] * bool(few)
    told += [f"not sampled, so without an interval: {first(list(none.values()))}"] * bool(none)
    return "; ".join(told)


def winners(values: Values) -> tuple[str, ...]:
    """Return the methods that won where a formula asks for the best of several, the winners at most points first.

    Where both sides have several, each is told with its place.
    """
    found: dict[str, Counter[str]] = {}
    for point in values.points:
        for name, row in point.rows.items():
            methods = values.selectors[name].split()[1]
            if "|" in methods or "*" in methods:
                found.setdefault(name, Counter())[_short(row["method"], values.selectors[name], point)] += 1
    places = {name: Selector.parse(values.selectors[name]).place for name in found if len(found) > 1}
    return tuple(
        first([method for method, _ in each.most_common()]) + f" on {places.get(name)}" * bool(places.get(name))
        for name, each in found.items()
    )


def _short(method: str, selector: str, point: Point) -> str:
    """Return a method without what the words of a claim put before all alternatives, as ``q1-xyz-``."""
    return method.removeprefix(re.match(r"(?:\{\w+\}-)*", selector.split()[1])[0].format(**point.words))


def first(names: Sequence[str]) -> str:
    """Return the names that are shown, and how many more there are."""
    return shortened(names, SHOWN)


def standing_in(rows: Iterable[Mapping[str, Any]], stored: Stored) -> list[str]:
    """Return the names of the data of rows that only stand in for the paper's own."""
    names = {name for row in rows for name in stored.data(row)}
    return sorted(name.partition("/")[2] for name in names & stand_ins()) if names else []


@cache
def stand_ins() -> frozenset[str]:
    """Return the datasets that stand in for data that are not public."""
    return frozenset(entry.name for entry in environment.catalogue() if entry.stand_in_for)


@cache
def public() -> frozenset[str]:
    """Return the datasets that stand in for data that can be downloaded."""
    return frozenset(entry.name for entry in environment.catalogue() if getattr(entry, "address", ""))


@cache
def unlike() -> frozenset[str]:
    """Return the stand-ins that do not resemble what they stand in for: what is measured on them tests no claim."""
    return frozenset(entry.name for entry in environment.catalogue() if getattr(entry, "fidelity", "") == UNLIKE)


def in_doubt(claim: Claim, predicate: Predicate, points: Sequence[Point], root: Path) -> str:
    """A published number that does not follow from the paper's others is no surprise when we miss it."""
    wrong = doubtful(claim.paper, root)
    numbers = {
        name(number)
        for reference in predicate.published
        for point in points
        if (number := number_of(claim.paper, reference.format(**point.words, case=point.case), point.case, root))
    }
    many = len(numbers & wrong.keys())
    which = f"{many} of the published numbers" if len(numbers) > 1 else "the published number"
    return f"{which} {'does' if many == 1 else 'do'} not follow from the paper's others" if many else ""


@cache
def doubtful(paper: str, root: Path) -> dict[tuple[str, str, str, str], consistency.Verdict]:
    """Return the published numbers that do not follow from the paper's others, and all that those give.

    A number follows if one relation gives it, which copies no doubtful number, and no bound forbids it.
    """
    every = consistency.verdicts(paper, root)
    failing, wrong = [each for each in every if not each.agrees], set()
    while True:  # the largest of some speed-ups is as doubtful as these, and no times are by what they make
        given = {name(each.number) for each in every if each.agrees and not each.is_bound
                 and wrong.isdisjoint(name(one) for one in each.sources if one.unit == each.number.unit)}  # fmt: skip
        now = {name(each.number) for each in failing if each.is_bound or name(each.number) not in given}
        if now == wrong:
            break
        wrong = now
    found: dict[tuple[str, str, str, str], consistency.Verdict] = {}
    for each in failing:
        if name(each.number) in wrong:
            before = found[name(each.number)].expected if name(each.number) in found else {}
            more = {f"{len(before)} {reading}": span for reading, span in each.expected.items()}
            found[name(each.number)] = replace(each, expected=before | more)
    return found


def name(number: published.Number) -> tuple[str, str, str, str]:
    """Return what tells a published number from the others."""
    return number.artefact, number.case, number.method, number.metric


def number_of(paper: str, reference: str, case: str, root: Path) -> published.Number | None:
    """Return the published number that a reference names, of `case` where it names none; None when there is none.

    A method of ours that the paper has not has the number of the one whose place it takes.
    """
    table, *words = reference.split()
    theirs = published.stand_ins(paper, words[:1], root) if table != "text" else {}
    found = (published.named(paper, " ".join([table, method, *words[1:]]), case, root)
             for method in dict.fromkeys([words[0], theirs.get(words[0], words[0])]))  # fmt: skip
    return next((number for numbers in found for number in numbers), None)
