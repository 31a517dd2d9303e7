"""Rounds in which each machine measured its cells, with hosts and days: intervals and verdicts are made of them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from repro.run.rounds import commit_of
from repro.run.state import ON_CORES
from repro.show.measurements import SCALE_ORDER, Measurement

PROCESSOR, MANY = "processor", 3
HEADINGS = ["scale", "paper", "where", "cells", "one round", "two", "three or more",
            "rounds on several hosts", "of several days", "minutes", "days"]  # fmt: skip
OF_HOSTS = ["host", "first cell began", "last cell began", "commit", "first rounds", "second", "third or later"]

Place = tuple[str, str, str, str]  # machine, scale, paper, and the back end or the processor
Rounds = Sequence[Mapping[str, Any]]  # of a cell, as its archive has them


def cells_of(found: Iterable[Measurement]) -> dict[Place, dict[tuple, Rounds]]:
    """Return the rounds of each place's cells by what names them, in order; of a cell of several artefacts once.

    Of two artefacts' cells that differ in nothing but what they measured either counts, as a product and a solve. A
    processor's are named by its model and the number of its cores, too.
    """
    cells: dict[Place, dict[tuple, Rounds]] = {}
    for each in found:
        if each.overrides or each.beside(".json") is None:  # which `repro verify` names
            continue
        paper, archive = each.artefact.partition("-")[0], each.archive
        machine = {_name(cell): archive["keys"][cell["key"]]["machine"] for cell in archive["cells"] if "key" in cell}
        for cell in archive["samples"]:
            where, name, facts = cell["backend"], _name(cell), ()
            if where in ON_CORES:
                where, facts = PROCESSOR, [machine[name].get(fact) for fact in ("cpu", "cores")]
            name = (*name, *sorted(cell["rounds"][0]["samples"]), *facts)
            own = cells.setdefault((each.machine, each.scale, paper, where), {})
            own[name] = max(own.get(name, ()), cell["rounds"], key=len)
    order = sorted(cells, key=lambda key: (key[0], SCALE_ORDER.index(key[1]), *key[2:]))
    return {key: cells[key] for key in order}


def _name(cell: Mapping[str, Any]) -> tuple[str, ...]:
    return cell["case"], cell["method"], cell["backend"], json.dumps(cell["parameters"], sort_keys=True)


def tables(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> str:
    """Return two tables a machine, below its name: its cells by rounds, hosts and days, and the rounds of each host."""
    parts = []
    for machine in dict.fromkeys(place[0] for place in cells):
        own = {place: rounds for place, rounds in cells.items() if place[0] == machine}
        parts += [f"### {machine}", _often(own), _of_hosts(own)]
    return "\n\n".join(parts)


def _often(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> str:
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---|" + "---:|" * (len(HEADINGS) - 4) + "---|"]
    return "\n".join([*lines, *("| " + " | ".join(_row(key, list(own.values()))) + " |" for key, own in cells.items())])


def _row(key: Place, cells: Sequence[Rounds]) -> list[str]:
    counts = [min(len(rounds), MANY) for rounds in cells]
    hosts = [{each["host"] for each in rounds} for rounds in cells]
    dates = [{each["date"][:10] for each in rounds} for rounds in cells]
    several = (sum(len(each) > 1 for each in found) for found in (hosts, dates))
    days = sorted(set().union(*dates))
    minutes = sum(rounds[-1]["seconds"] for rounds in cells) / 60
    numbers = [len(cells), *(counts.count(count) for count in range(1, MANY + 1)), *several, round(minutes)]
    _, scale, paper, where = key
    spans = " to ".join(dict.fromkeys([days[0], days[-1]]))
    return [f"`{scale}`", f"`{paper}`", where, *(f"{number:,}" for number in numbers), spans]


def _of_hosts(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> str:
    told: dict[str, list[tuple[str, str, str, int]]] = {}
    for (_, scale, paper, where), own in cells.items():
        what = f"`{paper}` {where}" + f" at `{scale}`" * (scale != "paper")
        for number, each in ((k, each) for rounds in own.values() for k, each in enumerate(rounds, 1)):
            told.setdefault(each["host"], []).append((each["date"], commit_of(each), what, min(number, MANY)))
    lines = ["| " + " | ".join(OF_HOSTS) + " |", "|---" * len(OF_HOSTS) + "|"]
    for host, found in sorted(told.items(), key=lambda each: min(each[1])):
        began, last = (f"{each:.16}".replace("T", " ") for each in (min(found)[0], max(found)[0]))
        commits = ", ".join(dict.fromkeys(commit for _, commit, *_ in sorted(found)))
        counts = [Counter(what for _, _, what, number in found if number == k) for k in range(1, MANY + 1)]
        texts = ("; ".join(f"{what} {count:,}" for what, count in sorted(each.items())) for each in counts)
        lines.append("| " + " | ".join([f"`{host}`", began, last, commits, *texts]) + " |")
    return "\n".join(lines)
