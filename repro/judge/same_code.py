"""Whether the commits that measured a machine's results ran the same code, and whether HEAD has it.

Code is what a key has of it: code, kernels, the recipes of data and the protocol of timing. Results of other code stay
valid for their commit: this is told, and is no problem.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repro.cache.lacking import shortened
from repro.grouping import grouped
from repro.judge import provenance, trees
from repro.judge.provenance import PARTS, PROTOCOL, Answers, Measured, Part

FEW = 2  # files that are named


def of_head(every: Sequence[Measured], answers: Mapping[str, Answers | trees.NotAsked]) -> list[str]:
    """Say for each machine how many of its cells and rounds are of HEAD's code, and by artefact what differs.

    Parameters
    ----------
    every : sequence of Measured
    answers : mapping
        What `repro.judge.provenance.ask` returned of them. HEAD is asked once, after the other commits: it finds on
        disk the kernels that they preprocessed.
    """
    parts = {part for each in every for part in each.parts}
    head = provenance.of_tree("HEAD", parts) if parts else {}
    if isinstance(head, trees.NotAsked):
        return [f"whether HEAD has the code of the results is not known: {head}"]
    others = {commit: _others(there, head) for commit, there in answers.items() if isinstance(there, Mapping)}
    return [line for machine, own in _by_machine(every).items() for line in _lines(machine, own, others)]


def _lines(machine: str, every: Sequence[Measured], others: Mapping[str | None, set[Part]]) -> Iterable[str]:
    known = [(each, {_name(*part[:2]) for part in each.parts if part in others[each.commit]})
             for each in every if each.commit in others]  # fmt: skip
    last = [names for each, names in known if each.is_last]
    there, here = (sum(not names for names in found) for found in (last, [names for _, names in known]))
    lost = f"; {len(every) - len(known):,} more are of commits that cannot be asked" if len(known) < len(every) else ""
    yield (f"{machine}: HEAD has the code of the last rounds of {there:,} of {len(last):,} cells, and of {here:,} of "
           f"all {len(known):,} rounds{lost}")  # fmt: skip
    cells = grouped((each.file.partition("/")[2], (each.cell, names)) for each, names in known if names)  # that differ
    files = grouped(
        (shortened(sorted(set().union(*(names for _, names in found))), FEW), f"{file} ({len(dict(found)):,})")
        for file, found in cells.items()
    )
    for names, found in files.items():
        yield f"  HEAD has another {names} than cells of {', '.join(found)}"


def _others(there: Answers, head: Answers) -> set[Part]:
    """Return the parts of keys that HEAD has otherwise than a commit, or than they are stored.

    Of data the commit's tree alone counts: the packages that build them may be of another version here.
    """
    return {
        part for part, entry in head.items()
        if (part in there and _counting(part, there[part]) != _counting(part, entry))
        or (part.part != "data" and _counting(part, json.loads(part.entry)) != _counting(part, entry))
    }  # fmt: skip


def of_commits(every: Iterable[Measured]) -> dict[str, str]:
    """Say for each machine how many commits measured it, and whether the keys of several of them have the same code.

    Nothing but what is stored is asked. The key of a cell is of its last round.
    """
    return {machine: said for machine, own in _by_machine(every).items() if (said := _of_commits(own))}


def _of_commits(every: Sequence[Measured]) -> str:
    commits = {each.commit for each in every if each.commit}
    last = {each.commit for each in every if each.commit and each.is_last}
    if len(commits) < 2:
        return "One commit measured it." if commits else ""
    entries: dict[tuple, dict[str, set[str]]] = {}  # by what a key names: commits by the hash
    named = ((part, each.commit) for each in every if each.is_last and each.commit for part in each.parts)
    for part, commit in dict.fromkeys(named):  # most cells of an artefact name the same
        if part.part in PARTS:
            entry = json.loads(part.entry)
            names = tuple(entry.get("names", ())) if isinstance(entry, Mapping) else ()
            place = part.part, part.name, names, part.scale if part.part == "data" else ""
            now = json.dumps(_counting(part, entry), sort_keys=True)
            entries.setdefault(place, {}).setdefault(now, set()).add(commit)
    shared = {place: found for place, found in entries.items() if len(set().union(*found.values())) > 1}
    odd = [_name(*place[:2]) for place, found in shared.items() if len(found) > 1]
    same = f"all but {len(odd):,} ({shortened(list(dict.fromkeys(odd)), FEW)}) are" if odd else "all are"
    told = f"Rounds are of {len(commits)} commits, the last ones of {len(last)} of these."
    told += f" The keys name {len(entries):,} files, kernels and datasets."
    return (
        f"{told} {len(shared):,} of these stand in keys of several commits, and {same} alike there." if shared else told
    )


def _by_machine(every: Iterable[Measured]) -> dict[str, list[Measured]]:
    """Return rounds by the folder of results that they stand in."""
    return grouped((each.file.partition("/")[0], each) for each in every)


def _counting(part: Part, entry: Any) -> Any:
    """Return what of an entry counts: of a kernel its text as compilers see it."""
    return entry["preprocessed"] if part.part == "kernels" and entry is not None else entry


def _name(part: str, name: str) -> str:
    if part == PROTOCOL:
        return "protocol of timing"
    return f"dataset {name}" if part == "data" else name.partition(" ")[0]
