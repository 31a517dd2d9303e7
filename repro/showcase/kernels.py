"""Kernels as fractions of their bound and as ratios to the best rival of the same run: rules choose what is shown.

Of a family the first of its artefacts counts that a machine has, at the papers' sizes where they are stored, on its
best back end. The case is the one that takes the family's fastest kernel longest; beside it is the range over all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from repro import environment
from repro.claims.reasons import stand_ins
from repro.claims.stored import Stored
from repro.measurements import SCALE_ORDER
from repro.model import DONE
from repro.results import PREFERENCE, is_missing
from repro.showcase.ledger import Family
from repro.units import convert

ENOUGH = 0.85  # of the bound: a kernel below it says what binds it


@dataclass(frozen=True)
class Span:
    """A number of the case that is shown, and the range over all cases that have it."""

    value: float
    low: float
    high: float
    cases: int


@dataclass(frozen=True)
class Entry:
    """A kernel on a machine.

    Attributes
    ----------
    family : Family
    method : str
        The kernel, by the name of its method.
    modules : tuple of str
        Paths below ``kernels/``.
    artefact, scale, backend, device, case : str
        Where it was timed.
    on_gpu : bool
    stands_in : bool
        Whether the case's data stand in for the paper's own.
    seconds : float
    warm, cold : Span or None
        Fractions of the bound.
    rival : str
        The fastest on this case, with its back end; empty where there is none.
    faster : Span or None
        The best rival's time over ours.
    explained : str
        Of a kernel on a GPU that is not near its bound, the module whose docstring speaks of that GPU; else empty.
    """

    family: Family
    method: str
    modules: tuple[str, ...]
    artefact: str
    scale: str
    backend: str
    device: str
    on_gpu: bool
    case: str
    stands_in: bool
    seconds: float
    warm: Span | None = None
    cold: Span | None = None
    rival: str = ""
    faster: Span | None = None
    explained: str = ""

    @property
    def wants_explanation(self) -> bool:
        """Whether it runs on a GPU and is not near its bound, warm or cold."""
        known = [span.value for span in (self.warm, self.cold) if span]
        return self.on_gpu and bool(known) and min(known) < ENOUGH


Place = tuple[str, ...]  # a case, and the words that stand in braces
Row = Mapping[str, Any]


def measured(family: Family, stored: Stored) -> list[Entry]:
    """Return the kernels of a family that a machine has timed, the fastest on the case that is shown first."""
    run = _Run.of(family, stored)
    if run is None:
        return []
    shown = max(run.places(), key=lambda place: min(row["value"] for row in run.ours(place).values()))
    made = {}
    for method in family.kernels:
        own = {place: row for place in run.places() if (row := run.ours(place).get(method))}
        if own:
            place = shown if shown in own else max(own, key=lambda at: own[at]["value"])
            made[place != shown, own[place]["value"], method] = _entry(run, method, place, own)
    return [made[key] for key in sorted(made)]


def _entry(run: _Run, method: str, shown: Place, own: Mapping[Place, Row]) -> Entry:
    family, row = run.family, own[shown]
    cold = {place: found for place in own if (found := run.cold(place, method))}
    best = {place: min(found, key=lambda rival: rival["value"]) for place in own if (found := run.rivals(place))}
    warm, cold_share = (_span({p: r["bound_fraction"] for p, r in rows.items()}, shown) for rows in (own, cold))
    entry = Entry(
        family, row["method"], family.kernels[method], run.artefact, run.scale, row["backend"], row["device"],
        row["gpu"], row["case"], bool(stand_ins() & set(run.stored.data(row))), convert(row["value"], row["unit"], "s"),
        warm, cold_share, f"{best[shown]['method']} ({best[shown]['backend']})" if shown in best else "",
        _span({place: rival["value"] / own[place]["value"] for place, rival in best.items()}, shown),
    )  # fmt: skip
    if not entry.wants_explanation:
        return entry
    return replace(entry, explained=next((m for m in entry.modules if _speaks_of(m, row["device"])), ""))


def _span(values: Mapping[Place, float], shown: Place) -> Span | None:
    known = {place: float(value) for place, value in values.items() if not is_missing(value)}
    return Span(known[shown], min(known.values()), max(known.values()), len(known)) if shown in known else None


@dataclass(frozen=True)
class _Run:
    """The rows of a family in the artefact, at the scale and on the back end that count."""

    family: Family
    stored: Stored
    artefact: str
    scale: str
    backend: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, family: Family, stored: Stored) -> _Run | None:
        methods = {name.format(**words) for name in family.kernels for words in family.words()}
        for artefact in family.artefacts:
            done = [row for row in stored.rows(artefact) if row["status"] == DONE and not is_missing(row["value"])]
            timed = [row for row in done if row["metric"] == family.metric]
            ours = [row for row in timed if row["method"] in methods and row["backend"] != "host"]
            for scale in SCALE_ORDER:
                there = {row["backend"] for row in ours if row["scale"] == scale}
                if there:
                    rows = tuple(row for row in done if row["scale"] == scale)
                    return cls(family, stored, artefact, scale, min(there, key=PREFERENCE.index), rows)
        return None

    def places(self) -> list[Place]:
        """Every case, with every combination of words, in which one of the kernels was timed."""
        cases = dict.fromkeys(row["case"] for row in self.rows)
        found = [(case, *words.values()) for case in cases for words in self.family.words()]
        return [place for place in found if self.ours(place)]

    def ours(self, place: Place) -> dict[str, Row]:
        return self._of(place, self.family.metric)

    def cold(self, place: Place, method: str) -> Row | None:
        return self._of(place, self.family.cold).get(method)

    def _of(self, place: Place, metric: str) -> dict[str, Row]:
        names = {name.format(**self._words(place)): name for name in self.family.kernels}
        return {
            names[row["method"]]: row for row in self._at(place, metric)
            if row["method"] in names and row["backend"] == self.backend
        }  # fmt: skip

    def rivals(self, place: Place) -> list[Row]:
        """What competes in a case, on whatever it ran."""
        patterns = [each.format(**self._words(place)) for each in self.family.rivals]
        return [row for row in self._at(place, self.family.metric)
                if any(fnmatchcase(row["method"], each) for each in patterns)]  # fmt: skip

    def _at(self, place: Place, metric: str) -> Iterable[Row]:
        return (row for row in self.rows if row["case"] == place[0] and row["metric"] == metric)

    def _words(self, place: Place) -> dict[str, str]:
        return dict(zip(self.family.each, place[1:], strict=True))


@cache
def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _speaks_of(module: str, device: str) -> bool:
    """Return whether a module's docstring names a device: by the last word of its name, as in NVIDIA H200."""
    return bool(device) and device.split()[-1] in _docstring(environment.root() / "kernels" / module)
