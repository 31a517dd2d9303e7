"""Rows of results as the tables that people read: the paper's layout, ours beside published."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from repro.grouping import grouped
from repro.model import DONE
from repro.published import Number
from repro.show.quotients import quotient, quotient_text
from repro.show.results import PREFERENCE, Results, is_missing, point
from repro.units import MISSING, convert, significant

if TYPE_CHECKING:
    import pandas

    from repro.show.terminal import Sheet

PAPERS = ", paper"  # how the heading of a column of the paper's goes on
SMALL = 0.01  # of a value: half an interval below it is not shown
WHOLE = ("", "count", "B")  # units of what is counted, to the last digit
WIDE = 0.5  # from which on the ends are shown: a value less half of its interval may come below zero
ASIDE = 0.02  # of a value: by as much its interval's middle may lie beside it before the ends are shown
INTERVALS = (
    f"±: half of the interval of the median, where it is {100 * SMALL:g} % or more. "
    "In parentheses the interval itself, where it is wide or reaches further to one side."
)
TOP = 100.5  # percent, below which a share is shown as all
ABOVE = "Above 100 % of a bound: the cache kept more of the data from one run to the next than of the probe's."


@dataclass(frozen=True)
class Column:
    """A measured column of a paper's table."""

    label: str  #: heading, as in the paper
    #: `method`, `metric`: of our rows.
    method: str
    metric: str
    unit: str = "s"  #: unit of the column, ours and published
    #: The paper's method, where it is not ours: a stand-in has a name of its own. Default: `method`.
    published: str | None = None
    published_metric: str | None = None  #: the paper's metric, where it is not ours
    backend: str | None = None  #: default: the best that has the column
    paper: str = ""  #: what the heading of the paper's column adds, where its number is of something else, as ``"CPU"``
    #: Of the rows themselves, ours and published, where a cell has several of the metric.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def point(self, results: Results, case: str, unit: str = "") -> tuple[float, float | None, float | None] | None:
        """Return our value in a unit, the column's by default, with its interval's ends; None where it has none."""
        return point(results, case, self.method, self.metric, unit or self.unit, self.backend, **self.parameters)

    def ours(self, results: Results, case: str) -> float | None:
        """Return our value in the column's unit."""
        found = self.point(results, case)
        return None if found is None else found[0]

    def theirs(self, results: Results, case: str) -> Number | None:
        """Return the published number."""
        place = self.published or self.method, self.published_metric or self.metric
        return results.published.get(case, *place, **self.parameters)


@dataclass(frozen=True)
class Ratio:
    """A column that is the quotient of two others; the published one is as printed, never computed."""

    label: str  #: heading, as in the paper
    #: `numerator`, `denominator`: labels of two columns of the same unit.
    numerator: str
    denominator: str
    #: Method and metric of the published ratio; default: the denominator's method and ``speedup``.
    published: tuple[str, str] | None = None
    parentheses: bool = False  #: give a ratio below one as its reciprocal in parentheses, as papers do for a slow-down
    meaning: str = ""  #: what it is the ratio of, for a note


@dataclass(frozen=True)
class Table:
    """A table to show: cells are text, or numbers that are given to three significant digits."""

    title: str
    frame: pandas.DataFrame  #: one row a line; its index is not shown
    notes: list[str] = field(default_factory=list)  #: lines below the table
    measured: bool = True  #: whether anything in it is ours

    def _lines(self) -> tuple[list[str], list[list[str]]]:
        names = [str(name) for name in self.frame.columns]
        return names, [[_text(cell) for cell in line] for line in self.frame.astype(object).values.tolist()]

    def to_markdown(self) -> str:
        """Return the table as GitHub-flavoured Markdown, with title and notes, ending in a newline."""
        names, lines = self._lines()
        rule = ["---"] + ["---:"] * (len(names) - 1)
        text = [f"**{self.title}**", ""]
        cells = ([cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in [names, rule, *lines])
        text += ["| " + " | ".join(line) + " |" for line in cells]
        if notes := self._notes():
            text += [""] + [f"- {note}" for note in notes]
        return "\n".join(text) + "\n"

    def to_rich(self) -> Sheet:
        """Return the table for a terminal."""
        from repro.show.terminal import Sheet

        return Sheet(self.title, *self._lines(), self._notes())

    def _notes(self) -> list[str]:
        """Return the lines below the table, with one on kernels that beat their bound where there are some."""
        shares = (self.frame[name] for name in self.frame if "bound [%]" in str(name) and "Cold" not in str(name))
        above = any(isinstance(cell, (int, float)) and cell > TOP for column in shares for cell in column)
        return [*self.notes, *[ABOVE] * above]


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if is_missing(cell):
        return MISSING
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Integral):
        return significant(int(cell))
    return significant(float(cell)) if isinstance(cell, Real) else str(cell)


def with_lines(tables: Iterable[Table]) -> list[Table]:
    """Return the tables that have a line."""
    return [table for table in tables if len(table.frame)]


def with_ours(tables: Iterable[Table]) -> list[Table]:
    """Return the tables in which something is ours, and say which are not; without one the first, as the paper's."""
    tables = with_lines(tables)
    ours = [table for table in tables if table.measured]
    if not ours or len(ours) == len(tables):
        return ours or tables[:1]
    gone = "; ".join(table.title for table in tables if not table.measured)
    first, *others = ours
    return [replace(first, notes=[*first.notes, f"No table, since nothing of it was measured: {gone}."]), *others]


def trimmed(table: Table, labels: int = 1) -> Table:
    """Return a table without columns that hold nothing, nor the paper's beside ours that do not; a note names ours.

    Where nothing is ours it stays as it is, and tells so by `measured`.

    `table`: its columns of the paper's are headed ``..., paper`` and follow ours.
    """
    held = {name: any(_text(cell) != MISSING for cell in table.frame[name]) for name in table.frame}
    kept, dropped, is_kept = list(held)[:labels], [], True
    for name in list(held)[labels:]:
        if PAPERS not in name:
            is_kept = held[name]
            dropped += [] if is_kept else [name]
        kept += [name] if is_kept and held[name] else []
    if len(kept) == labels:
        return replace(table, measured=False)
    return replace(table, frame=table.frame[kept], notes=[*table.notes, *_left_out(dropped)])


def device_notes(results: Results, metric: str) -> list[str]:
    """Return on which devices each back end measured a metric, where several did: OpenCL may have had a GPU's host."""
    rows = results.done[results.done["metric"] == metric].to_dict("records")
    found = grouped((row["backend"], row["device"]) for row in rows if isinstance(row["device"], str) and row["device"])
    places = [f"`{each}` on {', '.join(dict.fromkeys(found[each]))}" for each in PREFERENCE if each in found]
    return [f"Devices: {'; '.join(places)}."] if len(found) > 1 else []


def paper_table(
    results: Results,
    title: str,
    columns: Sequence[Column | Ratio],
    *,
    row: str = "Mesh",
    cases: Sequence[str] | Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return the paper's table: under each heading what was measured here, beside it what the paper prints.

    Nothing is filled in: what was not measured, or is not printed, is a dash; skipped and failed rows are in the notes.
    A column of which nothing was measured is left out, and a line that would be dashes alone unless it was tried to
    measure it; of a table in which nothing is ours the paper's columns are there.

    `cases`: cases in order, or case to label. Default: the cases of the paper and of the results, capitalised.
    """
    import pandas

    if cases is None:
        cases = list(dict.fromkeys([*results.published.cases, *results.cases]))
    labels = dict(cases) if isinstance(cases, Mapping) else {case: case[:1].upper() + case[1:] for case in cases}
    parts = {column.label: column for column in columns if isinstance(column, Column)}
    pairs = [
        _measured(results, column, labels) if isinstance(column, Column) else _ratios(results, column, parts, labels)
        for column in columns
    ]
    is_measured = any(_is_any(ours) for ours, _ in pairs)
    kept = [k for k, (ours, _) in enumerate(pairs) if _is_any(ours) or not is_measured]
    cells: dict[str, list[str]] = {row: list(labels.values())}
    for k in kept:
        cells |= {heading: texts for heading, texts in pairs[k][not is_measured :] if heading}
    frame = pandas.DataFrame(cells)
    lines = _lines_to_show(results, frame, labels, parts.values() if is_measured else ())
    is_beside = any(heading for k in kept for heading, _ in pairs[k][1:])
    made = _about_ratios([(columns[k], pairs[k]) for k in kept])
    texts = [text for k in kept for text in pairs[k][0][1]]
    made += _notes(results, parts.values(), labels, is_beside, texts)
    made += _left_out(column.label for k, column in enumerate(columns) if k not in kept)
    made += [] if is_measured else ["Nothing of this table was measured: the numbers are the paper's."]
    return Table(title, frame[lines].reset_index(drop=True), [*notes, *made], is_measured)


Pair = tuple[tuple[str, list[str]], tuple[str, list[str]]]
"""Heading and cells of ours, and of the paper's; no heading where the paper prints none."""


def _measured(results: Results, column: Column, labels: Mapping[str, str]) -> Pair:
    ours = [number_text(column.point(results, case), column.unit) for case in labels]
    theirs = [column.theirs(results, case) for case in labels]
    backend = _backend(results, column)
    heading = f"{column.label} [{column.unit}]" if column.unit not in ("", "count") else column.label
    # A count that no device had a part in is simply ours.
    where = "ours" if backend == "host" and column.unit in ("count", "million") else backend
    paper = ", ".join(filter(None, (heading + PAPERS, column.paper))) if any(theirs) else ""
    return (f"{heading}, {where}", ours), (paper, [as_printed(number, column.unit) for number in theirs])


def _ratios(results: Results, ratio: Ratio, parts: Mapping[str, Column], labels: Mapping[str, str]) -> Pair:
    top, bottom = parts[ratio.numerator], parts[ratio.denominator]
    points = [(top.point(results, case, bottom.unit), bottom.point(results, case)) for case in labels]
    ours = [quotient_text(quotient(*each), ratio.parentheses) for each in points]
    key = ratio.published or (bottom.published or bottom.method, "speedup")
    theirs = [results.published.get(case, *key) for case in labels]
    paper = f"{ratio.label}{PAPERS}" if any(theirs) else ""
    return (f"{ratio.label}, ours", ours), (paper, [as_printed(number, None) for number in theirs])


def _backend(results: Results, column: Column) -> str | None:
    best = results.backends(column.method, column.metric, **column.parameters)
    return column.backend or next(iter(best), None)


def _is_any(part: tuple[str, list[str]]) -> bool:
    return any(text != MISSING for text in part[1])


def number_text(found: tuple[float, float | None, float | None] | None, unit: str) -> str:
    """Return a value in the unit that its column is headed with, and half of its interval where that is not small."""
    if found is None:
        return MISSING
    value, low, high = found
    text = significant(int(value) if unit in WHOLE and value.is_integer() else value)
    half = None if None in (low, high) or not value else abs((high - low) / 2 / value)
    if half is None or not SMALL <= half < math.inf:
        return text
    if half < WIDE and abs((low + high) / 2 / value - 1) <= ASIDE:
        return f"{text} ± {significant(100 * half, 2)} %"
    return f"{text} ({significant(low, 2)} to {significant(high, 2)})"


def has_interval(text: str) -> bool:
    """Return whether a cell of a table shows a number with its interval, see `number_text`."""
    return " ± " in text or (" (" in text and " to " in text)


def _lines_to_show(results: Results, frame: Any, labels: Mapping[str, str], columns: Iterable[Column]) -> list[bool]:
    """Return which lines have a number, or cells that were tried where their column was measured."""
    where = {(column.method, _backend(results, column)) for column in columns}
    rows = zip(*(results.frame[name] for name in ("case", "method", "backend")), strict=True)
    tried = {case for case, method, backend in rows if where & {(method, backend), (method, None)}}
    texts = frame.iloc[:, 1:].values.tolist()
    return [case in tried or any(text != MISSING for text in line) for case, line in zip(labels, texts, strict=True)]


def _left_out(names: Iterable[str]) -> list[str]:
    names = list(names)
    return [f"Left out, since nothing of it was measured: {'; '.join(names)}."] if names else []


def _about_ratios(shown: Sequence[tuple[Column | Ratio, Pair]]) -> list[str]:
    """Return what the ratios are of, and, where there are some, what parentheses around them mean."""
    ratios = [(column, pair) for column, pair in shown if isinstance(column, Ratio)]
    notes = [f"{ratio.label}: {ratio.meaning}." for ratio, _ in ratios if ratio.meaning]
    texts = [text for _, pair in ratios for _, cells in pair for text in cells]
    notes += ["In parentheses: by how much it is slower."] * any(text.startswith("(") for text in texts)
    return notes + ["In parentheses after a quotient: its interval."] * any(" to " in text for text in texts)


def as_printed(number: Number | None, unit: str | None) -> str:
    """Return the digits as printed where the unit is the column's, else as many digits of the value converted."""
    if number is None:
        return MISSING
    if unit is None or number.unit == unit or {number.unit, unit} <= {"", "count", "x"}:
        return number.printed
    mantissa = number.printed.lower().partition("e")[0]
    digits = len(re.sub(r"\D", "", mantissa).lstrip("0"))
    return significant(convert(number.value, number.unit, unit), max(1, digits))


def _notes(
    results: Results, columns: Iterable[Column], labels: Mapping[str, str], is_beside: bool, texts: Iterable[str]
) -> list[str]:
    """Return where each column was measured, what the paper's beside are of, and why cells are missing."""
    done, others = results.done, results.frame[results.frame["status"] != DONE].to_dict("records")
    places: dict[str, list[str]] = {}
    shown = done["backend"].isin([])  # the rows of some column
    missing: dict[tuple[str, str, str], list[str]] = {}
    for column in columns:
        backend = _backend(results, column)
        same = (done["method"] == column.method) & (done["metric"] == column.metric) & (done["backend"] == backend)
        shown |= same
        if same.any():
            devices = sorted({device for device in done[same]["device"] if isinstance(device, str) and device})
            places.setdefault(f"`{column.method}` on {', '.join([backend, *devices])}", []).append(column.label)
        for row in others:
            # Another back end's failure is no reason for a dash in this column.
            if row["method"] == column.method and backend in (None, row["backend"]):
                key = (row["status"], f"{row['method']} on {row['backend']}", str(row["reason"] or ""))
                missing.setdefault(key, []).append(labels.get(row["case"], row["case"]))
    notes = [f"{', '.join(dict.fromkeys(names))}: {where}." for where, names in places.items()]
    where = results.machine + results.cores_of(done[shown])
    if any(map(has_interval, texts)):
        notes.append(INTERVALS)
    notes.append(f"Machine {where}, scale {results.scale}; {MISSING} is not measured or not printed.")
    for name, file in results.overrides.items():
        notes.append(f"{name} is the user's own {file}; the paper's columns hold for the paper's.")
    if is_beside and results.scale != "paper":
        notes.append("The paper's columns are of its own sizes, which are not always those of this scale.")
    alike = grouped(  # a reason that several methods have is told once
        ((status, reason, tuple(dict.fromkeys(names))), method) for (status, method, reason), names in missing.items()
    )
    for (status, reason, names), methods in alike.items():
        notes.append(f"{status.capitalize()}: {', '.join([*methods, *names])}: {reason}")
    return notes
