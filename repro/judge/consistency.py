"""Derived numbers of a paper, worked out again from the numbers they come from, to the precision of the printed digits.

``published/<paper>/relations.toml`` says what follows from what; there a reference is ``<table> <method> <metric>``,
with a case behind it where it is not the derived number's, or ``text <id>``; a method with a ``*`` is a list.
Where a table has several numbers of a metric, it is ``metric[repeats=50]``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro import published
from repro.cache.store import read_toml
from repro.judge.intervals import Interval, Value, evaluate
from repro.model import ReproError
from repro.published import ROOT, Number
from repro.units import split


@dataclass(frozen=True)
class Verdict:
    """A derived number beside what it should be."""

    #: `paper`, `relation`: whose number, and what it should follow from.
    paper: str
    relation: str
    number: Number  #: as printed, with its place
    expected: dict[str, Interval]  #: in the number's unit, by reading; a single reading has the name ``''``
    sources: tuple[Number, ...]  #: what it was worked out from
    is_bound: bool = False  #: whether the sources tell no more than how large it may be, as ``between(0, most)`` does

    @property
    def agrees(self) -> bool:
        """Whether some number that would be printed so follows from the sources, in any of the readings."""
        printed = Interval(*self.number.interval())
        return any(printed.meets(each) for each in self.expected.values())

    def __str__(self):
        slower = self.number.printed.startswith("(")  # a slow-down, whose reciprocal is the number
        readings = []
        for name, interval in self.expected.items():
            shown = f"({1 / interval})" if slower else str(interval)
            readings.append(f"{shown} ({name})" if name else shown)
        unit = f" {self.number.unit}" if self.number.unit not in ("", "x", "count") else ""
        return (
            f"{self.paper}, {self.number.place}: printed {self.number.printed}{unit}; "
            f"{self.relation}: {' or '.join(readings)}{unit}"
        )


def _named(paper: str, reference: str, case: str | None, root: Path) -> list[Number]:
    if not (found := published.named(paper, reference, case, root)):
        raise ReproError(f"{paper}: no number is named {reference!r}{f' for {case}' if case else ''}")
    return found


def _interval(number: Number) -> Interval:
    """Return the printed number's interval in the base unit: seconds for milliseconds, ones for millions."""
    factor = split(number.unit)[0]
    low, high = number.interval()
    return Interval(low * factor, high * factor)


def _verdicts(paper: str, relation: dict[str, Any], root: Path) -> Iterator[Verdict]:
    whole = len(relation["derived"].split()) == 4 or relation["derived"].startswith("text ")
    readings = relation.get("readings") or {"": relation["formula"]}
    for number in _named(paper, relation["derived"], None, root):
        if not whole and number.case not in relation.get("cases", [number.case]):
            continue
        names: dict[str, Value] = {}
        sources: list[Number] = []
        for name, reference in relation.get("where", {}).items():
            found = _named(paper, reference, None if whole else number.case, root)
            sources += found
            words = reference.split()
            single = "*" not in reference and (not whole or words[0] == "text" or len(words) == 4)
            names[name] = _interval(found[0]) if single else [_interval(each) for each in found]
        factor = split(number.unit)[0]
        expected = {reading: evaluate(formula, names) / factor for reading, formula in readings.items()}
        is_bound = all(formula.startswith("between(0,") for formula in readings.values())
        yield Verdict(paper, relation["name"], number, expected, tuple(sources), is_bound)


def _repeated(relation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a relation once for each line of the lists in ``each``, whose names stand in braces in its references."""
    each = relation.get("each")
    for values in zip(*each.values(), strict=True) if each else [()]:
        names = dict(zip(each or (), values, strict=True))
        where = {name: reference.format(**names) for name, reference in relation.get("where", {}).items()}
        yield relation | {"derived": relation["derived"].format(**names), "where": where}


def verdicts(paper: str, root: Path = ROOT) -> list[Verdict]:
    """Return every derived number of a paper beside what it should be, also where the two agree.

    Raises `ReproError` when a relation names a number that is not there, or its formula is none.
    """
    path = root / paper / "relations.toml"
    relations = read_toml(path).get("relation", [])
    found = []
    for relation in relations:
        if not {"name", "derived"} <= set(relation) or ("formula" in relation) == ("readings" in relation):
            raise ReproError(f"{path}: a relation needs name, derived and either formula or readings: {relation}")
        try:
            repeated = list(_repeated(relation))
        except (LookupError, ValueError) as error:
            raise ReproError(f"{path}: each of {relation['name']!r} does not fit its references: {error}") from None
        found += [verdict for single in repeated for verdict in _verdicts(paper, single, root)]
    return found


def check(paper: str, root: Path = ROOT) -> list[Verdict]:
    """Return the derived numbers of a paper that do not agree with the numbers they come from."""
    return [verdict for verdict in verdicts(paper, root) if not verdict.agrees]
