"""An artefact's files: where they are, and their cells read back where the store has none that stands, as in a clone.

Git has the files that `repro.show.render` writes, and not the store. They hold all of a record.
"""

import csv
import functools
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from repro.cache.code import digest
from repro.cache.glance import once
from repro.cache.store import ARCHIVE, content, lacking, read_json
from repro.discovery import Artefact
from repro.model import ReproError
from repro.rows import parse
from repro.run.rounds import named, taken_of
from repro.settings import Settings, default_scale

IDENTITY = ("case", "method", "backend", "parameters", "data")
DAMAGED = (OSError, ReproError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
           MemoryError, csv.Error)  # fmt: skip


def files_stem(artefact: Artefact, settings: Settings, data: Collection[str] = ()) -> Path:
    """Return the path of the artefact's files without suffix.

    The machine's default scale has no suffix of its own, ``table3``; others are ``table3.smoke``. Results on the user's
    own file in place of one of the datasets `data` stand apart, see `own_part`.
    """
    name = artefact.stem
    if settings.scale != default_scale():
        name += f".{settings.scale}"
    return settings.store.folder / artefact.paper / f"{name}{own_part(settings, data)}"


def own_part(settings: Settings, data: Collection[str]) -> str:
    """Return what the user's own files in place of some of the datasets `data` add to the name of an artefact's files.

    As in ``table3.my_mesh-vtu-1f0c9a4e``: the digits tell files of one name and several contents apart, and one file in
    the place of several datasets.
    """
    part = ""
    for dataset, own in sorted(settings.own(data).items()):
        readable = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(settings.overrides[dataset]).name)
        part += f".{readable}-{digest(f'{dataset}={own}'.encode())[:8]}"
    return part


class Files:
    """An artefact's files at a scale, read when they are first asked; nothing is taken from damaged or foreign ones."""

    def __init__(self, stem: Path, scale: str):
        self._stem, self._scale = stem, scale

    def record(self, artefact: str, identity: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the record of a cell, or None where the files do not have it."""
        found = self._every().get(_name(identity))
        if found is None:
            return None
        rows = [{**row, "artefact": artefact} for row in found["rows"]]
        return {**found, "artefact": artefact, "rows": rows}

    def _every(self) -> dict[str, dict[str, Any]]:
        where = str(self._stem), self._scale
        return once(("files", *where), lambda: _records(self._stem, self._scale, _stamp(self._stem)))


def _stamp(stem: Path) -> int:
    """Tell one state of the files from another: the manifest is among the last that are written."""
    try:
        return stem.with_name(f"{stem.name}.json").stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=256)
def _records(stem: Path, scale: str, _stamp: int) -> dict[str, dict[str, Any]]:
    """The record of every cell by its identity; keys have the sources of all cells."""
    try:
        manifest = read_json(stem.with_name(f"{stem.name}.json"))
        if manifest.get("scale") != scale or not manifest["cells"]:
            return {}
        text, packed = (intact(stem, suffix, manifest) for suffix in (".csv", ARCHIVE))
        rows: dict[tuple, list[dict[str, Any]]] = {}
        for row in parse(text.decode()):
            rows.setdefault(_place(row), []).append(row)
        samples = {_name(each): each for each in json.loads(packed)["samples"]}
        places = Counter(_place(cell) for cell in manifest["cells"])  # rows tell cells apart by these alone
        keys = keys_of(manifest)
        found = {
            _name(cell): _whole(cell, rows[_place(cell)], samples.get(_name(cell), {}), manifest, keys)
            for cell in manifest["cells"] if places[_place(cell)] == 1 and _place(cell) in rows
        }  # fmt: skip
        return {name: record for name, record in found.items() if record is not None}
    except DAMAGED:
        return {}


def keys_of(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the distinct keys of the cells."""
    parts = ("code", "kernels", "data", "machine")
    if not all(isinstance(key[part], dict) for key in manifest["keys"] for part in parts):
        raise ValueError("a key is damaged")
    return manifest["keys"]


def intact(stem: Path, suffix: str, manifest: Mapping[str, Any]) -> bytes:
    """Return what one of the files holds.

    Raises `ReproError` when it is not the one that the manifest was written with.
    """
    path = stem.with_name(f"{stem.name}{suffix}")
    found = content(path)
    if digest(found) != manifest["files"][suffix]:
        raise ReproError(
            f"{path} is not the one that its manifest was written with. It was edited, or a run was stopped while it "
            "wrote; the same `repro run` on that machine writes it anew"
        )
    return found


def _whole(cell, rows, *of_it) -> dict[str, Any] | None:
    """Return a cell's record; None where it lacks something, or samples of a row that is a median of some."""
    try:
        record = _record(cell, rows, *of_it)
        rounds = record.get("rounds", ())
        is_sampled = all(taken_of(rounds, named(row, cell["parameters"])) for row in rows if row["n"])
        return record if is_sampled and not lacking(record) else None
    except DAMAGED:
        return None


def _timed(since: Mapping[str, Any]) -> dict[str, Any]:
    return {**since, "finished": datetime.fromisoformat(since["date"]).timestamp()}


def _record(cell, rows, taken, manifest, keys) -> dict[str, Any]:
    key, digests = keys[cell["key"]], cell.get("digests", manifest["data"])
    key = {**key, "data": {name: key["data"][name] for name in cell["data"] if name in key["data"]}}
    since = {"since": _timed(cell["since"])} if "since" in cell else {}
    devices, rounds = {row["device"] for row in rows}, taken.get("rounds")
    return {
        "artefact": manifest["artefact"], "scale": manifest["scale"], "status": cell["status"],
        "reason": cell["reason"], "identity": {name: cell[name] for name in IDENTITY},
        "overrides": dict(manifest["overrides"]),
        "key": key, "uses": list(cell.get("uses", ())),
        "revision": cell.get("revision"), "command": cell.get("command", ""), "rows": rows,
        "samples": rounds[-1]["samples"] if rounds else {}, "checks": cell["checks"],
        "digests": {name: digests[name] for name in cell["data"] if name in digests},
        "clocks": {f"{each['backend']}: {each['name']}": each for each in manifest["devices"]
                   if each["name"] in devices},
        "notes": cell["notes"], "seconds": cell["seconds"], "traceback": "", "date": cell["date"],
        "finished": datetime.fromisoformat(cell["date"]).timestamp(), **since,
        **({"rounds": rounds} if rounds else {}),
    }  # fmt: skip


def _place(cell: Mapping[str, Any]) -> tuple:
    return cell["case"], cell["method"], cell["backend"]


def _name(identity: Mapping[str, Any]) -> str:
    return json.dumps({name: identity[name] for name in IDENTITY}, sort_keys=True)
