"""Changes of code, kernels or libraries that are believed not to matter: files of their own, with why, and a sample.

A belief maps what components of keys were to what they are, and holds for them alone.
"""

import functools
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from repro.model import ReproError


class Change(NamedTuple):
    """A component of a key that is another now; hashes and versions are text, empty of what is or was not there."""

    part: str
    name: str
    old: str
    new: str


Beliefs = Mapping[tuple[str, str, str], tuple[str, ...]]  # by part, name and what it was: what it became


def text_of(entry: Any) -> str:
    """Return a component as text: its hash, of what has several all of it."""
    if entry is None:
        return ""
    return entry if isinstance(entry, str) else json.dumps(entry, sort_keys=True)


def holds(change: Change, beliefs: Beliefs) -> bool:
    """Return whether a change is believed not to matter, in one step or several."""
    seen, todo = set(), [change.old]
    while todo:
        state = todo.pop()
        if state == change.new:
            return True
        if state not in seen:
            seen.add(state)
            todo += beliefs.get((change.part, change.name, state), ())
    return False


def read(folder: Path) -> Beliefs:
    """Return the beliefs that a machine's folder has.

    Raises `ReproError` when a file of them is damaged.
    """
    files = sorted((folder / "beliefs").glob("*.toml"))
    return _read(tuple((path, path.stat().st_mtime_ns) for path in files))


def relied_on(changes: Iterable[Change], folder: Path) -> list[dict[str, Any]]:
    """Return the facts of the beliefs by which some changes do not matter, with the names of their files."""
    believed, steps = read(folder), set()
    for change in changes:
        todo = [change.old]
        while todo:
            step = change.part, change.name, todo.pop()
            if step not in steps:
                steps.add(step)
                todo += believed.get(step, ())
    found = []
    for path in sorted((folder / "beliefs").glob("*.toml")):
        stored = tomllib.loads(path.read_text(encoding="utf-8"))
        if any((each["part"], each["name"], each["old"]) in steps for each in stored["changes"]):
            found.append({**stored, "file": path.name})
    return found


@functools.lru_cache(maxsize=16)
def _read(files: tuple[tuple[Path, int], ...]) -> Beliefs:
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for path, _ in files:
        try:
            for each in tomllib.loads(path.read_text(encoding="utf-8"))["changes"]:
                place = each["part"], each["name"], each["old"]
                found[place] = (*found.get(place, ()), each["new"])
        except (tomllib.TOMLDecodeError, LookupError, TypeError) as error:
            raise ReproError(f"{path} is no belief: {error}") from None
    return found


def as_toml(facts: Mapping[str, Any], changes: Iterable[Change], sample: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of a belief's file."""
    lines = [f"{name} = {_value(value)}" for name, value in facts.items()]
    tables = [("changes", each._asdict()) for each in changes] + [("sample", each) for each in sample]
    for table, entries in tables:
        lines += ["", f"[[{table}]]", *(f"{name} = {_value(value)}" for name, value in entries.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    return repr(value) if isinstance(value, float) else json.dumps(value)
