"""Kernels as fractions of their bound and as ratios to the best rival of the same run: rules choose what is shown.

The case is the largest that all kernels and a rival ran; beside it is the range over all cases.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from repro import environment
from repro.judge.claims.notes import stand_ins
from repro.judge.claims.stored import Stored
from repro.judge.difference import UNDECIDED
from repro.show.results import is_missing
from repro.site.showcase.ledger import Family
from repro.site.showcase.runs import Place, Row, Run, against, runs

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
    """A kernel on a machine."""

    family: Family
    method: str  #: the kernel, by the name of its method
    modules: tuple[str, ...]  #: paths below ``kernels/``
    #: `artefact`, `scale`, `backend`, `device`, `case`: where it was timed.
    artefact: str
    scale: str
    backend: str
    device: str
    on_gpu: bool
    case: str
    stands_in: bool  #: whether the case's data stand in for the paper's own
    seconds: float
    #: `warm`, `cold`: fractions of the bound.
    warm: Span | None = None
    cold: Span | None = None
    problem: Span | None = None  #: warm, of the least bytes that any format needs
    rival: str = ""  #: the fastest on this case, with its back end; empty where there is none
    faster: Span | None = None  #: the best rival's time over ours
    #: `reach`, `undecided`: the interval of that on this case, and whether it leaves open which of the two is faster.
    reach: tuple[float, float] | None = None
    undecided: bool = False
    hampered: bool = False  #: whether something disturbed that rival's samples
    #: Of a kernel on a GPU that is not near its bound, the module whose docstring says what binds; else empty.
    explained: str = ""
    profiled: str = ""  #: the GPU of which that docstring speaks, as ``H200``

    @property
    def share(self) -> float:
        """The lower of its fractions of the bound, warm and cold; 0 where none is known."""
        return min((span.value for span in (self.warm, self.cold) if span), default=0.0)

    @property
    def wants_explanation(self) -> bool:
        """Whether it runs on a GPU and is not near its bound, warm or cold."""
        return self.on_gpu and 0 < self.share < ENOUGH


def measured(family: Family, stored: Stored) -> list[list[Entry]]:
    """Return the kernels of a family that a machine has timed, at one scale or two, the fastest of each first."""
    return [_measured(run) for run in runs(family, stored)]


def _measured(run: Run) -> list[Entry]:
    shown, made = run.shown(), {}
    for method in run.family.kernels:
        own = {place: row for place in run.places() if (row := run.ours(place).get(method))}
        if own:
            place = shown if shown in own else max(own, key=run.size)
            made[place != shown, own[place]["value"], method] = _entry(run, method, place, own)
    return [made[key] for key in sorted(made)]


def _entry(run: Run, method: str, shown: Place, own: Mapping[Place, Row]) -> Entry:
    family, row = run.family, own[shown]
    cold = {place: found for place in own if (found := run.cold(place, method))}
    best = {place: min(found, key=lambda rival: rival["value"]) for place in own if (found := run.rivals(place))}
    warm, cold_share = (_span({p: run.stored.bound(r) for p, r in rows.items()}, shown) for rows in (own, cold))
    beside = against(best[shown], row) if shown in best else None
    problem = _span({place: run.stored.bound(each, of_problem=True) for place, each in own.items()}, shown)
    entry = Entry(
        family, row["method"], family.kernels[method], run.artefact, run.scale, row["backend"], row["device"],
        row["gpu"], row["case"], bool(stand_ins() & set(run.stored.data(row))), row["value"],
        warm, cold_share, problem, f"{best[shown]['method']} ({best[shown]['backend']})" if shown in best else "",
        _span({place: rival["value"] / own[place]["value"] for place, rival in best.items()}, shown),
        (beside.low, beside.high) if beside else None, beside is not None and beside.verdict == UNDECIDED,
        shown in best and run.stored.disturbed(best[shown]),
    )  # fmt: skip
    if not entry.wants_explanation:
        return entry
    named = ((module, gpu) for module in entry.modules if (gpu := _profiled(module)))
    explained, profiled = next(named, ("", ""))
    return replace(entry, explained=explained, profiled=profiled)


def _span(values: Mapping[Place, float], shown: Place) -> Span | None:
    known = {place: float(value) for place, value in values.items() if not is_missing(value)}
    return Span(known[shown], min(known.values()), max(known.values()), len(known)) if shown in known else None


@cache
def docstring(path: Path) -> str:
    """Return what a module says of itself; nothing where there is none."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "" if path.is_file() else ""


def _profiled(module: str) -> str:
    """Return the GPU on which a module's docstring says what binds, as in "On an H200 shared memory binds"."""
    found = re.search(r"\bOn\s+an?\s+([A-Z]+\d+)\b", docstring(environment.root() / "kernels" / module))
    return found[1] if found else ""
