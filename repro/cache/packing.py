"""Manifests as files hold them: what many cells have alike stands there once, a line an entry.

- ``parts``: distinct entries of keys, as ``[part, name, entry]``; a key names its own by their places, as ``0-15 18``.
- ``texts``: long texts of kernels, as flags and tables of constants; ``origins``: commit, host and command of cells;
  ``notes`` on them.
- What most cells have alike, as no reason, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from repro.model import DONE

MAPPINGS = ("code", "kernels", "data", "machine")  # the parts of a key that have entries by name
ORIGIN = ("revision", "command")
USUAL: dict[str, Any] = {"status": DONE, "parameters": {}, "reason": "", "notes": [], "uses": [], "checks": []}
CHECK = ("what", "error", "tolerance")
TEXT, LONG = "@", 40  # letters of a text from which on it stands apart
LINES = ("parts", "keys", "cells", "origins", "notes", "texts")  # whose entries have a line each


class _Distinct:
    """Values, each once, in the order in which they come."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, value: Any) -> int:
        text = json.dumps(value, sort_keys=True)
        if text not in self._places:
            self._places[text] = len(self.values)
            self.values.append(value)
        return self._places[text]


def packed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as its file holds it."""
    parts, texts, origins, notes = (_Distinct() for _ in range(4))
    keys = []
    for key in manifest["keys"]:
        entries = ((part, name, entry) for part in MAPPINGS for name, entry in key.get(part, {}).items())
        places = [parts.place([part, name, _with_places(entry, texts)]) for part, name, entry in entries]
        keys.append({**{name: value for name, value in key.items() if name not in MAPPINGS}, "parts": _ranges(places)})
    cells = []
    for cell in manifest["cells"]:
        shown = {name: value for name, value in cell.items() if name not in ORIGIN and USUAL.get(name) != value}
        shown["origin"] = origins.place({name: cell.get(name) for name in ORIGIN})
        if "notes" in shown:
            shown["notes"] = [notes.place(note) for note in cell["notes"]]
        if "checks" in shown:
            shown["checks"] = [[each[name] for name in CHECK] for each in cell["checks"]]
        cells.append(shown)
    shared = {"parts": parts, "texts": texts, "origins": origins, "notes": notes}
    return {**manifest, "cells": cells, "keys": keys, **{name: each.values for name, each in shared.items()}}


def unpacked(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `packed` was given; any other manifest as it is."""
    if "parts" not in manifest:
        return dict(manifest)
    texts, notes = manifest["texts"], manifest["notes"]
    entries = [(part, name, _with_texts(entry, texts)) for part, name, entry in manifest["parts"]]
    keys = []
    for packed_key in manifest["keys"]:
        key = {**{part: {} for part in MAPPINGS}, **packed_key}
        for place in _places(key.pop("parts")):
            part, name, entry = entries[place]
            key[part][name] = entry
        keys.append(key)
    cells = []
    for shown in manifest["cells"]:
        cell = {**{name: type(value)(value) for name, value in USUAL.items()}, **shown}
        cell |= manifest["origins"][cell.pop("origin")]
        cell["notes"] = [notes[place] for place in cell["notes"]]
        cell["checks"] = [dict(zip(CHECK, each, strict=True)) for each in cell["checks"]]
        cells.append(cell)
    left = {name: value for name, value in manifest.items() if name not in ("parts", "texts", "origins", "notes")}
    return {**left, "cells": cells, "keys": keys}


def as_text(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as JSON, each entry of its long lists on a line."""
    lines = []
    for name, value in manifest.items():
        text = json.dumps(value)
        if name in LINES and value:
            text = "[\n" + ",\n".join(json.dumps(each) for each in value) + "\n]"
        lines.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _with_places(entry: Any, texts: _Distinct) -> Any:
    """Return an entry with its long texts, and those of mappings in it, in `texts`."""
    if isinstance(entry, dict):
        return {name: _with_places(value, texts) for name, value in entry.items()}
    return {TEXT: texts.place(entry)} if isinstance(entry, str) and len(entry) > LONG else entry


def _with_texts(entry: Any, texts: list[str]) -> Any:
    if not isinstance(entry, dict):
        return entry
    if entry.keys() == {TEXT}:
        return texts[entry[TEXT]]
    return {name: _with_texts(value, texts) for name, value in entry.items()}


def _ranges(places: Iterable[int]) -> str:
    """Return numbers as text, those that follow one another as a range."""
    order = sorted(places)
    starts = [order[0]] if order else []
    words = []
    for before, place in pairwise(order):
        if place != before + 1:
            words.append((starts[-1], before))
            starts.append(place)
    if order:
        words.append((starts[-1], order[-1]))
    return " ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in words)


def _places(text: str) -> Iterable[int]:
    for word in text.split():
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)
