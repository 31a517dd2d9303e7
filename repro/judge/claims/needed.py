"""Cells of the papers' sizes that a machine with a GPU measures unless more is asked for, and why not the rest.

Kernels run on CUDA. Another back end, and the processor, measure what a claim reads there: `opencl`, `openmp`, `host`
or `cpu` in its selector, or a method that CUDA has not. Cells that take long and decide little are declared apart, in
``by_request.toml`` beside the paper's experiments.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from repro import discovery, published
from repro.cache.glance import once
from repro.cache.store import read_toml
from repro.discovery import Artefact
from repro.grouping import grouped
from repro.judge.claims import ledger
from repro.judge.claims.model import Claim, combinations
from repro.judge.claims.stored import Selector
from repro.judge.intervals import names_of
from repro.model import Cell, ReproError

if TYPE_CHECKING:
    from repro.judge.claims.points import Point

DECLARED = "by_request.toml"
SCALES = ("paper", "large")
FIRST = "cuda"  # its cells answer for the cells of the other back ends, unless a claim names another
ON_GPUS = (FIRST, "opencl")
UNREAD = "no claim reads it on this back end"


def left_out(artefact: Artefact, cells: Sequence[Cell], scale: str) -> dict[Cell, str]:
    """Return the cells of an artefact that a machine with a GPU measures by request alone, and why."""
    if scale not in SCALES:
        return {}
    declared = _declared(artefact)
    claims, needed = _claims(artefact.paper), claimed(artefact, scale)
    if not needed:  # a picture, or facts, which the host has
        needed = {cell for cell in cells if cell.backend == "host"}
    found = {}
    for cell in cells:
        why = next((each["why"] for each in declared if _is_of(cell, each)), "")
        if not why and claims and cell.backend != FIRST and cell not in needed:
            why = UNREAD
        if why:
            found[cell] = why
    return found


def claimed(artefact: Artefact, scale: str) -> frozenset[Cell]:
    """Return the cells of an artefact that the claims of its paper read."""
    return _needed(artefact.paper, scale).get(artefact.id, frozenset())


def by_request(claim: Claim, selectors: Iterable[str], scale: str = SCALES[0], point: Point | None = None) -> str:
    """Return why a run leaves out all that one of a reading's selectors may read; empty where it leaves out none.

    `point`: at which; else of the first of the words that the claim varies, in any case.
    """
    words = point.words if point else next(combinations(claim))
    parsed = (Selector.parse(text.format(**words)) for text in selectors)
    reasons = (_why(claim.paper, each, scale, each.case or (point.case if point else "")) for each in parsed)
    return next(filter(None, reasons), "")


def alone(paper: str, selector: Selector, scale: str, case: str, method: str) -> bool:
    """Return whether a run measures one of the methods that a selector reads in a case by request alone."""
    return bool(_why(paper, replace(selector, methods=(method,)), scale, case))


def _why(paper: str, selector: Selector, scale: str, case: str) -> str:
    artefact = next((each for each in once("artefacts", discovery.find) if each.id == f"{paper}-{selector.stem}"), None)
    cells = _cells(artefact, scale) if artefact else ()
    read = [cell for cell in cells if selector.takes(cell.method) and _may_be(cell.backend, selector)
            and cell.case == (case or cell.case)]  # fmt: skip
    out = left_out(artefact, read, scale) if read else {}
    return next(iter(out.values())) if read and len(out) == len(read) else ""


def _declared(artefact: Artefact) -> list[dict[str, Any]]:
    path = artefact.path.with_name(DECLARED)
    entries = once((DECLARED, path), lambda: read_toml(path).get("by_request", []))
    for entry in entries:
        if not {"artefacts", "why"} <= entry.keys() <= {"artefacts", "why", "methods", "cases", "backends"}:
            raise ReproError(f"{path}: an entry has artefacts, why, and methods, cases or backends")
    return [entry for entry in entries if artefact.stem in entry["artefacts"]]


def _is_of(cell: Cell, entry: Mapping[str, Any]) -> bool:
    return (
        any(fnmatchcase(cell.method, each) for each in entry.get("methods", ["*"]))
        and any(fnmatchcase(cell.case, each) for each in entry.get("cases", ["*"]))
        and cell.backend in entry.get("backends", [cell.backend])
    )


@functools.cache
def _claims(paper: str) -> tuple[Claim, ...]:
    return tuple(ledger.claims(paper)) if paper in published.papers() else ()


@functools.cache
def _needed(paper: str, scale: str) -> dict[str, frozenset[Cell]]:
    """Return, by artefact, the cells of a paper that its claims read."""
    cells = {artefact.id: _cells(artefact, scale) for artefact in discovery.find() if artefact.paper == paper}
    found: dict[str, set[Cell]] = {}
    for claim in _claims(paper):
        for selectors in _readings(claim):
            for name, read in _read(claim, selectors, cells):
                found.setdefault(name, set()).update(read)
    return {name: frozenset(each) for name, each in found.items()}


def _cells(artefact: Artefact, scale: str) -> Sequence[Cell]:
    from repro.cache.plan import cells_of

    try:
        return once(("cells", artefact.id, scale), lambda: cells_of(artefact, discovery.load(artefact), scale))
    except ReproError:  # whoever plans it is told
        return ()


def _readings(claim: Claim) -> Iterator[list[Selector]]:
    """Yield the selectors of each formula of a claim, for every combination of its words."""
    formulas = [each for each in (claim.stated, claim.effect, claim.today, *claim.causes) if each]
    for each in formulas:
        where = {**claim.where, **each.where}
        for words in combinations(claim):
            parsed = [Selector.parse(where[name].format(**words)) for name in names_of(each.formula) & where.keys()]
            yield [selector for selector in parsed if selector.is_measured]


def _read(
    claim: Claim, selectors: Iterable[Selector], cells: Mapping[str, Sequence[Cell]]
) -> Iterator[tuple[str, list[Cell]]]:
    """Yield an artefact and the cells of it that each selector of a formula reads, in the cases that all have."""
    answers = {}
    for selector in selectors:
        there = cells.get(name := f"{claim.paper}-{selector.stem}", ())
        fitting = [cell for cell in there if selector.takes(cell.method) and _may_be(cell.backend, selector)]
        answers[selector] = name, fitting
    free = [{cell.case for cell in found} for selector, (_, found) in answers.items() if not selector.case]
    shared = set.intersection(*free).difference(claim.users_cases) if free else set()
    shared &= set(claim.cases or shared)
    for selector, (name, found) in answers.items():
        read = [cell for cell in found if (cell.case == selector.case if selector.case else cell.case in shared)]
        yield name, list(_best(read, selector))


def _may_be(backend: str, selector: Selector) -> bool:
    """Return whether a selector may read cells of a back end, by where it wants them."""
    places = selector.place.split("+")
    is_gpu = backend in ON_GPUS
    kinds = {"gpu": is_gpu, "cpu": not is_gpu or backend in places, "kernels": backend != "host"}
    return all(kinds.get(each, each in ("", backend)) for each in places)


def _best(cells: Iterable[Cell], selector: Selector) -> Iterator[Cell]:
    """Yield the cells that are to answer: where the selector names no back end, CUDA's instead of the others."""
    named = {"opencl", "openmp", "host", "cpu"} & set(selector.place.split("+"))
    for each in grouped(((cell.case, cell.method), cell) for cell in cells).values():
        first = next((kind for kind in (FIRST, "host") if any(cell.backend == kind for cell in each)), "")
        yield from (cell for cell in each if named or not first or cell.backend == first)
