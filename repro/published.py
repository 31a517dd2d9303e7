"""The papers' own numbers: loaded from ``published/<paper>``, each with its place in the paper."""

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from repro.cache.glance import once, state
from repro.cache.store import read_toml
from repro.grouping import grouped
from repro.model import ReproError
from repro.rows import asked, parameters_of

ROOT = Path(__file__).resolve().parents[1] / "published"


@dataclass(frozen=True)
class Number:
    """One number of a paper."""

    artefact: str  #: as in ``fu2014-table2``; ``fu2014-text`` for a number of the running text
    #: `case`, `method`, `metric`: as in the rows of results. For a number of the text, `case` is the statement's id.
    case: str
    method: str
    metric: str
    value: float  #: In `unit`. A speed-up printed in parentheses is a slow-down, and the value its reciprocal.
    unit: str
    place: str  #: table, row and column, or section and sentence
    printed: str  #: the digits as the paper prints them, which tell the precision
    exact: bool = False  #: whether the number is a count or was set, and so holds to the last digit
    #: Parameters that tell it from the metric's others, as a row's do: columns that begin with ``p_``.
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def interval(self) -> tuple[float, float]:
        """Return the least and largest number that would be printed so: half a unit of the last digit either way."""
        digits = self.printed.strip("()").replace(",", "")
        if self.exact or math.isinf(self.value):
            return self.value, self.value
        mantissa, _, exponent = digits.lower().partition("e")
        decimals = len(mantissa.partition(".")[2])
        half = 0.5 * 10.0 ** (int(exponent or 0) - decimals)
        low, high = float(digits) - half, float(digits) + half
        return (1 / high, 1 / low) if self.printed.startswith("(") else (low, high)


def parse(printed: str) -> float:
    """Return the value of printed digits: ``'274,625'`` is 274625; ``'(1.3)'``, a slow-down, is 1 / 1.3; ∞ is inf.

    Raises `ReproError` when the text is no number.
    """
    digits = printed.strip().replace(",", "").replace("∞", "inf")
    slower = re.fullmatch(r"\((.+)\)", digits)
    try:
        value = float(slower.group(1) if slower else digits)
        return 1 / value if slower else value
    except (ValueError, ZeroDivisionError):
        raise ReproError(f"{printed!r} is not a printed number") from None


@dataclass(frozen=True)
class Published:
    """The numbers of one artefact; empty when the paper prints none (a figure)."""

    artefact: str
    numbers: tuple[Number, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Number]:
        return iter(self.numbers)

    @cached_property
    def _index(self) -> dict[tuple[str, str, str], list[Number]]:
        return grouped(((number.case, number.method, number.metric), number) for number in self)

    @property
    def cases(self) -> list[str]:
        """The cases in the paper's order."""
        return list(dict.fromkeys(number.case for number in self))

    def get(self, case: str, method: str, metric: str, **parameters: Any) -> Number | None:
        """Return the number, or None when the paper does not print it: the first all of whose parameters are given."""
        numbers = self._index.get((case, method, metric), ())
        return next((number for number in numbers if number.parameters.items() <= parameters.items()), None)

    def value(self, case: str, method: str, metric: str, **parameters: Any) -> float | None:
        """Return the number's value in its printed unit, or None when the paper does not print it."""
        number = self.get(case, method, metric, **parameters)
        return None if number is None else number.value


def papers(root: Path = ROOT) -> list[str]:
    """Return the keys of the papers that have numbers here."""
    return sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def name_of(artefact: str) -> str:
    """Return ``Table 2`` for ``fu2014-table2``."""
    return re.sub(r".*-(\D+)(\d+)", lambda match: f"{match[1].capitalize()} {match[2]}", artefact)


@cache
def load(artefact: str, root: Path = ROOT) -> Published:
    """Return the published numbers of an artefact, read once.

    Raises `ReproError` when the data are malformed, with file and line.

    `artefact`: ``<paper>-<table or figure><number>``, or ``<paper>-text`` for the numbers that the running text states.
    """
    paper, _, name = artefact.partition("-")
    if name == "text":
        return Published(artefact, tuple(_statements(artefact, root / paper / "text.toml")))
    path = root / paper / f"{name}.csv"
    return Published(artefact, tuple(_rows(artefact, path)) if path.is_file() else ())


def _rows(artefact: str, path: Path) -> Iterator[Number]:
    seen = set()
    with path.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        for row in reader:
            try:
                key, printed = (row["case"], row["method"], row["metric"]), row["printed"].strip()
                own = parameters_of(row)
                number = Number(
                    artefact, *key, parse(printed), row["unit"], row["place"], printed, row["unit"] == "count", own
                )
                key += tuple(own.items())
            except (KeyError, AttributeError, ReproError) as error:
                raise ReproError(f"{path}:{reader.line_num}: {error}") from None
            if key in seen:
                raise ReproError(f"{path}:{reader.line_num}: {' '.join(map(str, key))} is given twice")
            seen.add(key)
            yield number


def _statements(artefact: str, path: Path) -> Iterator[Number]:
    seen = set()
    for entry in statements(path):
        if entry["id"] in seen:
            raise ReproError(f"{path}: the statement {entry['id']} is given twice")
        seen.add(entry["id"])
        yield Number(
            artefact, entry["id"], entry.get("method", ""), entry["metric"], parse(entry["printed"]), entry["unit"],
            entry["place"], entry["printed"], entry.get("exact", entry["unit"] == "count"),
        )  # fmt: skip


def statements(path: Path) -> list[dict[str, Any]]:
    """Return the numbers of a paper's text as its ``text.toml`` gives them: with what each is about, and a note."""
    return read_toml(path).get("statement", [])


def named(paper: str, reference: str, case: str | None = None, root: Path = ROOT) -> list[Number]:
    """Return the numbers that a reference names, in the order of their table; none where there are none.

    Parameters
    ----------
    reference : str
        ``text <id>``, or ``<table> <method> <metric>[<parameters>] [<case>]``; a ``*`` in the method is any text.
    case : str, optional
        Where the reference has none; without either it names one a case.
    """
    table, *words = reference.split()
    numbers = load(f"{paper}-{table}", root)
    if table == "text" or len(words) not in (2, 3):
        return [number for number in numbers if table == "text" and words == [number.case]]
    wanted = words[2] if len(words) == 3 else case
    metric, own = asked(words[1])
    return [
        number for number in numbers
        if number.metric == metric and wanted in (None, number.case) and number.parameters == own
        and fnmatchcase(number.method, words[0])
    ]  # fmt: skip


def hardware(paper: str, root: Path = ROOT) -> dict[str, Any]:
    """Return the paper's machine: under each device what the paper prints, and the vendor's peaks under ``vendor``."""
    return read_toml(root / paper / "hardware.toml")


def paper(key: str, root: Path = ROOT) -> dict[str, Any]:
    """Return a paper's ``title``, ``authors`` and ``year``; empty when nothing is known of it."""
    return read_toml(root / key / "artefacts.toml").get("paper", {})


def artefacts(key: str, root: Path = ROOT) -> list[dict[str, str]]:
    """Return the tables and figures that a paper has to reproduce, in its order: ``id`` and what each ``shows``."""
    return read_toml(root / key / "artefacts.toml").get("artefact", [])


def stand_ins(key: str, methods: Iterable[str], root: Path = ROOT) -> dict[str, str]:
    """Return the paper's method whose place each of ours takes, where ours has another name.

    ``artefacts.toml`` has them under ``stand_ins``; a ``*`` on both sides stands for the same text.
    """
    found = {}
    path = root / key / "artefacts.toml"
    declared = once(("stand-ins", path, state(path)), lambda: read_toml(path).get("stand_ins", {}))
    for pattern, theirs in declared.items():
        form = re.compile("(.*)".join(map(re.escape, pattern.split("*"))))
        for method in methods:
            if method not in found and (match := form.fullmatch(method)):
                found[method] = theirs.replace("*", *match.groups()) if match.groups() else theirs
    return found
