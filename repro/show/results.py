"""The rows of one artefact, and how a value is found in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.grouping import grouped
from repro.judge.derived import sources
from repro.judge.roofs import Roofs
from repro.model import DONE, ReproError
from repro.published import Published, load
from repro.rows import agree, has, place_of, read
from repro.run.state import LOST, ON_CORES
from repro.units import convert, is_missing, is_rate, is_time

if TYPE_CHECKING:
    import pandas

DISTURBED = ("was disturbed", LOST)  # in notes on a cell whose samples could not be had otherwise
PREFERENCE = ("cuda", "opencl", "openmp", "host")  # which back end stands for "ours" where several ran


def was_disturbed(notes: Iterable[str]) -> bool:
    """Return whether the notes on a cell say that other work disturbed its samples to the end."""
    return any(word in note for note in notes for word in DISTURBED)


def disturbed_cells(cells: Iterable[Mapping[str, Any]]) -> frozenset[tuple[str, str, str]]:
    """Return case, method and back end of those cells of a manifest that were disturbed, by their notes."""
    return frozenset(place_of(cell) for cell in cells if was_disturbed(cell.get("notes") or ()))


@dataclass(frozen=True)
class Results:
    """Measured values of one artefact."""

    frame: pandas.DataFrame  #: rows with the columns ``repro.model.COLUMNS``
    scale: str
    machine: str
    artefact: str
    #: The user's own files in place of datasets, by dataset name.
    overrides: Mapping[str, str] = field(default_factory=dict)
    cores: int | None = None  #: the processor's, for work on all threads; None where the number is not known
    roofs: Roofs = field(default_factory=Roofs)  #: what the machine's devices allow
    folder: Path | None = None  #: of all machines' results, where other scales' results may lie
    disturbed: frozenset[tuple[str, str, str]] = frozenset()  #: see `disturbed_cells`
    #: The rows that were asked for one by one, here or of a part of these results: a figure's caption tells of them, so
    #: that a figure has results of its own, apart from the tables'.
    asked: dict[tuple, dict[str, Any]] = field(default_factory=dict, compare=False, repr=False)

    def at(self, scale: str) -> Results | None:
        """Return the results of the artefact on the same machine at a scale; None where nothing of it is stored.

        Beside results of a user's own files there are none: at another scale they are of other data.
        """
        if scale == self.scale:
            return self
        if self.folder is None or self.overrides:
            return None
        rows = read(self.folder, self.machine, self.artefact, scale)
        return replace(self, frame=rows, scale=scale, asked={}) if len(rows) else None

    @cached_property
    def published(self) -> Published:
        """The paper's numbers of this artefact."""
        return load(self.artefact)

    @cached_property
    def done(self) -> pandas.DataFrame:
        """The rows that hold a value."""
        return self.frame[self.frame["status"] == DONE]

    @cached_property
    def _by_place(self) -> dict[tuple, list[dict[str, Any]]]:
        """The rows that hold a value, by case, method, metric and back end: tables ask for them by the thousand."""
        rows = self.done.to_dict("records")
        return grouped(((row["case"], row["method"], row["metric"], row["backend"]), row) for row in rows)

    @cached_property
    def _by_cell(self) -> dict[tuple, list[dict[str, Any]]]:
        rows = (row for each in self._by_place.values() for row in each)
        return grouped((place_of(row), row) for row in rows)

    def cell(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the rows that hold a value of the cell that a row belongs to."""
        return self._by_cell.get(place_of(row), [])

    @property
    def place(self) -> str:
        """The machine, with how many cores its processor had where anything was timed on it."""
        return self.machine + self.cores_of(self.done)

    def cores_of(self, rows: pandas.DataFrame) -> str:
        """Return ``, 12 cores`` where some of the rows are times on a processor; else nothing."""
        are_timed = self.cores and (rows["backend"].isin(ON_CORES) & rows["n"].notna()).any()
        return f", {self.cores} core{'s' * (self.cores > 1)}" if are_timed else ""

    @cached_property
    def cases(self) -> list[str]:
        """Every case: as they are measured where the paper has its own in that order, else the paper's first in its."""
        ours = list(dict.fromkeys(self.frame["case"])) if len(self.frame) else []
        if [case for case in ours if case in self.published.cases] == [c for c in self.published.cases if c in ours]:
            return ours
        return [case for case in self.published.cases if case in ours] + [
            case for case in ours if case not in self.published.cases
        ]

    def backends(self, method: str | None = None, metric: str | None = None, **own: Any) -> list[str]:
        """Return the back ends with a value, of one method or metric or parameters if given, best first."""
        asked = method, metric, *sorted(own.items())
        if asked not in self._backends:
            present = {
                place[3] for place, rows in self._by_place.items()
                if method in (None, place[1]) and metric in (None, place[2]) and any(has(row, own) for row in rows)
            }  # fmt: skip
            self._backends[asked] = [backend for backend in PREFERENCE if backend in present]
        return list(self._backends[asked])

    @cached_property
    def _backends(self) -> dict[tuple, list[str]]:
        """Answers of `backends`: tables ask for the same by the thousand."""
        return {}

    def best_device_backend(self, method: str | None = None, metric: str | None = None) -> str | None:
        """Return the first of CUDA, OpenCL and OpenMP that has a value; None when only the host has."""
        return next((backend for backend in self.backends(method, metric) if backend != "host"), None)

    def row(self, case: str, method: str, metric: str, backend: str | None = None, **own: Any) -> dict[str, Any] | None:
        """Return the row with a value, or None when it was not measured.

        Without a `backend` it is the best one that has this method and metric for any case, so that a column of a table
        never mixes back ends. Of rows that differ in parameters of their own these choose, as ``repeats=50``.

        Raises `ReproError` when several rows answer: cells of an artefact must differ in case, method or back end, and
        rows of a cell in what is asked for.
        """
        if backend is None:
            backend = next(iter(self.backends(method, metric, **own)), None)
        rows = [row for row in self._by_place.get((case, method, metric, backend), []) if has(row, own)]
        if len(rows) > 1:
            raise ReproError(f"{self.artefact} has {len(rows)} rows of {case}, {method}, {metric} on {backend}")
        if rows:
            self.asked[case, method, metric, backend, *sorted(own.items())] = rows[0]
        return dict(rows[0]) if rows else None

    def value(self, case: str, method: str, metric: str, backend: str | None = None, **own: Any) -> float | None:
        """Return the value, in the row's unit, or None when it was not measured."""
        row = self.row(case, method, metric, backend, **own)
        return None if row is None or is_missing(row["value"]) else float(row["value"])

    def of_bound(self, row: Mapping[str, Any] | None, *, of_problem: bool = False) -> float | None:
        """Return how much of what its device allows a row reaches, in percent; None where that cannot be told.

        See `repro.judge.roofs.Roofs.fraction`.
        """
        found = row and self.roofs.fraction(row, of_problem=of_problem, cores=self.cores)
        return 100 * found if found else None


def times_behind(row: Mapping[str, Any], cell: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the warm times that a time or rate without samples of its own may come from.

    The one that its paper's ``derived.toml`` names; of a rate of which nothing is said there, all. Parameters that both
    have are the same.

    `row`: of what is neither a time nor a rate, nothing is behind it.
    """
    unit = row["unit"] or ""
    if not (is_rate(unit) or is_time(unit)):
        return []
    times = [
        other for other in cell if is_time(other["unit"] or "") and not is_missing(other["n"]) and agree(row, other)
    ]  # fmt: skip
    named = sources(row["artefact"], row["metric"])
    if named:
        return [time for name in named for time in times if time["metric"] == name][:1]
    return [time for time in times if is_rate(unit) and not time["metric"].endswith("_cold")]


def interval_behind(row: Mapping[str, Any], cell: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ``n``, ``ci_low`` and ``ci_high`` of a value that was worked out from one time: the time's own.

    Empty where none, or more than one, may be that; ``n`` alone where it was sampled too few times for an interval.
    """
    times = times_behind(row, cell)
    if len(times) != 1:
        return {}
    (time,) = times
    if is_missing(time["ci_low"]) or not time["ci_low"] > 0:
        return {"n": time["n"]}
    value, ends = row["value"], (time["ci_low"], time["ci_high"])
    if is_rate(row["unit"] or ""):
        low, high = (value * time["value"] / end for end in reversed(ends))
    else:
        low, high = (value * end / time["value"] for end in ends)
    return {"n": time["n"], "ci_low": low, "ci_high": high}


def point(
    results: Results, case: str, method: str, metric: str, unit: str, backend: str | None = None, **own: Any
) -> tuple[float, float | None, float | None] | None:
    """Return a value and the ends of its interval in a unit, None where there are none; None when not measured.

    A value that was worked out from a time has the time's interval, where one time alone may be behind it.
    """
    row = results.row(case, method, metric, backend, **own)
    if row is None or is_missing(row["value"]):
        return None
    value, low, high = (
        None if is_missing(end) else convert(float(end), row["unit"] or "", unit)
        for end in (row["value"], row["ci_low"], row["ci_high"])
    )
    if low is None:
        ends = interval_behind(row, results.cell(row))
        low, high = (
            convert(ends[end], row["unit"] or "", unit) if end in ends else None for end in ("ci_low", "ci_high")
        )
    return value, low, high
