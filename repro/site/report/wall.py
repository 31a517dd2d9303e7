"""The wall: every table and figure that the papers ask for, with its state."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from repro import discovery, published
from repro.discovery import Artefact
from repro.grouping import grouped
from repro.model import FAILED, SKIPPED
from repro.show.measurements import Measurement
from repro.site.report.files import missing

MEASURED, CHOSEN, PARTLY, SMALLER = "measured", "chosen", "partly", "smaller"
UNMEASURED, UNWRITTEN = "unmeasured", "unwritten"
FULL = ("paper", "large")  # scales
ABSENT = re.compile(r"\d+ on (\w+)")  # in a line of what a result lacks
STATES = {
    MEASURED: "Measured at full size",
    CHOSEN: "At full size, on some back ends only",
    PARTLY: "At full size, some cells missing",
    SMALLER: "Measured at a smaller size",
    UNMEASURED: "Not measured",
    UNWRITTEN: "Not written",
}
"""State of an artefact, and what a reader is told."""


@dataclass(frozen=True)
class Tile:
    """A table or figure of a paper."""

    #: `id`, `paper`, `shows`: as in ``fu2014-table2``, ``fu2014``, and what the paper shows in it.
    id: str
    paper: str
    shows: str
    written: Artefact | None = None  #: the module that measures it
    measurements: list[Measurement] = field(default_factory=list)  #: best first

    @property
    def name(self) -> str:
        """As in ``Table 2``."""
        return published.name_of(self.id)

    @property
    def title(self) -> str:
        """Our module's words for what it measures; else the paper's for what it shows."""
        return self.written.title if self.written else self.shows

    @property
    def state(self) -> str:
        """One of `STATES`."""
        if self.best is not None:
            if self.best.reasons(FAILED):
                return PARTLY
            if not self.missing:
                return MEASURED
            absent = {backend for line in self.missing for backend in ABSENT.findall(line)}
            return PARTLY if absent & {"host", *self.best.backends} else CHOSEN
        if any(each.done for each in self.measurements):
            return SMALLER
        return UNMEASURED if self.written else UNWRITTEN

    @property
    def best(self) -> Measurement | None:
        """The best measurement at full size."""
        return next((each for each in self.measurements if each.done and each.scale in FULL), None)

    @cached_property
    def missing(self) -> list[str]:
        """Cells that the best measurement at full size lacks: a line a reason."""
        if self.best is None:
            return []
        markdown = self.best.beside(".md")
        failed = [f"{count} failed: {reason}" for reason, count in self.best.reasons(FAILED)]
        return failed + (missing(markdown.read_text(encoding="utf-8")) if markdown else [])

    @property
    def because(self) -> str:
        """Why it is not measured, or which of its cells are not; empty when it is."""
        if self.state in (CHOSEN, PARTLY):
            return f"on {self.best.machine} at scale {self.best.scale}, {'; '.join(self.missing)}"
        if self.state in (MEASURED, SMALLER):
            return ""
        if self.written is None:
            return "no module measures it yet"
        if self.written.error:
            return f"its module is broken: {self.written.error}"
        for status in (FAILED, SKIPPED):
            for each in self.measurements:
                if reasons := each.reasons(status):
                    return f"{status} on {each.machine}: {reasons[0][0]}"
        minutes = self.written.minutes.get("paper")
        return "never run" + (f"; it takes about {minutes:g} minutes at scale paper" if minutes else "")

    @property
    def machines(self) -> list[str]:
        """Where it is measured, best first."""
        return list(dict.fromkeys(each.machine for each in self.measurements if each.done))

    @property
    def places(self) -> list[str]:
        """Machine and back end of everything measured, as ``h200/cuda``."""
        pairs = [(each.machine, backend) for each in self.measurements for backend in each.backends]
        return [f"{machine}/{backend}" for machine, backend in dict.fromkeys(pairs)]


@dataclass(frozen=True)
class Paper:
    """A paper and its tiles, in its order."""

    key: str
    title: str
    authors: str
    year: int
    tiles: list[Tile]


def catalogue() -> dict[str, dict[str, Any]]:
    """Return what there is to reproduce, by artefact id: what is published, and what is written beyond that."""
    known = {each["id"]: each for key in published.papers() for each in published.artefacts(key)}
    for written in discovery.find():
        known.setdefault(written.id, {"id": written.id, "shows": written.title})
    return known


def wall(known: dict[str, dict[str, Any]], found: Sequence[Measurement]) -> list[Paper]:
    """Return the papers, oldest last, each with its tiles."""
    written = {each.id: each for each in discovery.find()}
    by_id = grouped((each.artefact, each) for each in found)
    tiles_of = grouped(
        (paper := name.partition("-")[0], Tile(name, paper, entry["shows"], written.get(name), by_id.get(name, [])))
        for name, entry in known.items()
    )
    made = []
    for key, tiles in tiles_of.items():
        facts = published.paper(key)
        made.append(Paper(key, facts.get("title", key), facts.get("authors", ""), facts.get("year", 0), tiles))
    return sorted(made, key=lambda paper: (-paper.year, paper.key))
