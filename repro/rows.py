"""Rows as files hold them: the one writer of their CSV, and the one reader that everyone has them from."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from repro.cache.glance import state
from repro.cache.store import as_stored, content, read_json, tables
from repro.model import BACKENDS, COLUMNS, DONE, FAILED, SCALES, SKIPPED, ReproError
from repro.units import is_missing

if TYPE_CHECKING:
    import pandas

PARAMETER = "p_"  # how the columns of parameters begin; they stand before ``value``


def _count(text: str) -> int:
    return int(float(text))  # tools that write the CSV again, as pandas, make 3.0 of 3 where another row has none


NUMBERS = {
    "value": float, "ci_low": float, "ci_high": float, "n": _count, "rounds": _count, "outliers": _count,
    "work_bytes": float, "work_flops": float, "problem_bytes": float, "error": float, "disturbed": _count,
}  # fmt: skip
TRUTHS = {"True": True, "False": False, "": None}  # of ``cold``
ADVICE = "remove it, and `repro run` writes it anew, or take it from where it is whole"


def columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return `repro.model.COLUMNS` with a column for each parameter that any of the rows has."""
    names = sorted({f"{PARAMETER}{name}" for row in rows for name in row.get("parameters") or {}})
    place = COLUMNS.index("value")
    return [*COLUMNS[:place], *names, *COLUMNS[place:]]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its parameters as columns."""
    parameters = {f"{PARAMETER}{name}": value for name, value in (row.get("parameters") or {}).items()}
    return {name: row[name] for name in COLUMNS if name in row} | parameters


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return rows as the tidy CSV, empty where there is no value."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns(rows), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        shown = flat(row)
        writer.writerow({n: _as_text(v) if n.startswith(PARAMETER) else v for n, v in shown.items()})
    return stream.getvalue()


def place_of(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what tells a cell, or the cell of a row, from the others of its artefact: case, method and back end."""
    return str(cell["case"]), cell["method"], cell["backend"]


def frame(rows: list[dict[str, Any]]) -> pandas.DataFrame:
    """Return rows as a frame of all columns."""
    import pandas

    return pandas.DataFrame([flat(row) for row in rows], columns=columns(rows))


@cache
def asked(text: str) -> tuple[str, Mapping[str, Any]]:
    """Return the metric and the parameters that a text asks for: ``spmv[repeats=50]``, or with none ``spmv``.

    Raises `ReproError` when it is no such text.
    """
    found = re.fullmatch(r"([^\[\]]+)(?:\[([^\[\]]+)\])?", text)
    pairs = [pair.partition("=") for pair in (found[2] or "").split(",") if pair] if found else []
    if not found or not all(name and value for name, _, value in pairs):
        raise ReproError(f"{text!r} is no metric, as in spmv or spmv[repeats=50]")
    return found[1], {name: _parsed(value) for name, _, value in pairs}


def text_of(metric: str, parameters: Mapping[str, Any]) -> str:
    """Return the text that asks for a metric and parameters, see `asked`."""
    pairs = ",".join(f"{name}={_as_text(value)}" for name, value in parameters.items())
    return f"{metric}[{pairs}]" if pairs else metric


def has(row: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    """Return whether a row of a frame has parameters, its cell's or its own; None asks that there is none."""
    for name, value in parameters.items():
        found = row.get(PARAMETER + name)
        if value != (None if is_missing(found) else found):
            return False
    return True


def answers(row: Mapping[str, Any], text: str) -> bool:
    """Return whether a row of a frame is what a text asks for, see `asked`."""
    metric, parameters = asked(text)
    return row["metric"] == metric and has(row, parameters)


def agree(row: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether no parameter that two rows of a frame both have differs."""
    return all(
        is_missing(value) or is_missing(other.get(name)) or value == other[name]
        for name, value in row.items() if name.startswith(PARAMETER)
    )  # fmt: skip


def parse(text: str) -> list[dict[str, Any]]:
    """Return the rows of a CSV as they were before they were written, their parameters under ``parameters``.

    Raises `ValueError` when the CSV is damaged, or has other columns.
    """
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = tuple(reader.fieldnames or ())
    for name in COLUMNS:
        if name not in names:
            raise ValueError(f"it has no column {name}")
    if tuple(name for name in names if not name.startswith(PARAMETER)) != COLUMNS:
        raise ValueError("rows of other columns, as another version writes them")
    return [_typed(row) for row in reader]


def read_file(path: Path) -> pandas.DataFrame:
    """Return the rows of an artefact's CSV, with ``machine``, ``file``, ``cores`` and ``gpu``.

    The file is named without ``.xz`` where it is compressed: others that lie beside it have its name.

    Raises `ReproError` when it is damaged, as one that is empty or was cut off.
    """
    made, facts = _read(path, *(state(each) for each in (as_stored(path), path.with_suffix(".json"))))
    places = zip(made["backend"], made["device"], strict=True)
    return made.assign(
        machine=path.parents[1].name, file=str(path), cores=[facts.get("cores")] * len(made),
        gpu=[is_gpu(*place, *facts["cpus"]) for place in places],
    )  # fmt: skip


@lru_cache(maxsize=1024)
def _read(path: Path, _csv: tuple, _json: tuple) -> tuple[pandas.DataFrame, Mapping[str, Any]]:
    """Return the rows of a CSV, and the machine's facts, once for as long as the files do not change."""
    manifest = read_json(path.with_suffix(".json"))
    try:
        text = content(path).decode()
        if not text:
            raise ValueError("it is empty")
        made = frame(parse(text)).astype(dict.fromkeys(NUMBERS, float))  # NaN where there is none
    except (ValueError, OSError, csv.Error) as error:
        raise ReproError(f"{path} is damaged: {str(error).strip()}; {ADVICE}") from error
    facts = manifest.get("machine") or {}
    of_cells = [key.get("machine", {}).get("cpu") for key in manifest.get("keys", ())]
    return made, {**facts, "cpus": {*filter(None, [facts.get("cpu"), *of_cells])}}


def read(
    results: Path, machine: str | None = None, artefact: str | None = None, scale: str | None = None
) -> pandas.DataFrame:
    """Return all rows of a folder of results, of one machine, artefact or scale where these are given.

    Rows of the user's own files in place of datasets are not among them: they have files of their own.
    """
    import pandas

    paper, _, stem = (artefact or "").partition("-")
    paths = tables(Path(results), f"{machine or '*'}/{paper or '*'}/{stem}*")
    found = [read_file(path) for path in paths if _is_of(path.name, stem)]
    if not found:
        return pandas.DataFrame(columns=[*COLUMNS, "machine", "file", "cores", "gpu"])
    every = pandas.concat(found, ignore_index=True)
    return every if scale is None else every[every["scale"] == scale].reset_index(drop=True)


def _is_of(name: str, stem: str) -> bool:
    """Return whether a file is an artefact's, at whichever scale, and of no file of the user's."""
    of, *parts = name.removesuffix(".csv").split(".")
    return stem in ("", of) and (not parts or parts in [[scale] for scale in SCALES])


def is_gpu(backend: str, device: str, *processors: str) -> bool:
    """Return whether a row was measured on a GPU; `processors` are the names of its machine's, one a host."""
    from repro.judge.roofs import EMULATED

    if backend == "opencl":
        return bool(device) and not EMULATED.match(device) and not any(each in device for each in processors)
    return backend == "cuda"


def _as_text(value: Any) -> str | None:
    """Return a parameter as its column has it: JSON, but for text that JSON does not read."""
    if value is None or (isinstance(value, str) and _parsed(value) == value and value):
        return value
    return json.dumps(value)


@lru_cache(maxsize=4096)  # rows repeat their parameters; those share what it returns
def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def parameters_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that a row of a CSV has columns of."""
    return {name.removeprefix(PARAMETER): _parsed(text) for name, text in row.items()
            if name.startswith(PARAMETER) and text}  # fmt: skip


def _typed(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if None in row or None in row.values() or row["status"] not in (DONE, SKIPPED, FAILED):
        raise ValueError("a row of it is cut off")
    if row["backend"] not in BACKENDS or row["scale"] not in SCALES:
        raise ValueError(f"no back end is called {row['backend']!r}, or no scale {row['scale']!r}")
    made: dict[str, Any] = {"parameters": parameters_of(row)}
    for name, text in row.items():
        if name in NUMBERS:
            made[name] = NUMBERS[name](text) if text else None
        elif not name.startswith(PARAMETER):
            made[name] = TRUTHS[text] if name == "cold" else text
    return made
