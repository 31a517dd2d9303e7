"""Whether a processor was busy otherwise while a cell was measured on it: then the cell is slower than alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from repro.model import DONE
from repro.preemption import NOTE
from repro.store import read_json

ROUNDING = 1.0  # seconds, of the dates that are stored


class Span(NamedTuple):
    """When a cell was certainly being measured, in seconds; two artefacts that share a cell have the same one."""

    begin: float
    end: float


def on_processor(row: Mapping[str, Any]) -> bool:
    """Return whether a row, as `repro.claims.stored` has it, was measured on a processor."""
    return row["backend"] == "host" or not row.get("gpu", True)


def shared(folder: Path, row: Mapping[str, Any]) -> bool:
    """Return whether other cells of a machine were measured at the same time as the cell of a row on its processor.

    Parameters
    ----------
    folder : Path
        The machine's results.
    row : mapping
        Of one of its CSVs.
    """
    if not on_processor(row) or (cell := _cells(folder).get(_place(row))) is None:
        return False
    own, _ = cell
    return any(other != own and other.begin < own.end and own.begin < other.end for other, _ in _cells(folder).values())


def preempted(folder: Path, row: Mapping[str, Any]) -> bool:
    """Return whether the cell of a row has the note that its threads lost their cores often."""
    return on_processor(row) and _cells(folder).get(_place(row), (None, False))[1]


def _place(row: Mapping[str, Any]) -> tuple:
    return tuple(row[name] for name in ("artefact", "scale", "case", "method", "backend"))


@cache
def _cells(folder: Path) -> dict[tuple, tuple[Span, bool]]:
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        manifest = read_json(path)
        for cell in manifest.get("cells") or []:
            if cell.get("status") == DONE and cell.get("date") and cell.get("seconds"):
                place = _place({**cell, **{name: manifest.get(name) for name in ("artefact", "scale")}})
                end = datetime.fromisoformat(cell["date"]).timestamp()
                is_noted = any(NOTE in note for note in cell.get("notes") or ())
                found[place] = Span(end + ROUNDING - cell["seconds"], end), is_noted
    return found
