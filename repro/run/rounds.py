"""The rounds of a cell: its measurements in processes of their own, and the rows that they make together."""

import functools
import json
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from repro.judge import spread
from repro.model import DONE, ReproError
from repro.run.statistics import median, outliers
from repro.units import convert, is_rate, is_time, split

#: Fields of a record that each round has.
FIELDS = ("command", "date", "finished", "seconds", "samples")
COUNTS = ("", "count")  # units of facts, which are the same in each round
DIGITS = 12  # of a commit
FROM_TIMES = ("W", "J")  # units of what follows from times, beside theirs and rates
ROUNDING = 1e-5  # of a fact that is no whole number: sums on a GPU differ by the order of their terms
COUNTED = {"iterations", "cycles"}  # words of metrics that count until a residual is small enough, which rounding moves
SLACK = 0.02  # the share by which it may move such a count; a whole one by one at least
FOLLOW = "products"  # of such a count, by a factor
OF_A_PART = ("some_", "times_some_")  # beginnings of metrics of a long solve's part, whose length goes by its time


class Disagree(ReproError):
    """A fact differs between two rounds of a cell."""


def rounds_of(record: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return the rounds of a record; of one without samples that the files alone have, it is one itself."""
    if record is None or record["status"] != DONE:
        return []
    return list(record.get("rounds") or [alone(record, {})])


def commit_of(revision: Mapping[str, Any]) -> str:
    """Return the commit of a revision as rows have it: enough of its digits, and a plus where it had changes."""
    return (revision.get("commit") or "")[:DIGITS] + "+" * bool(revision.get("dirty"))


def count(record: Mapping[str, Any] | None) -> int:
    """Return how many rounds a record has."""
    return len(rounds_of(record))


def alone(record: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was just measured as a round."""
    revision = record.get("revision") or {}
    return {
        **{name: revision.get(name) for name in ("commit", "dirty", "host")},
        **{name: record.get(name) for name in FIELDS},
        "state": dict(state),
        "values": {named(row, record["identity"]["parameters"]): row["value"] for row in record["rows"]},
    }  # fmt: skip


def sampled(metric: str, own: Mapping[str, Any] | None) -> str:
    """Return the name of a row's samples: its metric, with the row's own parameters where it has some."""
    return " ".join([metric, json.dumps(dict(own), sort_keys=True)]) if own else metric


def named(row: Mapping[str, Any], of_cell: Mapping[str, Any]) -> str:
    """Return the name of a row's value and samples in a round; the cell's parameters are not its own."""
    own = {name: value for name, value in (row.get("parameters") or {}).items() if name not in of_cell}
    return sampled(row["metric"], own)


def together(
    before: Mapping[str, Any], record: Mapping[str, Any], chosen: Collection[str] = (), derived: Collection[str] = ()
) -> dict[str, Any]:
    """Return a record with the rounds of an earlier one and its own.

    Raises `Disagree` when the two have other facts.

    `chosen`: metrics that a cell chooses by timing, as the size of a block. Where two rounds chose differently, facts
    may follow from that. `derived`: counts that follow from times.
    """
    of_cell = record["identity"]["parameters"]
    old, new = ({named(row, of_cell): row for row in each["rows"]} for each in (before, record))
    if differ := differing(old, new, rounds_of(before)[0]["values"], chosen, derived):
        then, now = (f"{of[differ[0]]['value']:.15g}" if differ[0] in of else "not there" for of in (old, new))
        raise Disagree(f"{differ[0]} is {now}, and was {then} in an earlier round")
    rounds = [*rounds_of(before), *rounds_of(record)]
    rows = []
    for name, row in new.items():
        errors = [each["error"] for each in (row, old.get(name, row)) if each["error"] is not None]
        rows.append({**row, "error": max(errors, default=None)})
    return {**record, "rows": shown(rows, rounds, of_cell), "rounds": rounds}


def differing(
    old: Mapping[str, Any], new: Mapping[str, Any], first: Mapping[str, Any], chosen: Collection[str],
    derived: Collection[str],
) -> list[str]:  # fmt: skip
    """Return the names of facts that differ from the first or last round's, and of rows that are in one round alone.

    Rounding may move a count of iterations. Facts that follow from it may then differ by as much. Nothing is said where
    two rounds chose differently.

    `old`, `new`: rows by their names in a round. `first`: the first round's values. For the others see `together`.
    """
    apart, counts, others = [], {}, {}
    for name in sorted(old.keys() | new.keys()):
        row = new.get(name) or old[name]
        if row["metric"] in derived or row["metric"].startswith(OF_A_PART):
            continue
        if name not in old or name not in new:
            apart.append(name)
        elif row["unit"] in COUNTS and row["n"] is None:
            of = counts if COUNTED & {*row["metric"].split("_")} else others
            now = row["value"]
            of[name] = max(first.get(name, now), old[name]["value"], key=functools.partial(_move, now)), now
    moves = {name: _move(*values) for name, values in counts.items()}
    apart += [name for name, move in moves.items() if move > SLACK and not _is_one_apart(*counts[name])]
    moved = max(moves.values(), default=0.0)
    room = max(SLACK, moved) if moved else ROUNDING
    for name, values in others.items():
        is_size = FOLLOW not in name and all(float(value).is_integer() for value in values)
        if _move(*values) > (0.0 if is_size else room):
            apart.append(name)
    is_chosen = any((old.get(name) or new[name])["metric"] in chosen for name in apart)
    return [] if is_chosen else sorted(apart)


def _move(old: float, new: float) -> float:
    """Return by which share of the larger one two numbers differ; infinity where one alone is no number."""
    if old == new:
        return 0.0
    return abs(new - old) / max(abs(new), abs(old)) if math.isfinite(new) and math.isfinite(old) else math.inf


def _is_one_apart(old: float, new: float) -> bool:
    """Return whether two numbers are whole ones beside each other."""
    return abs(new - old) == 1 and float(new).is_integer()


def of_rounds(unit: str | None, values: Sequence[float | None]) -> float | None:
    """Return the value of a row without samples by its rounds': the median of what follows from times, or the last.

    Sizes and ratios are the last round's: they belong to what a cell chose in it.
    """
    unit = unit or ""
    is_derived = is_time(unit) or is_rate(unit) or split(unit)[1] in FROM_TIMES
    return median(values) if is_derived and None not in values else values[-1]


def shown(
    rows: Sequence[Mapping[str, Any]], rounds: Sequence[Mapping[str, Any]], of_cell: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return rows of a cell with its parameters, with the value, interval and counts that the rounds give together."""
    return [_shown(row, named(row, of_cell), rounds) for row in rows]


def summarised(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a record as today's rule for intervals has them; of one that knows no rounds, as they are."""
    if record["status"] != DONE or not record.get("rounds"):
        return list(record["rows"])
    return shown(record["rows"], record["rounds"], record["identity"]["parameters"])


def _shown(row: Mapping[str, Any], name: str, rounds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    last = rounds[-1]
    origin = {
        "rounds": len(rounds), "host": last["host"] or "", "date": last["date"],
        "commit": commit_of(last),
    }  # fmt: skip
    taken = taken_of(rounds, name)
    if not taken:
        values = [each["values"].get(name) for each in rounds]
        return {**row, **origin, "value": row["value"] if None in values else of_rounds(row["unit"], values)}
    medians = [median(each["seconds"]) for each in taken]
    low, high = spread.of_samples(taken, row["backend"])
    seconds = {"value": median(medians), "ci_low": low, "ci_high": high}
    return {
        **row, **origin, **{column: convert(value, "s", row["unit"]) for column, value in seconds.items()},
        "n": sum(len(each["seconds"]) for each in taken),
        "outliers": sum(len(outliers(each["seconds"])) for each in taken),
        "disturbed": sum(each.get("disturbed") or 0 for each in taken), "cold": taken[0]["cold"],
    }  # fmt: skip


def taken_of(rounds: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    """Return the samples of a time by round; none of what no round sampled whole.

    A long solve is sampled whole in one round and by a part in another, where its time is near the limit between them.
    """
    if not any(name in each["samples"] for each in rounds):
        return []
    return [found for each in rounds if (found := samples_of(each, name))]


def samples_of(taken: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return a round's samples of a time; of one that was worked out from a part's, these, as much longer as it is."""
    if name in taken["samples"]:
        return taken["samples"][name]
    parts = [each for part, each in taken["samples"].items() if part.startswith(OF_A_PART)]
    if len(parts) != 1 or taken.get("values", {}).get(name) is None:
        return None
    times = taken["values"][name] / median(parts[0]["seconds"])
    return {**parts[0], "seconds": [times * each for each in parts[0]["seconds"]]}
