"""Baselines that shared their processor with other cells, and that another machine's processor ran faster."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from repro import published
from repro.cache.store import read_json
from repro.judge.claims import UNMEASURED, Judgement, Verdict
from repro.judge.claims.judging import evaluated
from repro.judge.claims.model import Predicate
from repro.judge.claims.points import bound, find
from repro.judge.claims.stored import Stored, is_timed
from repro.judge.claims.table import measured
from repro.model import DONE
from repro.rows import agree
from repro.run.busy import on_processor, shared
from repro.run.statistics import median
from repro.units import is_time, significant, split

Row = Mapping[str, Any]
HEAD = (
    "Where baselines shared their processor, and another machine's ran all of them faster, the same by the times there:"
)


@dataclass(frozen=True)
class Elsewhere:
    """What a claim would say with the baselines of another machine.

    Attributes
    ----------
    verdict : Verdict
    machine : str
        The other one.
    methods : tuple of str
        The baselines that it ran, too.
    longer : (float, float)
        How many times as long they take on the claim's machine, the least and the most.
    judgement : Judgement
        The claim's value by the times of the other machine: the median of the points, and how far they lie apart.
    """

    verdict: Verdict
    machine: str
    methods: tuple[str, ...]
    longer: tuple[float, float]
    judgement: Judgement


def elsewhere(
    results: Path, verdicts: Iterable[Verdict], machines: Sequence[str], root: Path = published.ROOT
) -> list[Elsewhere]:
    """Return the claims with shared baselines each of which another machine ran faster at every point.

    Parameters
    ----------
    results : Path
        The results folder.
    verdicts : iterable of Verdict
    machines : sequence of str
    root : Path, optional
        Folder of the papers' folders.
    """
    stores = {name: _Cells(results, name) for name in machines}
    made = []
    for verdict in verdicts:
        readings = [(verdict.claim.stated, verdict.stated), (verdict.claim.effect, verdict.effect)]
        known = [pair for pair in readings if pair[1] and pair[1].state != UNMEASURED and pair[1].shared]
        for name in (name for name in machines if known and name != verdict.machine):
            found = _found(verdict, *known[0], stores[verdict.machine], stores[name], root)
            made += [found] if found else []
    return made


def told(found: Sequence[Elsewhere]) -> str:
    """Return a line a claim as Markdown, under what they are; empty where there is none."""
    lines = []
    for each in found:
        names = ", ".join(f"`{name}`" for name in each.methods)
        low, high = (significant(end, 2) for end in each.longer)
        times = low if low == high else f"{low} to {high}"
        lines.append(
            f"- `{each.verdict.paper}`: {each.verdict.statement} On {each.verdict.machine} its baselines ({names}) "
            f"took {times} times as long as on {each.machine}; by the times there it is {measured(each.judgement)}."
        )
    return "\n".join([HEAD, "", *lines]) if lines else ""


def _found(
    verdict: Verdict, predicate: Predicate, judgement: Judgement, here: _Cells, there: _Cells, root: Path
) -> Elsewhere | None:
    """Return what is known of one reading on another machine, or None where that lacks a cell or is no faster."""
    selectors = bound(verdict.claim, predicate)
    points = find(verdict.claim, predicate, selectors, here.stored, root).points
    longer, methods, moved = [], {}, []
    for point in points:
        rows = dict(point.rows)
        for name, row in point.rows.items():
            if not (on_processor(row) and is_timed(row) and shared(here.stored.folder, row)):
                continue
            other = there.row(here.identity(row), row)
            factor = _longer(row, other)
            if factor is None or factor <= 1:
                return None
            longer.append(factor)
            methods[row["method"]] = None
            rows[name] = other
        moved.append(replace(point, rows=rows))
    if not longer:
        return None
    found = evaluated(predicate, moved, selectors, exact=True)
    values = [each.low for each in (found if isinstance(found, list) else [found])]
    value = replace(judgement, value=median(values), low=min(values), high=max(values))
    return Elsewhere(verdict, there.stored.machine, tuple(methods), (min(longer), max(longer)), value)


def _longer(row: Row, other: Row | None) -> float | None:
    """Return how many times as long a row took as another; a rate is one over a time."""
    if other is None or not row["value"] or not other["value"]:
        return None
    factor = row["value"] * split(row["unit"])[0] / (other["value"] * split(other["unit"])[0])
    return factor if is_time(row["unit"]) else 1 / factor


class _Cells:
    """The cells of one machine by what they measure, whichever artefact has them.

    Parameters
    ----------
    results : Path
    machine : str
    """

    def __init__(self, results: Path, machine: str):
        self.stored = Stored(results, machine)
        self._places: dict[tuple, str] = {}  # the artefact that has a cell, by what it measures
        self._identities: dict[tuple, tuple] = {}
        for path in sorted(self.stored.folder.glob("*/*.json")):
            manifest = read_json(path)
            artefact, scale = manifest.get("artefact", ""), manifest.get("scale", "")
            for cell in manifest.get("cells") or []:
                if cell.get("status") != DONE or manifest.get("overrides"):
                    continue
                place = scale, cell["case"], cell["method"], cell["backend"]
                what = json.dumps([cell.get("parameters"), cell.get("data")], sort_keys=True)
                identity = (artefact.partition("-")[0], *place, what)
                self._places.setdefault(identity, artefact)
                self._identities[artefact, *place] = identity

    def identity(self, row: Row) -> tuple:
        """Return what the cell of a row measures."""
        return self._identities.get(tuple(row[name] for name in ("artefact", "scale", "case", "method", "backend")), ())

    def row(self, identity: tuple, like: Row) -> Row | None:
        """Return the row of a cell that measures the same as another, or None."""
        if identity not in self._places:
            return None
        _, *place, _ = identity
        wanted = (*place, like["metric"], DONE)
        names = ("scale", "case", "method", "backend", "metric", "status")
        rows = self.stored.rows(self._places[identity])
        return next((row for row in rows if tuple(row[name] for name in names) == wanted and agree(row, like)), None)
