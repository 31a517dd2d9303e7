"""Whether stored ceilings are what their probes come to, and what they were when they were first committed."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from repro.cache.store import read_json
from repro.judge import trees
from repro.run.ceilings import Ceilings, from_probes


def check(path: Path) -> Iterator[str]:
    """Yield what is not as it should be with a machine's ceilings.

    Raises `ReproError` when the file is damaged.
    """
    before = _committed(path)
    for place, entry in read_json(path).items():
        ceilings = Ceilings(**entry["ceilings"])
        if from_probes(ceilings.device, ceilings.probes) != ceilings:
            yield f"the ceilings of {place} are not what their probes come to"
        commit, first = before.get((place, entry["measured"]), ("", entry))
        if first != entry:
            yield f"the ceilings of {place} are not those of commit {commit[:12]}, which has them first"


def _committed(path: Path) -> dict[tuple[str, float], tuple[str, Mapping[str, Any]]]:
    """Return every entry that git has had of a file, by place and time, with the first commit that has it.

    Nothing where git is not here, or has never had the file.
    """
    found: dict[tuple[str, float], tuple[str, Mapping[str, Any]]] = {}
    path = path.resolve()  # what is committed is also shown by links, in a folder that git knows nothing of
    try:
        kept = "--diff-filter=AM"  # not the commits that removed it
        log = trees.git(path.parent, "log", "--reverse", kept, "--format=%H", "--", path.name)
        for commit in log.decode().split():
            stored = json.loads(trees.git(path.parent, "show", f"{commit}:./{path.name}"))
            for place, entry in stored.items():
                found.setdefault((place, entry["measured"]), (commit, entry))
    except trees.NotAsked:
        return {}
    return found
