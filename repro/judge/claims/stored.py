"""The stored results of one machine, and how a selector of a claim finds its rows in them.

A selector is ``<table> <method> <metric> [<case>] [@<where>]``, as in ``table2 patch assembly regular @gpu``. Methods
may be alternatives, ``a|b``, or patterns with ``*``, as the metric may. Where a cell has several rows of a metric,
their own parameters stand in brackets, as in ``spmv[repeats=50]``. `where` is a back end (``cuda``, ``opencl``,
``openmp``, ``host``), ``gpu`` or ``cpu`` for the kind of processor, ``kernels`` for anything but the host's baselines,
or several of these at once, ``opencl+gpu``; without it anything counts. Where several rows answer the best counts: the
least time, the highest rate, of other values the first back end's in the order of `results.PREFERENCE`.

``ceilings memory bandwidth`` and ``ceilings float64 rate`` (or ``float32``) are the measured ceilings of the devices.
``paper:table2 patch assembly`` is the number that the paper prints there, of no place, and exact at every scale.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from repro import published
from repro.cache.store import read_json
from repro.grouping import grouped
from repro.judge.roofs import Roofs, physical
from repro.model import BACKENDS, DONE, SCALES, ReproError, Row
from repro.rows import agree, asked, flat, has, place_of, read
from repro.run.busy import shared
from repro.show.results import PREFERENCE, interval_behind, is_missing, times_behind, was_disturbed
from repro.units import convert, is_rate, is_time, split

CEILINGS = "ceilings"
PRINTED = "paper:"  # begins the table of a selector of a printed number
PUBLIC = "public-"  # begins the key of data that were downloaded
PLACES = (*BACKENDS, "gpu", "cpu", "kernels")


@dataclass(frozen=True)
class Selector:
    """The parts of a selector; `case`, `place` and `parameters`, pairs of name and value, may be empty."""

    stem: str
    methods: tuple[str, ...]
    metric: str
    case: str = ""
    place: str = ""
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Return the selector that a text gives.

        Raises `ReproError` when it is none.
        """
        words = text.split()
        place = words.pop()[1:] if words and words[-1].startswith("@") else ""
        is_printed = bool(words) and words[0].startswith(PRINTED)
        if len(words) not in (3, 4) or not set(place.split("+")) <= {"", *PLACES} or (is_printed and place):
            raise ReproError(f"{text!r} is no selector: <table> <method> <metric> [<case>] [@{'|'.join(PLACES)}]")
        metric, own = asked(words[2])
        case = words[3] if len(words) == 4 else ""
        return cls(words[0], tuple(words[1].split("|")), metric, case, place, tuple(own.items()))

    @property
    def is_measured(self) -> bool:
        """Whether cells of an experiment answer, and neither the ceilings nor the paper."""
        return is_measured(self.stem)

    def takes(self, method: str) -> bool:
        """Return whether a method is among those asked for."""
        return any(fnmatchcase(method, each) for each in self.methods)


CACHED = 1.1  # times the memory's bandwidth, from which on bytes come from a cache


class Stored:
    """The results of one machine, and the papers' printed numbers beside them."""

    def __init__(self, results: Path, machine: str, root: Path = published.ROOT):
        self.folder, self.machine, self._root = Path(results) / machine, machine, root
        self._data: dict[tuple[str, ...], list[str]] = {}
        self._disturbed: set[tuple[str, ...]] = set()
        self.verdicts: dict[tuple, Any] = {}  #: on claims, by the papers' folder, paper and id, once they are judged
        for method in (self.rows, self.tried, self._fitting, self._cells, self._values):  # claims ask by the thousand
            setattr(self, method.__name__, cache(method))

    def rows(self, artefact: str) -> list[dict[str, Any]]:
        """Return every row of an artefact, of all scales, each marked as measured on a GPU or not under ``gpu``."""
        stem = _stem(artefact)
        read = self._read if is_measured(stem) else self._ceilings if stem == CEILINGS else self._printed
        return list(read(artefact))

    def device(self, row: Mapping[str, Any]) -> str:
        """Return where a row was measured; of one that was derived from others, where they were."""
        return row["device"] or next((each["device"] for each in self._of_cell(row) if each["device"]), "")

    def data(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the datasets of ours that the cell of a row read: none that were the user's own or downloaded."""
        return tuple(self._data.get(_place(row), ()))

    def disturbed(self, row: Mapping[str, Any]) -> bool:
        """Return whether something disturbed the samples of a row's cell, and was there for as long as they took."""
        noted = (*_place(row), row["scale"]) in self._disturbed
        return is_timed(row) and (noted or shared(self.folder, row))

    def _ceilings(self, artefact: str) -> Iterator[dict[str, Any]]:
        paper = read(self.folder.parent, self.machine, artefact.removesuffix(f"-{CEILINGS}"))
        here = {physical(device) for device in paper["device"].dropna()}
        used = [roof for roof in self.roofs.all if roof.gpu or roof.device in here]
        # Of several processors the ones that measured rows of the paper; none did where it is all of GPUs.
        for roof in used if any(not roof.gpu for roof in used) else self.roofs.all:
            backend, values = "cuda" if roof.gpu else "host", [("memory", "bandwidth", roof.bandwidth, "B/s")]
            values += [(precision, "rate", rate, "FLOP/s") for precision, rate in roof.rates.items()]
            for (method, metric, value, unit), scale in itertools.product(values, SCALES):
                row = Row(artefact, scale, "device", method, backend, roof.device, metric, value, unit)
                yield {**row.as_dict(), "gpu": roof.gpu}

    def _printed(self, artefact: str) -> Iterator[dict[str, Any]]:
        for number, scale in itertools.product(published.load(artefact.replace(PRINTED, ""), self._root), SCALES):
            where = number.case, number.method, "host", ""
            row = Row(artefact, scale, *where, number.metric, number.value, number.unit, parameters=number.parameters)
            yield {**flat(row.as_dict()), "gpu": False}

    def _read(self, artefact: str) -> list[dict[str, Any]]:
        rows = read(self.folder.parent, self.machine, artefact)
        for path in rows["file"].unique():
            manifest = read_json(Path(path).with_suffix(".json"))
            public = {name for name, key in manifest.get("recipes", {}).items() if key.startswith(PUBLIC)}
            for cell in manifest.get("cells", ()):
                key = _place({**cell, "artefact": artefact})
                self._data[key] = [name for name in cell["data"] if name not in public]
                if was_disturbed(cell.get("notes") or ()):
                    self._disturbed.add((*key, manifest["scale"]))
        return rows.to_dict("records")

    @cached_property
    def roofs(self) -> Roofs:
        """The roofs of the machine's devices."""
        return Roofs.read(self.folder)

    def beside(self, row: Mapping[str, Any], metric: str) -> dict[str, Any] | None:
        """Return another metric of the cell that a row belongs to, of the same parameters, or None."""
        return next((other for other in self._of_cell(row) if other["metric"] == metric and agree(row, other)), None)

    def cold(self, row: Mapping[str, Any]) -> float | None:
        """Return a row's value with the cache evicted before each sample, where the cell has one.

        A rate is scaled by how much longer the one time behind it takes cold.
        """
        warm = times_behind(row, self._of_cell(row)) if is_rate(row["unit"]) else [row]
        cold = self.beside(warm[0], f"{warm[0]['metric']}_cold") if len(warm) == 1 else None
        if cold is None or warm[0] is row:
            return cold and cold["value"]
        return row["value"] * warm[0]["value"] / cold["value"] if cold["value"] else None

    def bound(self, row: Mapping[str, Any], *, of_problem: bool = False, of_bytes: bool = False) -> float | None:
        """Return a row's fraction of the bound; of a rate, which has none, the fraction of its cell's one warm time.

        See `repro.judge.roofs.Roofs.fraction` for `of_problem`.

        `of_bytes`: of the bound that the memory alone sets, whatever computing takes. None where the cache holds the
        bytes.
        """

        def share(time: Mapping[str, Any]) -> float | None:
            if not of_bytes:
                return self.roofs.fraction(time, of_problem=of_problem)
            found = self.roofs.fraction({**time, "work_flops": 0.0})
            roof = self.roofs.of(self.device(time), time.get("cores"))
            if found is None or roof is None:
                return None
            whole = time["work_bytes"] / roof.bandwidth / (time["value"] * split(time["unit"])[0])
            return None if whole > CACHED * found else found

        if (own := share(row)) is not None:
            return own
        found = [each for each in map(share, times_behind(row, self._of_cell(row))) if each is not None]
        return found[0] if len(found) == 1 else None

    def scales(self, artefact: str) -> list[str]:
        """Return the scales at which an artefact has rows."""
        present = {row["scale"] for row in self.rows(artefact)}
        return [scale for scale in SCALES if scale in present]

    def find(self, artefact: str, selector: Selector, scale: str, case: str) -> dict[str, Any] | None:
        """Return the best row that a selector asks for in a case, or None; with the interval of the time behind it.

        Raises `ReproError` when several rows of a cell answer that differ in their own parameters alone.
        """
        rows = [row for row in self._fitting(artefact, selector, scale) if row["case"] == case]
        known = {tuple(row[name] for name in ("method", "backend", "device", "metric")) for row in rows}
        if len(known) < len(rows) and selector.stem != CEILINGS:  # of which a machine has several
            raise ReproError(f"{artefact} has several rows of {selector.metric} of a cell: say in brackets which")
        return _best([self.with_interval(row) for row in rows]) if rows else None

    def with_interval(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row with the interval of the time behind it, where it has none of its own and there is one."""
        return {**row, **interval_behind(row, self._of_cell(row))} if is_missing(row["ci_low"]) else row

    def _of_cell(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows of the cell that a row belongs to."""
        return self._cells(row["artefact"]).get(_cell(row), [])

    def _cells(self, artefact: str) -> dict[tuple, list[dict[str, Any]]]:
        return grouped((_cell(row), row) for row in self.rows(artefact) if row["status"] == DONE)

    def lacking(self, artefact: str, selector: Selector, scale: str, case: str) -> list[str]:
        """Return what competes elsewhere and a case has not run: the best of fewer is not what is asked for.

        It might have been the better one. A cell that ran and was skipped, as of a matrix that a format cannot hold, is
        an answer.
        """
        competing = {row["method"] for row in self._fitting(artefact, selector, scale)}
        tried = self.tried(artefact, scale, selector.place)
        return sorted(method for method in competing if case not in tried[method])

    def tried(self, artefact: str, scale: str, place: str = "") -> dict[str, dict[str, None]]:
        """Return the cases of each method that a run had cells of there, whatever became of them, in their order.

        A cell that opened no device may have been meant for any.
        """
        found = grouped(
            (row["method"], row["case"]) for row in self.rows(artefact)
            if row["scale"] == scale and (in_place(row, place) or (not row["device"] and row["status"] != DONE))
        )  # fmt: skip
        return {method: dict.fromkeys(cases) for method, cases in found.items()}

    def cases(self, artefact: str, selector: Selector, scale: str) -> list[str]:
        """Return the cases in which a selector finds a value, in their order."""
        return list(dict.fromkeys(row["case"] for row in self._fitting(artefact, selector, scale)))

    def _fitting(self, artefact: str, selector: Selector, scale: str) -> list[dict[str, Any]]:
        """The rows with a value that a selector asks for, in any case or in its own."""
        own, taken = dict(selector.parameters), cache(selector.takes)
        return [
            row for (of, metric), rows in self._values(artefact).items()
            if of == scale and fnmatchcase(metric, selector.metric) for row in rows
            if taken(row["method"]) and in_place(row, selector.place) and has(row, own)
        ]  # fmt: skip

    def _values(self, artefact: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
        """The rows with a value by scale and metric."""
        rows = (row for row in self.rows(artefact) if row["status"] == DONE and not is_missing(row["value"]))
        return grouped(((row["scale"], row["metric"]), row) for row in rows)


def _place(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["artefact"], *place_of(row)


def _cell(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["scale"], *place_of(row)


def is_timed(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a time or a rate."""
    return is_time(row["unit"]) or is_rate(row["unit"])


def lacks_interval(row: Mapping[str, Any]) -> bool:
    """Return whether a row is of too few samples for an interval, or of none; what was given counts as exact."""
    return is_timed(row) and is_missing(row["ci_low"]) and is_measured(_stem(row["artefact"]))


def is_measured(stem: str) -> bool:
    """Return whether the table of a selector is an experiment's, and neither the ceilings nor the paper's."""
    return stem != CEILINGS and not stem.startswith(PRINTED)


def _stem(artefact: str) -> str:
    return artefact.partition("-")[2]


def in_place(row: Mapping[str, Any], place: str) -> bool:
    """Return whether a row was measured where a selector wants it."""
    return all(_in_one(row, each) for each in place.split("+"))


def _in_one(row: Mapping[str, Any], place: str) -> bool:
    if place in ("", *BACKENDS):
        return place in ("", row["backend"])
    return row["backend"] != "host" if place == "kernels" else row["gpu"] == (place == "gpu")


def _best(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    rows = sorted(rows, key=lambda row: PREFERENCE.index(row["backend"]))
    if not is_timed(rows[0]):
        return rows[0]
    unit, pick = rows[0]["unit"], min if is_time(rows[0]["unit"]) else max
    best = pick(rows, key=lambda row: convert(row["value"], row["unit"], unit))
    known = [row for row in rows if not is_missing(row["ci_low"])]
    if is_missing(best["ci_low"]) or len(known) < 2:
        return best
    # On another day another one may be the best.
    ends = {end: pick(convert(row[end], row["unit"], best["unit"]) for row in known) for end in ("ci_low", "ci_high")}
    return {**best, **ends}
