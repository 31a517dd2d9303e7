"""An artefact's files: where they are, and their cells read back where the store has none, as in a clone.

What git has of a machine's results are the files that `repro.render` writes, not the store. They hold all of a record;
older ones lack the keys of the data, which then are taken to be the present ones, as the sources decide them.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from repro import hashing
from repro.discovery import Artefact
from repro.model import COLUMNS, ReproError
from repro.settings import Settings, default_scale
from repro.store import read_json

NUMBERS = {"value": float, "ci_low": float, "ci_high": float, "bound_fraction": float, "error": float,
           "n": int, "outliers": int}  # fmt: skip
IDENTITY = ("case", "method", "backend", "parameters", "data")


def files_stem(artefact: Artefact, settings: Settings, data: Collection[str] = ()) -> Path:
    """Return the path of the artefact's files without suffix.

    The machine's default scale has no suffix of its own, ``table3``; others are ``table3.smoke``. Results on the user's
    own file in place of one of the datasets `data` stand apart, as ``table3.my_mesh-vtu``.
    """
    name = artefact.stem
    if settings.scale != (settings.usual_scale or default_scale()):
        name += f".{settings.scale}"
    for dataset, file in sorted(settings.overrides.items()):
        if dataset in data:
            name += "." + re.sub(r"[^A-Za-z0-9_-]+", "-", Path(file).name)
    return settings.store.folder / artefact.paper / name


def lock_name(stem: Path) -> str:
    """Return the name of the lock that is held while the files are written."""
    return f"{stem.parent.name}-{stem.name}"


class Files:
    """An artefact's files at a scale.

    Parameters
    ----------
    stem : Path
        Their path without suffix.
    """

    def __init__(self, stem: Path):
        self._rows: dict[tuple, list[dict[str, Any]]] = {}
        self._samples: dict[str, dict] = {}
        self._cells: dict[str, dict] = {}
        try:
            self._read(stem)
        except (OSError, EOFError, ReproError, ValueError, KeyError, TypeError, AttributeError):
            self._cells = {}  # damaged, or none of ours: nothing is taken from them

    def _read(self, stem: Path) -> None:
        self._manifest = read_json(stem.with_name(f"{stem.name}.json"))
        cells = self._manifest.get("cells", ())
        if not cells:
            return
        places = Counter(_place(cell) for cell in cells)  # rows tell cells apart by these alone
        with stem.with_name(f"{stem.name}.csv").open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                self._rows.setdefault(_place(row), []).append(_typed(row))
        packed = gzip.decompress(stem.with_name(f"{stem.name}.samples.json.gz").read_bytes())
        self._samples = {_name(each): each["samples"] for each in json.loads(packed)}
        self._cells = {_name(cell): cell for cell in cells if places[_place(cell)] == 1 and self._whole(cell)}

    def _whole(self, cell: Mapping[str, Any]) -> bool:
        """Whether there are rows of a cell, and samples of each that is a median of some."""
        rows = self._rows.get(_place(cell), [])
        return bool(rows) and self._samples.get(_name(cell), {}).keys() >= {row["metric"] for row in rows if row["n"]}

    def record(self, artefact: str, identity: Mapping[str, Any], key: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the record of a cell, or None where the files do not have it.

        Parameters
        ----------
        artefact : str
            Whose `measure` measures the cell.
        identity : mapping
            See `repro.model.Cell.identity`.
        key : mapping
            What the cell depends on now, which says which of the files' sources and data are its own.
        """
        cell, manifest = self._cells.get(_name(identity)), self._manifest if self._cells else {}
        if cell is None:
            return None
        rows = [{**row, "artefact": artefact} for row in self._rows[_place(cell)]]
        devices = {row["device"] for row in rows}
        clocks = [each for each in manifest["devices"] if each["name"] in devices]
        recipes = manifest.get("recipes") or ({} if manifest.get("overrides") else key["data"])
        return {
            "artefact": artefact, "status": cell["status"], "reason": cell["reason"], "scale": manifest["scale"],
            "identity": {name: cell[name] for name in IDENTITY}, "overrides": manifest["overrides"],
            "key": {
                "sources": {path: manifest["sources"][path] for path in key["sources"] if path in manifest["sources"]},
                "data": {name: recipes[name] for name in cell["data"] if name in recipes},
                "machine": hashing.machine_facts(manifest["machine"], manifest["environment"]),
                "seed": manifest["seed"],
            },
            "revision": cell.get("revision"), "command": cell.get("command", ""), "rows": rows,
            "samples": self._samples.get(_name(cell), {}), "checks": cell["checks"], "work": cell.get("work", []),
            "digests": {name: manifest["data"][name] for name in cell["data"] if name in manifest["data"]},
            "clocks": {f"{each['backend']}: {each['name']}": each for each in clocks},
            "notes": cell["notes"], "seconds": cell["seconds"], "traceback": "",
            "finished": datetime.fromisoformat(cell["date"]).timestamp(), "date": cell["date"],
        }  # fmt: skip


def _place(cell: Mapping[str, Any]) -> tuple:
    return cell["case"], cell["method"], cell["backend"]


def _name(identity: Mapping[str, Any]) -> str:
    return json.dumps({name: identity[name] for name in IDENTITY}, sort_keys=True)


def _typed(row: Mapping[str | None, Any]) -> dict[str, Any]:
    if tuple(row) != COLUMNS or None in row.values():
        raise ValueError("a row of other columns, or one that was cut short")
    return {
        name: (NUMBERS[name](text) if text else None) if name in NUMBERS else text for name, text in row.items()
    }  # fmt: skip
