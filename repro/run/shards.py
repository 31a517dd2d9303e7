"""A run spread over machines of one kind: each works out alike which cells are whose, and measures its own."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace

from repro.cache.plan import Task
from repro.discovery import UnknownName
from repro.run.runner import Job

Group = tuple[str, str]  # the artefact that measures, and the case


def parse(text: str) -> tuple[int, int]:
    """Read ``2/8``, the second of eight shards.

    Raises
    ------
    UnknownName
        If it is none.
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise UnknownName(f"--shard takes the number of a shard and how many there are, as in 2/8; {text!r} is none")
    return int(number), int(count)


def share(jobs: Iterable[Job], scale: str, number: int, count: int) -> list[Job]:
    """Return the jobs with those wanted cells alone that are in one shard, counted from 1.

    The cells of a case stay together: they share its set-up, and their ratios are then of one machine. The longest
    cases are dealt out first, each to the shard with the least to do, by the minutes that artefacts state: what was
    measured until now differs between machines, and with every cell that is done. A cell that several artefacts show
    is in one shard only. Artefacts that cannot be run are in all of them.
    """
    jobs = list(jobs)
    expected: dict[Group, dict[str, float]] = {}
    for job in jobs:
        for task in job.wanted:
            expected.setdefault(_group(task), {}).setdefault(task.path.name, job.stated_seconds(scale))
    mine = _deal({group: sum(cells.values()) for group, cells in expected.items()}, count)[number - 1]
    own = (replace(job, wanted=[task for task in job.wanted if _group(task) in mine]) for job in jobs)
    return [job for job in own if job.wanted or job.problem]


def _deal(seconds: dict[Group, float], count: int) -> Sequence[set[Group]]:
    shards: list[set[Group]] = [set() for _ in range(count)]
    queue = [(0.0, number) for number in range(count)]
    for group in sorted(seconds, key=lambda group: (-seconds[group], group)):
        load, number = heapq.heappop(queue)
        shards[number].add(group)
        heapq.heappush(queue, (load + seconds[group], number))
    return shards


def _group(task: Task) -> Group:
    return task.artefact.id, task.cell.case
