"""Whether a processor had other cells to compute while one was measured: then a baseline on it is slower than alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from repro.model import DONE
from repro.store import read_json

ROUNDING = 1.0  # seconds, of the dates that are stored


class Span(NamedTuple):
    """When a cell was certainly being measured, in seconds; two artefacts that share a cell have the same one."""

    begin: float
    end: float


def shared(folder: Path, row: Mapping[str, Any]) -> bool:
    """Return whether other cells of a machine were measured at the same time as the cell of a row on its host.

    Parameters
    ----------
    folder : Path
        The machine's results.
    row : mapping
        Of one of its CSVs.
    """
    cells = _cells(folder)
    own = cells.get(tuple(row[name] for name in ("artefact", "scale", "case", "method", "backend")))
    if row["backend"] != "host" or own is None:
        return False
    return any(other != own and other.begin < own.end and own.begin < other.end for other in cells.values())


@cache
def _cells(folder: Path) -> dict[tuple, Span]:
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        manifest = read_json(path)
        for cell in manifest.get("cells") or []:
            if cell.get("status") == DONE and cell.get("date") and cell.get("seconds"):
                of = manifest.get("artefact"), manifest.get("scale")
                place = *of, str(cell["case"]), cell["method"], cell["backend"]
                end = datetime.fromisoformat(cell["date"]).timestamp()
                found[place] = Span(end + ROUNDING - cell["seconds"], end)
    return found
