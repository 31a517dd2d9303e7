"""One line of reason for a judgement, chosen by what the rows and the ceilings show: nothing here is typed for a claim.

The first condition that holds gives the line. A GPU against a processor: their bandwidths, ours and the paper's. On one
device: whether launches last longer than the work, whether the last cache holds the data, how near each side is to what
the device allows. An absolute time or rate: the bandwidth, ours and the paper's. Counts: the method alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro import environment, published
from repro.judge import consistency, peaks
from repro.judge.claims.model import HOLDS, Claim, Judgement, Predicate
from repro.judge.claims.stored import CEILINGS, Selector, Stored, in_place, is_timed, lacks_interval
from repro.judge.intervals import Undefined
from repro.judge.peaks import Peak
from repro.model import DONE
from repro.rows import asked
from repro.run.busy import on_processor, preempted, shared
from repro.run.statistics import median
from repro.show.results import is_missing
from repro.units import is_rate, is_time, quantity, significant, split

if TYPE_CHECKING:
    from repro.judge.claims.points import Point

LAUNCHES = 15e-6  # seconds: a kernel that takes no longer is mostly launched, and what binds it is not its work
BUSY = 0.5  # of the bound: what reaches more is not mostly launched
CACHED = 1.25  # times slower with the cache evicted: from here on it was the cache that served the data
MOVED = 1.25  # by this factor a ratio of bandwidths has moved
SHOWN = 3  # points that are named
UNLIKE = "does not"  # what a stand-in's recipe says of one that does not resemble its original


def unmeasured(claim: Claim, predicate: Predicate, selectors: Mapping[str, str], stored: Stored) -> str:
    """Return why a predicate cannot be judged by a machine's results."""
    for text in selectors.values():
        selector = Selector.parse(text.format(**{name: values[0] for name, values in claim.each.items()}))
        artefact = f"{claim.paper}-{selector.stem}"
        rows = stored.rows(artefact)
        if not rows and selector.stem == CEILINGS:
            return "no ceilings are stored"
        if not rows:
            return f"{artefact} has no stored result"
        rows = [row for row in rows if row["scale"] in predicate.scales]
        if not rows:
            return f"{artefact} is stored at scale {', '.join(stored.scales(artefact))} only"
        wanted = [row for row in rows if selector.takes(row["method"])]
        done = [row for row in wanted if row["status"] == DONE and fnmatchcase(row["metric"], selector.metric)]
        if not [row for row in done if in_place(row, selector.place)]:
            what = f"{'|'.join(selector.methods)} of {artefact}"
            if done and selector.place:
                place = f"a {selector.place.upper()}" if selector.place in ("gpu", "cpu") else selector.place
                return f"{what} was not measured on {place}"
            why = next((row["reason"] for row in wanted if row["status"] != DONE and row["reason"]), "")
            return f"{what} was skipped: {why}" if why else f"{what} was not measured"
    return "no case has every value that it takes"


def undefined(predicate: Predicate, points: Sequence[Point], error: Undefined) -> str:
    """Return why a predicate's formula has no value, with the rows that may be why: of zero, or infinite."""
    rows = [row for point in points for row in point.rows.values() if row["value"] == 0 or math.isinf(row["value"])]
    names = [f"{row['method']} {row['metric']} of {row['case']} is {row['value']:g}" for row in rows]
    return f"{predicate.formula} has no value: {'; '.join(filter(None, [str(error), _first(names)]))}"


def reason(
    claim: Claim, judgement: Judgement, predicate: Predicate, points: Sequence[Point], stored: Stored, root: Path
) -> str:
    """Return one line on why a judgement is what it is."""
    rows = [row for point in points for row in point.rows.values()]
    mixed = any(len({row["gpu"] for row in point.rows.values()}) > 1 for point in points)
    facts = Facts(claim, predicate, rows, mixed, stored, root)
    why = next((line for rule in RULES if (line := rule(facts))), "")
    known = [_in_doubt(claim, judgement, predicate, points, root), _stand_ins(facts, points)]
    why = why if facts.timed or not any(known) else ""
    return "; ".join(filter(None, [_where_not(judgement), *known, why, _without_interval(facts), _shared(facts)]))


def timed_on_processors(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return a row of each cell that was timed on a processor."""
    found = {tuple(row[name] for name in ("artefact", "case", "method", "backend")): row
             for row in rows if on_processor(row) and is_timed(row)}  # fmt: skip
    return list(found.values())


def beside_others(rows: Iterable[Mapping[str, Any]], folder: Path) -> int:
    """Return how many of the cells timed on a processor had others computed beside them there."""
    return sum(shared(folder, row) for row in timed_on_processors(rows))


def _shared(facts: Facts) -> str:
    """What was measured on a processor that was busy otherwise, or had too few cores, is slower than alone."""
    cells, folder = timed_on_processors(facts.rows), facts.stored.folder
    many, lost = beside_others(cells, folder), sum(preempted(folder, row) for row in cells)
    told = [f"{many} beside other cells"] * bool(many) + [f"{lost} by threads that lost their cores often"] * bool(lost)
    return f"of {len(cells)} on the processor {' and '.join(told)}, which may slow them" if told else ""


def _without_interval(facts: Facts) -> str:
    """What was timed so few times, being long, or not sampled at all, that the claim's interval has nothing of it."""
    lacking = [row for row in facts.rows if lacks_interval(row)]
    few = {row["method"]: f"{row['method']} ({int(row['n'])})" for row in lacking if not is_missing(row["n"])}
    none = {(row["method"], row["metric"]): f"{row['method']} {row['metric']}" for row in lacking
            if is_missing(row["n"])}  # fmt: skip
    told = [f"too few runs for an interval: {_first(list(few.values()))}"] * bool(few)
    told += [f"not sampled, so without an interval: {_first(list(none.values()))}"] * bool(none)
    return "; ".join(told)


def _first(names: Sequence[str]) -> str:
    """The names that are shown, and how many more there are."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _stand_ins(facts: Facts, points: Sequence[Point]) -> str:
    """The data that only stand in for the paper's own."""
    rows = [row for point in points for row in point.rows.values()]
    names = {name for row in rows for name in facts.stored.data(row)}
    found = sorted(name.partition("/")[2] for name in names & stand_ins()) if names else []
    return f"on stand-ins: {', '.join(found[:SHOWN])}{' and more' if len(found) > SHOWN else ''}" if found else ""


@cache
def stand_ins() -> frozenset[str]:
    """Return the datasets that stand in for data that are not public."""
    return frozenset(entry.name for entry in environment.catalogue() if entry.stand_in_for)


@cache
def unlike() -> frozenset[str]:
    """Return the stand-ins that do not resemble what they stand in for: what is measured on them tests no claim."""
    return frozenset(entry.name for entry in environment.catalogue() if getattr(entry, "fidelity", "") == UNLIKE)


def left_out(points: Sequence[Point]) -> str:
    """Name the points that are not testable, for want of data that a stand-in resembles; empty without any."""
    return f"not testable without the data themselves: {_first([point.name for point in points])}" if points else ""


def _in_doubt(claim: Claim, judgement: Judgement, predicate: Predicate, points: Sequence[Point], root: Path) -> str:
    """A published number that does not follow from the paper's others is no surprise when we miss it."""
    if judgement.state == HOLDS:
        return ""
    wrong = doubtful(claim.paper, root)
    numbers = {
        (number.artefact, number.case, number.method, number.metric)
        for reference in predicate.published
        for point in points
        if (number := number_of(claim.paper, reference.format(**point.words, case=point.case), point.case, root))
    }
    if not numbers & wrong:
        return ""
    many = len(numbers & wrong)
    which = f"{many} of the published numbers" if len(numbers) > 1 else "the published number"
    return f"{which} {'does' if many == 1 else 'do'} not follow from the paper's others"


@cache
def doubtful(paper: str, root: Path) -> frozenset[tuple[str, str, str, str]]:
    """Return the published numbers that do not agree with the numbers that they come from."""
    found = (verdict.number for verdict in consistency.check(paper, root))
    return frozenset((number.artefact, number.case, number.method, number.metric) for number in found)


def number_of(paper: str, reference: str, case: str, root: Path) -> published.Number | None:
    """Return the published number that a reference names, of `case` where it names none; None when there is none."""
    words = reference.split()
    if words[0] == "text":
        return next((each for each in loaded(f"{paper}-text", root) if each.case == words[1]), None)
    metric, own = asked(words[2])
    return loaded(f"{paper}-{words[0]}", root).get(words[3] if len(words) == 4 else case, words[1], metric, **own)


@cache
def loaded(artefact: str, root: Path) -> published.Published:
    """Return the published numbers of an artefact, read once."""
    return published.load(artefact, root)


def _where_not(judgement: Judgement) -> str:
    """How many points hold, and the names of those that do not or were not measured, where only some do.

    Of points of which none does and some are undecided only how many they are: a reader can count the others.
    """
    parts = []
    if judgement.missing:
        parts.append(f"not measured: {_first(judgement.missing)}")
    if judgement.failing and judgement.met:
        parts.append(f"{judgement.met} of {judgement.asked}, not {_first(judgement.failing)}")
    elif judgement.undecided and judgement.points > 1:
        parts.append(f"0 of {judgement.asked}")
    if judgement.undecided:
        where = f"of {judgement.undecided} " if judgement.points > 1 else ""
        parts.append(f"the interval {where}reaches over the bound")
    return ", ".join(parts)


@dataclass(frozen=True)
class Facts:
    """What the rules look at: the rows that a predicate is about, and the machines, ours and the paper's."""

    claim: Claim
    predicate: Predicate
    rows: Sequence[Mapping[str, Any]]
    mixed: bool  # whether a point compares a GPU with a processor
    stored: Stored
    root: Path

    @property
    def timed(self) -> list[Mapping[str, Any]]:
        """The rows that are times or rates."""
        return [row for row in self.rows if is_timed(row)]

    def side(self, gpu: bool) -> list[Mapping[str, Any]]:
        """The timed rows of one kind of processor."""
        return [row for row in self.timed if row["gpu"] == gpu]

    def peak(self, rows: Iterable[Mapping[str, Any]]) -> Peak | None:
        """The measured ceilings of the device of the first row that has any."""
        found = (peaks.of_roof(self.stored.roofs.of(r["device"], r.get("cores"))) for r in rows)
        return next(filter(None, found), None)

    def then(self, gpu: bool) -> Peak | None:
        """The paper's GPU or CPU, that of the first table where there are several."""
        return peaks.of_table(self.timed[0]["artefact"], gpu, self.root)

    def fractions(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
        """The median fraction of the bound by method, of what has one; a rate has that of the time behind it."""
        found: dict[str, list[float]] = {}
        for row in rows:
            value = self.stored.bound(row)
            if value is not None:
                found.setdefault(row["method"], []).append(value)
        return {method: median(values) for method, values in found.items()}


def _against_processor(facts: Facts) -> str:
    """A GPU beside a processor: by how much its memory is faster, here and in the paper."""
    gpu, cpu = facts.side(True), facts.side(False)
    if not facts.mixed or not gpu or not cpu:
        return ""
    ours, theirs = [facts.peak(side) for side in (gpu, cpu)], [facts.then(True), facts.then(False)]
    lines = []
    if all(ours) and all(theirs):
        now, then = (pair[0].bandwidth / pair[1].bandwidth for pair in (ours, theirs))
        moved = "has moved" if max(now / then, then / now) > MOVED else "is what it was"
        numbers = f"{_number(now)} here, {_number(then)} by the peaks of the paper's"
        lines.append(f"the GPU's bandwidth over the CPU's {moved}: {numbers}")
    return "; ".join([*lines, *_bounds(facts, [*gpu, *cpu])])


def _launches(facts: Facts) -> str:
    """Times so short that starting the kernel is most of them."""
    times = [row["value"] * split(row["unit"])[0] for row in facts.side(True) if is_time(row["unit"])]
    if not times or median(times) > LAUNCHES or max(facts.fractions(facts.timed).values(), default=0.0) > BUSY:
        return ""
    return f"launches dominate: a run takes {quantity(median(times), 's', 2)}"


def _cached(facts: Facts) -> str:
    """Data that the last cache keeps from one run to the next."""
    ratios = [cold / row["value"] for row in facts.timed
              if is_time(row["unit"]) and row["value"] and (cold := facts.stored.cold(row))]  # fmt: skip
    ratios += [row["value"] / cold for row in facts.timed if is_rate(row["unit"]) and (cold := facts.stored.cold(row))]
    if not ratios or median(ratios) < CACHED:
        return ""
    return f"the last cache holds the data: {significant(median(ratios), 2)} times slower when it is evicted"


def _near_the_bound(facts: Facts) -> str:
    """How much of what the device allows each method reaches."""
    return ", ".join(_bounds(facts, facts.timed))


def _absolute(facts: Facts) -> str:
    """A number of the paper's device beside one of ours: how much faster the memory has become."""
    if not facts.predicate.published or len({row["method"] for row in facts.timed}) != 1:
        return ""
    if not (is_time(facts.predicate.unit) or is_rate(facts.predicate.unit)):
        return ""
    ours, theirs = facts.peak(facts.timed), facts.then(facts.timed[0]["gpu"])
    if ours is None or theirs is None:
        return ""
    return (
        f"the memory is {_number(ours.bandwidth / theirs.bandwidth)} times as fast as that of the paper's {theirs.name}"
    )


def _one_device(facts: Facts) -> str:
    """Times without a bound: on what they were taken."""
    places = dict.fromkeys(f"{row['device'] or 'the host'} ({row['backend']})" for row in facts.timed)
    return f"measured on {', '.join(places)}" if places else ""


def _counts(facts: Facts) -> str:
    """Counts and sizes, which no hardware changes."""
    if facts.timed:
        return ""
    return "counts, which the method decides and not the hardware"


RULES: tuple[Callable[[Facts], str], ...] = (
    _against_processor, _absolute, _launches, _cached, _near_the_bound, _one_device, _counts,
)  # fmt: skip


def _bounds(facts: Facts, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    found = facts.fractions(rows)
    if found:
        each = [f"{method} {significant(100 * value, 2)} %" for method, value in found.items()]
        yield f"of what the hardware allows {_first(each)}"


def _number(ratio: float) -> str:
    return significant(ratio, 2) if ratio < 10 else f"{ratio:.0f}"
