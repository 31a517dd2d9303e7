"""The rows that say how fast a family of kernels is, on which back end, and the judgement on it beside a rival."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from math import inf
from typing import Any

from repro.grouping import grouped
from repro.judge.claims.stored import Stored
from repro.judge.difference import THRESHOLD, Difference, of_intervals
from repro.model import DONE
from repro.rows import answers
from repro.run.state import ON_CORES
from repro.show.measurements import SCALE_ORDER
from repro.show.results import PREFERENCE, is_missing
from repro.site.showcase.ledger import Family
from repro.units import convert, is_time

Place = tuple[str, ...]  # a case, and the words that stand in braces
Row = Mapping[str, Any]
EMBEDDED = "openmp"  # the back end that every processor has, and for which kernels have bodies of their own there
LARGE = "large"  # a scale that is shown beside the papers' own
ENDS = "ci_low", "ci_high"
SUM = " + "  # between metrics of a cell whose times are added
EITHER = "|"  # between metrics of a cell of which the shorter time counts


class OnCores(Stored):
    """The results of a machine's processor alone, where a GPU's kernels would answer for its own."""

    def rows(self, artefact: str) -> list[dict[str, Any]]:
        return [row for row in super().rows(artefact) if row["backend"] in ON_CORES and not row["gpu"]]


@dataclass(frozen=True)
class Run:
    """The times of a family, in seconds, in the artefact, at the scale and on the back end that count."""

    family: Family  #: with the metric that counts there
    stored: Stored
    artefact: str
    scale: str
    backend: str
    rows: tuple[Row, ...]

    def shown(self) -> Place:
        """Return the largest case that all kernels ran which ran any; a rival ran it, too, if one ran any of the cases.

        A kernel that is missing there may be the fastest: without it the others would be compared in vain.
        """
        places = self.places()
        places = [place for place in places if self.rivals(place)] or places
        most = max(len(self.ours(place)) for place in places)
        return max([place for place in places if len(self.ours(place)) == most], key=self.size)

    def size(self, place: Place) -> float:
        """Return the longest time that the bound asks of a kernel; without one, what a rival takes, or the fastest."""
        rows = self.ours(place).values()
        bounds = [row["value"] * fraction for row in rows if (fraction := self.stored.bound(row)) is not None]
        if bounds:
            return max(bounds)
        fastest = min(row["value"] for row in rows)
        return min((rival["value"] for rival in self.rivals(place)), default=fastest)

    def places(self) -> list[Place]:
        """Every case, with every combination of words, in which one of the kernels was timed."""
        cases = dict.fromkeys(row["case"] for row in self.rows)
        found = [(case, *words.values()) for case in cases for words in self.family.words()]
        return [place for place in found if self.ours(place)]

    def ours(self, place: Place) -> dict[str, Row]:
        """Return the rows of the kernels in a case, by their names in the family.

        Of the words of which the fastest counts those do that a rival ran on this back end, else all.
        """
        choices, words = self.family.choices(), self._words(place)
        both = [each for each in choices if any(row["backend"] == self.backend for row in self._rivals(place, [each]))]
        names = {name.format(**words, **each): name for each in both or choices for name in self.family.kernels}
        return self._fastest(place, self.family.metric, names)

    def cold(self, place: Place, method: str) -> Row | None:
        """Return the row, with the cache evicted before, of a kernel where it is fastest warm."""
        return self._fastest(place, self.family.cold, {self.ours(place)[method]["method"]: method}).get(method)

    def rivals(self, place: Place) -> list[Row]:
        """Return the rows of what competes in a case, on whatever it ran."""
        return self._rivals(place, self.family.choices())

    def competing(self, place: Place) -> list[str]:
        """Return the methods that compete in a case, with ``*`` for the words of which the fastest counts."""
        methods = sorted({row["method"] for row in self.rivals(place)})
        if not self.family.fastest:
            return methods
        patterns = self._patterns(place, [dict.fromkeys(self.family.fastest, "*")])
        return [each for each in patterns if any(fnmatchcase(method, each) for method in methods)]

    def _rivals(self, place: Place, choices: Sequence[Mapping[str, str]]) -> list[Row]:
        patterns = self._patterns(place, choices)
        return [row for row in self._at(place, self.family.metric)
                if any(fnmatchcase(row["method"], each) for each in patterns)]  # fmt: skip

    def _patterns(self, place: Place, choices: Sequence[Mapping[str, str]]) -> list[str]:
        words = self._words(place)
        return [each.format(**words, **choice) for choice in choices for each in self.family.rivals]

    def _fastest(self, place: Place, metric: str, names: Mapping[str, str]) -> dict[str, Row]:
        """Return by their names the fastest rows of some methods on the back end."""
        found = {}
        for row in self._at(place, metric):
            if (name := names.get(row["method"])) and row["backend"] == self.backend:
                found[name] = min(found.get(name, row), row, key=lambda each: each["value"])
        return found

    def _at(self, place: Place, metric: str) -> Iterable[Row]:
        return (row for row in self._of_cases.get(place[0], ()) if _answers(row, metric))

    @cached_property
    def _of_cases(self) -> dict[str, list[Row]]:
        return grouped((row["case"], row) for row in self.rows)

    def _words(self, place: Place) -> dict[str, str]:
        return dict(zip(self.family.each, place[1:], strict=True))


def runs(family: Family, stored: Stored) -> list[Run]:
    """Return what a machine has of a family: at the papers' sizes, else at the best scale there is, and at large ones.

    Of the family's artefacts the first that the machine has counts, on its best back end.
    """
    words = [each | choice for each in family.words() for choice in family.choices()]
    methods = {name.format(**each) for name in family.kernels for each in words}
    for artefact in family.artefacts:
        done = [_in_seconds(stored.with_interval(row)) for row in stored.rows(artefact)
                if row["status"] == DONE and _is_span(row)]  # fmt: skip
        done += [row for metric in {family.metric_of(True), family.metric_of(False)} for row in _sums(done, metric)]
        ours = [row for row in done if row["method"] in methods and row["backend"] != "host"
                and _answers(row, family.metric_of(row["gpu"]))]  # fmt: skip
        scales = [scale for scale in SCALE_ORDER if any(row["scale"] == scale for row in ours)]
        made = []
        for scale in scales:
            if scale in (scales[0], LARGE):
                there = [row for row in ours if row["scale"] == scale]
                backend = min({row["backend"] for row in there}, key=PREFERENCE.index)
                if not any(row["gpu"] for row in there) and any(row["backend"] == EMBEDDED for row in there):
                    backend = EMBEDDED
                rows = tuple(row for row in done if row["scale"] == scale)
                here = replace(family, metric=family.metric_of(any(row["gpu"] for row in there)))
                made.append(Run(here, stored, artefact, scale, backend, rows))
        if made:
            return made
    return []


def _is_span(row: Row) -> bool:
    """Return whether a row is a time that others can be compared with: no other unit, nor nothing or for ever."""
    return is_time(row["unit"] or "") and not is_missing(row["value"]) and 0 < row["value"] < inf


def _answers(row: Row, metrics: str) -> bool:
    return any(answers(row, metric) for metric in metrics.split(EITHER))


def _sums(rows: Iterable[Row], metric: str) -> list[Row]:
    """Return a row of each cell that has all parts of a metric like ``setup + solve``: their sum, without a bound.

    The interval of a sum is from the sum of the low ends to the sum of the high ends, if all parts have both.
    """
    parts = metric.split(SUM)
    if len(parts) == 1:
        return []
    cells: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        for part in parts:
            if answers(row, part):
                cells.setdefault((row["scale"], row["case"], row["method"], row["backend"]), {})[part] = row
    added = {"work_bytes": None, "work_flops": None, "problem_bytes": None}
    return [
        {**found[parts[0]], **added, "metric": metric,
         **{name: _sum([row[name] for row in found.values()]) for name in ("value", *ENDS)},
         "disturbed": max(row["disturbed"] or 0 for row in found.values())}
        for found in cells.values() if len(found) == len(parts)
    ]  # fmt: skip


def _sum(values: list[float | None]) -> float | None:
    return None if any(map(is_missing, values)) else sum(values)


def _in_seconds(row: Row) -> Row:
    ends = {end: convert(row[end], row["unit"], "s") for end in ("value", *ENDS) if not is_missing(row[end])}
    return {**row, **ends, "unit": "s"}


def against(rival: Row, ours: Row) -> Difference:
    """Judge a rival's time, in seconds, over ours: slower, faster or the same is the rival."""
    old, new = (
        (row["value"], *(None if is_missing(row[end]) else row[end] for end in ENDS)) for row in (ours, rival)
    )  # fmt: skip
    return of_intervals(old, new, THRESHOLD)
