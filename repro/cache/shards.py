"""A run spread over machines of one kind: cells are independent, so each shard is a list of them, balanced by time."""

from __future__ import annotations

import heapq
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repro.discovery import UnknownName
from repro.model import ReproError
from repro.run.runner import Job
from repro.settings import Settings

FORMAT = "repro plan 1"


def split(jobs: Sequence[Job], settings: Settings, count: int, force: bool = False) -> list[dict[str, Any]]:
    """Return shards of the cells that have to be measured.

    The longest cells are dealt out first, each to the shard with the least to do. A cell that several artefacts show
    is in one shard only.

    Parameters
    ----------
    jobs : sequence of Job
    settings : Settings
    count : int
        Of shards; one without cells is left out.
    force : bool
        Cells that are done, too.

    Returns
    -------
    list of dict
        ``artefacts``: ids; ``cells``: file names within the store; ``seconds``: what they should take together.
    """
    if count < 1:
        raise ReproError(f"{count} shards cannot be made")
    expected: dict[str, tuple[float, str]] = {}
    for job in jobs:
        for task in job.pending(force):
            name = task.path.relative_to(settings.store.cells).as_posix()
            expected.setdefault(name, (job.expected_seconds(task, settings.scale), job.artefact.id))
    shards = [{"artefacts": [], "cells": [], "seconds": 0.0} for _ in range(count)]
    queue = [(0.0, number) for number in range(count)]
    for name, (seconds, artefact) in sorted(expected.items(), key=lambda entry: (-entry[1][0], entry[0])):
        load, number = heapq.heappop(queue)
        shard = shards[number]
        shard["cells"].append(name)
        if artefact not in shard["artefacts"]:
            shard["artefacts"].append(artefact)
        shard["seconds"] = load + seconds
        heapq.heappush(queue, (shard["seconds"], number))
    return [shard for shard in shards if shard["cells"]]


def document(shards: Sequence[dict], settings: Settings) -> dict[str, Any]:
    """Return a plan as it is written to a file."""
    return {
        "format": FORMAT, "scale": settings.scale, "seed": settings.seed, "meshes": dict(settings.overrides),
        "shards": list(shards),
    }  # fmt: skip


def read(path: Path, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a plan and one of its shards, counted from 1.

    Raises
    ------
    UnknownName
        If the file is no plan, or has no such shard: the command is wrong.
    """
    try:
        plan = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise UnknownName(f"{path} cannot be read as a plan: {error}") from error
    if not _is_plan(plan):
        raise UnknownName(f"{path} is no plan of this version; `repro plan` makes one")
    if not 1 <= number <= len(plan["shards"]):
        raise UnknownName(f"{path} has the shards 1 to {len(plan['shards'])}, and no shard {number}")
    return plan, plan["shards"][number - 1]


def _is_plan(plan: Any) -> bool:
    """Return whether a file's content has what `document` writes, so that a damaged plan is no traceback."""
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        return False
    kinds = {"scale": str, "seed": int, "meshes": dict, "shards": list}
    if not all(isinstance(plan.get(name), kind) for name, kind in kinds.items()):
        return False
    return all(
        isinstance(shard, dict)
        and all(
            isinstance(shard.get(part), list) and all(isinstance(name, str) for name in shard[part])
            for part in ("artefacts", "cells")
        )
        for shard in plan["shards"]
    )


SNAKEFILE = """# Made by `repro plan`: {count} shards of {cells} cells. On this machine, two at a time or on a cluster:
#   snakemake --snakefile {name} --cores 2
#   snakemake --snakefile {name} --executor slurm --jobs {count}
# A shard that is stopped goes on where it was. Cells on one machine wait for one another, so that no time is disturbed.
SHARDS = range(1, {count} + 1)
DONE = {done!r}
# Words as the shell reads them.
REPRO = {repro!r}
PLAN = {plan!r}
RESULTS = {found!r}
INTO = {into!r}

rule merged:
    input: expand(DONE, number=SHARDS)
    shell: REPRO + " merge " + " ".join(RESULTS + str(n) for n in SHARDS) + " --into " + INTO

rule shard:
    output: touch(DONE)
    resources: runtime={minutes}
    shell: REPRO + " run --shard " + PLAN + " {{wildcards.number}} --results " + RESULTS + "{{wildcards.number}}"
"""

SLURM = """#!/bin/bash
# Made by `repro plan`: {count} shards of {cells} cells, as an array; then what they found is merged into {into}.
#   job=$(sbatch --parsable {name})
#   sbatch --dependency=afterok:$job --wrap {merge}
#SBATCH --job-name=repro
#SBATCH --array=1-{count}
#SBATCH --time={minutes}
#SBATCH --exclusive
{repro} run --shard {plan} "$SLURM_ARRAY_TASK_ID" --results {found}"$SLURM_ARRAY_TASK_ID"
"""


def workflow(template: str, plan: Path, target: Path, shards: Sequence[dict], repro: str, into: Path) -> str:
    """Return a Snakefile or a Slurm script that runs a plan's shards and merges what they found.

    Parameters
    ----------
    template : str
        `SNAKEFILE` or `SLURM`.
    plan, target : Path
        The plan's file and the script's own; the shards' results lie beside the latter.
    shards : sequence of dict
    repro : str
        The command, as the shell reads it.
    into : Path
        The results folder at the end.

    Raises
    ------
    UnknownName
        If a path has what the script cannot name.
    """
    longest = max(shard["seconds"] for shard in shards)
    work = target.resolve().with_name(f"{target.stem}-shards")
    words = {
        "name": shlex.quote(target.name), "repro": repro, "plan": shlex.quote(str(plan.resolve())),
        "found": shlex.quote(f"{work}/results-"), "into": shlex.quote(str(into.resolve())),
    }  # fmt: skip
    # A comment ends with its line; in names of files Snakemake takes what is in braces for a wildcard, however written.
    refused = "\n\r{}" if template is SNAKEFILE else "\n\r"
    for word in words.values():
        if found := [character for character in refused if character in word]:
            raise UnknownName(f"{target.name!r} cannot name {word!r}, which has {found[0]!r}: take another folder")
    return template.format(
        **words, count=len(shards), cells=sum(len(shard["cells"]) for shard in shards),
        done=f"{work}/shard-{{number}}.done",
        merge=shlex.quote(f"{repro} merge {words['found']}* --into {words['into']}"),
        minutes=max(10, round(3 * longest / 60)),
    )  # fmt: skip
