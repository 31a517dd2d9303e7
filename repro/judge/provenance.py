"""Checks whether the keys of stored results are the keys of the commits that they name."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from repro import environment
from repro.cache import beliefs
from repro.cache.beliefs import Beliefs, Change
from repro.judge import trees

WRONG, UNPROVEN, NOT_CHECKED = "wrong", "unproven", "not checked"
NO_COMMIT = "measured outside a checkout of git: nothing says by which sources"
DIRTY = "measured by sources that had changes which no commit has"
PARTS = ("code", "kernels", "data")  # of a key, that every tree tells
PROTOCOL = "protocol"  # which trees tell since `repro.cache.recompute` does
FEW = 2  # cells that are named


class Part(NamedTuple):
    """An entry of a key, as JSON text so that equal ones are equal."""

    part: str
    name: str
    entry: str
    scale: str


Answers = Mapping[Part, Any]  # what parts of keys are in a commit's tree


@dataclass(frozen=True)
class Measured:
    """A round of a cell, and what its file says that it depended on."""

    #: `file`, `cell`: as in a `repro.judge.verify.Problem`, and in words.
    file: str
    cell: str
    commit: str | None
    dirty: bool | None
    parts: tuple[Part, ...]
    believed: Beliefs  #: what the machine's folder has of beliefs
    is_last: bool = True  #: of the cell's rounds, whose key the cell has: that differs in nothing from the commit's


def parts_of(key: Mapping[str, Any], scale: str, own: Iterable[str]) -> tuple[Part, ...]:
    """Return the parts of a key that the tree of a commit tells; a user's own file in a dataset's place is in none."""
    return tuple(
        Part(part, name, json.dumps(entry, sort_keys=True), scale)
        for part in PARTS for name, entry in key.get(part, {}).items() if not (part == "data" and name in own)
    ) + ((Part(PROTOCOL, "timing", json.dumps(key[PROTOCOL]), scale),) if PROTOCOL in key else ())  # fmt: skip


def ask(every: Iterable[Measured]) -> dict[str, Answers | trees.NotAsked]:
    """Return what parts of keys are in the trees of the commits that measured them, or why a tree cannot be asked."""
    by_commit: dict[str, set[Part]] = {}
    for each in every:
        if each.commit:
            by_commit.setdefault(each.commit, set()).update(part for part in each.parts if part.part in PARTS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # a tree's answers are of a process of its own
        return dict(zip(by_commit, pool.map(of_tree, by_commit, by_commit.values()), strict=True))


def of_tree(commit: str, parts: Collection[Part]) -> Answers | trees.NotAsked:
    """Return what parts of keys are in the tree of a commit, None for what it has not; or why it cannot be asked."""
    asked = sorted(parts)
    try:
        entries = trees.parts(commit, [(*each[:2], json.loads(each.entry), each.scale) for each in asked])
    except trees.NotAsked as why:
        return why
    return dict(zip(asked, entries, strict=True))


def check(every: Sequence[Measured], answers: Mapping[str, Answers | trees.NotAsked]) -> list[tuple[str, str, str]]:
    """Return kind, file and words of what is not as it should be by what `ask` returned."""
    found = [(UNPROVEN, each.file, NO_COMMIT) for each in every if each.commit is None]
    for commit, answer in sorted(answers.items()):
        measured = [each for each in every if each.commit == commit]
        if isinstance(answer, trees.NotAsked):
            kind = UNPROVEN if isinstance(answer, trees.NotThere) else NOT_CHECKED
            found += [(kind, each.file, str(answer)) for each in measured]
        else:
            there = {part: entry for part, entry in answer.items() if _differs(part, entry)}
            found += _of_commit(commit, measured, there)
    return list(dict.fromkeys(found))


def _of_commit(commit: str, measured: Sequence[Measured], there: Mapping[Part, Any]) -> Iterable[tuple[str, str, str]]:
    odd: dict[tuple[str, str, Part], list[str]] = {}
    for each in measured:
        for part in each.parts:
            if part in there and (each.is_last or not _is_believed(part, there[part], each.believed)):
                kind = UNPROVEN if each.dirty else NOT_CHECKED if _is_of_packages(part) else WRONG
                odd.setdefault((kind, each.file, part), []).append(each.cell)
    for (kind, file, part), cells in odd.items():
        if kind == UNPROVEN:
            yield kind, file, DIRTY
        elif kind == NOT_CHECKED:
            yield kind, file, f"dataset {part.name} is built by packages of another version here"
        else:
            more = f" and {len(cells) - FEW} more" if len(cells) > FEW else ""
            counted = Counter(cells)
            yield kind, file, (f"the key of {', '.join(list(counted)[:FEW])}{more} has another {part.part} entry "
                               f"of {part.name} than commit {commit[:12]}")  # fmt: skip


def _differs(part: Part, now: Any) -> bool:
    stored = json.loads(part.entry)
    if part.part == "kernels" and now is not None:  # flags name this machine's compiler
        return any(stored[name] != now[name] for name in ("text", "preprocessed"))
    return stored != now


def _is_believed(part: Part, now: Any, believed: Beliefs) -> bool:
    """Whether what a commit has was believed not to matter, as of an earlier round of the cell."""
    stored = json.loads(part.entry)
    if part.part == "code":
        old, new = (beliefs.text_of(each["hash"] if isinstance(each, Mapping) else each) for each in (now, stored))
    elif part.part == "kernels" and now is not None:
        old, new = (beliefs.text_of([each["preprocessed"], stored["flags"]]) for each in (now, stored))
    else:
        return False
    return beliefs.holds(Change(part.part, part.name, old, new), believed)


def _is_of_packages(part: Part) -> bool:
    return part.part == "data" and bool(environment.dataset_packages(part.name))
