"""Whether other cells were measured on a processor while a cell was, as with several cards at a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from repro.cache.store import read_json
from repro.model import DONE

ROUNDING = 1.0  # seconds, of the dates that are stored


class Span(NamedTuple):
    """When a cell was certainly being measured, in seconds; two artefacts that share a cell have the same one."""

    begin: float
    end: float


class Cell(NamedTuple):
    """When and where a cell was measured."""

    span: Span
    host: str

    def meets(self, other: Cell) -> bool:
        """Return whether another cell had the same machine at the same time; of what names no host it is assumed."""
        (begin, end), (its_begin, its_end) = self.span, other.span
        is_elsewhere = self.host and other.host and self.host != other.host
        return self.span != other.span and its_begin < end and begin < its_end and not is_elsewhere


def on_processor(row: Mapping[str, Any]) -> bool:
    """Return whether a row, as `repro.judge.claims.stored` has it, was measured on a processor."""
    return row["backend"] == "host" or not row.get("gpu", True)


def shared(folder: Path, row: Mapping[str, Any]) -> bool:
    """Return whether other cells were measured on its very machine's processor at the time of the cell of a row."""
    return on_processor(row) and _is_met(folder, _place(row))


@cache
def _is_met(folder: Path, place: tuple) -> bool:
    cell = _cells(folder).get(place)
    return cell is not None and any(map(cell.meets, _cells(folder).values()))


def _place(row: Mapping[str, Any]) -> tuple:
    return tuple(row[name] for name in ("artefact", "scale", "case", "method", "backend"))


@cache
def _cells(folder: Path) -> dict[tuple, Cell]:
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        manifest = read_json(path)
        for cell in manifest.get("cells") or []:
            if cell.get("status") == DONE and cell.get("date") and cell.get("seconds"):
                place = _place({**cell, **{name: manifest.get(name) for name in ("artefact", "scale")}})
                end = datetime.fromisoformat(cell["date"]).timestamp()
                host = (cell.get("revision") or {}).get("host", "")
                found[place] = Cell(Span(end + ROUNDING - cell["seconds"], end), host)
    return found
