"""The points of a claim: the cases, and combinations of what varies, at which its predicates have a value.

A point that other data know of but these results have no value for is missing: what holds at some of a paper's meshes
has not been shown for all of them. So is one where a method that competes elsewhere has not run, unless a run leaves
that out but by request: of such it is said that they are never the best.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from repro import published
from repro.judge.claims import needed, notes
from repro.judge.claims.model import Claim, Predicate, combinations
from repro.judge.claims.stored import Selector, Stored
from repro.judge.intervals import names_of
from repro.model import ReproError

stand_ins = cache(published.stand_ins)


@dataclass(frozen=True)
class Point:
    """One combination of a case and of what varies, with the row that each name is bound to."""

    case: str
    words: Mapping[str, str]
    rows: Mapping[str, Mapping[str, Any]]
    lacking: tuple[str, ...] = ()  # methods that have not run here, but competed for the best elsewhere

    @property
    def name(self) -> str:
        """The words that tell it from the others, and the methods that it lacks."""
        named = " ".join(filter(None, [self.case, *(word.split()[0] for word in self.words.values())]))
        return f"{named} (no {', '.join(self.lacking)})" if self.lacking else named


@dataclass(frozen=True)
class Found:
    """The points at one scale: some have values, some should, and the data of some do not resemble the paper's."""

    scale: str = ""
    points: tuple[Point, ...] = ()
    missing: tuple[Point, ...] = ()
    untestable: tuple[Point, ...] = ()


def selectors_of(claim: Claim, predicate: Predicate) -> dict[str, str]:
    """Return the selectors of the names that a predicate uses.

    Raises `ReproError` when one of them is not bound.
    """
    selectors = {**claim.where, **predicate.where}
    names = names_of(predicate.formula)
    if missing := names - set(selectors):
        raise ReproError(f"{', '.join(sorted(missing))} in {predicate.formula!r} is bound to nothing")
    return {name: selector for name, selector in selectors.items() if name in names}


def find(
    claim: Claim, predicate: Predicate, selectors: Mapping[str, str], stored: Stored, root: Path = published.ROOT
) -> Found:
    """Return the points at the first of the predicate's scales that has any."""
    untestable: list[Point] = []
    tests_nothing = notes.stand_ins() if claim.fitted is True else notes.unlike().union(claim.fitted or ())
    for scale in predicate.scales:
        points: list[Point] = []
        missing: list[Point] = []
        for words in _combinations(claim, predicate, selectors.values()):
            parsed = {name: Selector.parse(text.format(**words)) for name, text in selectors.items()}
            cases = _cases(claim, parsed.values(), scale, stored)
            for case in cases:
                rows = {
                    name: stored.find(f"{claim.paper}-{each.stem}", each, scale, each.case or case)
                    for name, each in parsed.items()
                }
                lacking = dict.fromkeys(
                    method for each in parsed.values()
                    for method in stored.lacking(f"{claim.paper}-{each.stem}", each, scale, each.case or case)
                    if not needed.alone(claim.paper, each, scale, each.case or case, method)
                )  # fmt: skip
                alike = [rows[name] for name, each in parsed.items() if each.stem not in claim.of_size]
                if all(rows.values()) and any(tests_nothing.intersection(stored.data(row)) for row in alike):
                    untestable.append(Point(case, words, rows))
                elif all(rows.values()):
                    (missing if lacking else points).append(Point(case, words, rows, tuple(lacking)))
                elif all(each.case for each in parsed.values()):
                    missing.append(Point(case, words, {}))
            expected = _expected(claim, predicate, parsed.values(), set(words.values()), scale, stored, root)
            missing += [Point(case, words, {}) for case in expected if case not in cases]
        if points:
            return Found(scale, tuple(points), tuple(missing), tuple(untestable))
    # The same points may be there at every scale.
    return Found(untestable=tuple({(each.case, *each.words.items()): each for each in untestable}.values()))


def _combinations(claim: Claim, predicate: Predicate, selectors: Iterable[str]) -> list[dict[str, str]]:
    """Return the combinations of the words that a predicate has: others would only repeat its points."""
    texts = (*selectors, *predicate.published)
    every = list(combinations(claim))
    used = [word for word in every[0] if any(f"{{{word}}}" in text for text in texts)]
    found = (tuple(words[word] for word in used) for words in every)
    return [dict(zip(used, each, strict=True)) for each in dict.fromkeys(found)]


def _cases(claim: Claim, parsed: Iterable[Selector], scale: str, stored: Stored) -> list[str]:
    """The cases in which every selector without one of its own finds something; one nameless when all have one."""
    free = [each for each in parsed if not each.case]
    if not free:
        return [""]
    found = [stored.cases(f"{claim.paper}-{each.stem}", each, scale) for each in free]
    shared = [case for case in found[0] if all(case in other for other in found)]
    return [case for case in shared if case in (claim.cases or shared) and case not in claim.users_cases]


def _expected(
    claim: Claim, predicate: Predicate, parsed: Iterable[Selector], words: Set[str], scale: str, stored: Stored,
    root: Path,
) -> list[str]:  # fmt: skip
    """The cases that the paper prints of these methods, or that a run had cells of, whatever became of them.

    `words`: what the methods have in their names at this point, as an element; its table may not have all cases of it.
    """
    known = []
    for each in parsed:
        if each.case or not each.is_measured:
            continue
        artefact = f"{claim.paper}-{each.stem}"
        tried = stored.tried(artefact, scale)
        cases = {case for method, cases in tried.items() if each.takes(method) for case in cases}
        if scale == "paper" or predicate.published:  # an effect may show on fewer where the scale is smaller
            methods = {*each.methods, *stand_ins(claim.paper, each.methods, root).values()}
            numbers = list(published.load(artefact, root))
            printed = {number.case for number in numbers if number.method in methods}
            # Of a method that the paper has not, the cases are its table's; of a figure, all cases that anything ran.
            parts = [words.intersection(number.method.split("-")) for number in numbers]
            nearest = [number for number, part in zip(numbers, parts, strict=True) if part == set().union(*parts)]
            ran = {case for cases in tried.values() for case in cases}
            cases |= printed or {number.case for number in nearest or numbers} or ran
        known.append(cases)
    if not known:
        return []
    everywhere = set.intersection(*known)
    return [
        case
        for case in claim.cases or sorted(everywhere.difference(claim.users_cases, claim.added_cases))
        if case in everywhere
    ]
