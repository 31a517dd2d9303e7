"""A run spread over machines of one kind: cells are independent, so each shard is a list of them, balanced by time."""

from __future__ import annotations

import heapq
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repro.model import ReproError
from repro.runner import Job
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
    ReproError
        If the file is no plan, or has no such shard.
    """
    try:
        plan = json.loads(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ReproError(f"{path} cannot be read as a plan: {error}") from error
    if not isinstance(plan, dict) or plan.get("format") != FORMAT:
        raise ReproError(f"{path} is no plan of this version; `repro plan` makes one")
    if not 1 <= number <= len(plan["shards"]):
        raise ReproError(f"{path} has the shards 1 to {len(plan['shards'])}, and no shard {number}")
    return plan, plan["shards"][number - 1]


SNAKEFILE = """# Made by `repro plan`: {count} shards of {cells} cells. On this machine, two at a time or on a cluster:
#   snakemake --snakefile {name} --cores 2
#   snakemake --snakefile {name} --executor slurm --jobs {count}
# A shard that is stopped goes on where it was. Cells on one machine wait for one another, so that no time is disturbed.
SHARDS = range(1, {count} + 1)

rule merged:
    input: expand("{work}/shard-{{number}}.done", number=SHARDS)
    shell: "{repro} merge " + " ".join(f"{work}/results-{{n}}" for n in SHARDS) + " --into {into}"

rule shard:
    output: touch("{work}/shard-{{number}}.done")
    resources: runtime={minutes}
    shell: "{repro} run --shard {plan} {{wildcards.number}} --results {work}/results-{{wildcards.number}}"
"""

SLURM = """#!/bin/bash
# Made by `repro plan`: {count} shards of {cells} cells, as an array; then what they found is merged into {into}.
#   job=$(sbatch --parsable {name})
#   sbatch --dependency=afterok:$job --wrap "{repro} merge {work}/results-* --into {into}"
#SBATCH --job-name=repro
#SBATCH --array=1-{count}
#SBATCH --time={minutes}
#SBATCH --exclusive
{repro} run --shard {plan} "$SLURM_ARRAY_TASK_ID" --results "{work}/results-$SLURM_ARRAY_TASK_ID"
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
        The command.
    into : Path
        The results folder at the end.
    """
    longest = max(shard["seconds"] for shard in shards)
    return template.format(
        count=len(shards), cells=sum(len(shard["cells"]) for shard in shards), name=target.name, repro=repro,
        plan=plan.resolve(), work=target.resolve().with_name(f"{target.stem}-shards"), into=into.resolve(),
        minutes=max(10, round(3 * longest / 60)),
    )  # fmt: skip
