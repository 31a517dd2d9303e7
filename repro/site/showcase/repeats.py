"""Whether the intervals of rounds held, by the rounds that came after them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro.grouping import grouped
from repro.judge import spread
from repro.run.rounds import samples_of
from repro.run.statistics import median
from repro.show.measurements import SCALE_ORDER
from repro.site.showcase.times import PROCESSOR, Place, Rounds

HEADINGS = ["machine", "scale", "where", "samples", "medians", "of another host", "of another day",
            "in the interval", "share [%]", "change [%]"]  # fmt: skip
REPLAYED, SINGLE, CALLED, COLD = "replayed", "single", "called", "cold"

#: The rounds that came before one, that one, by how much its median differs from theirs, and whether it was held.
Again = tuple[Sequence[Mapping[str, Any]], Mapping[str, Any], float, bool]


def across(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> dict[Place, dict[tuple, Rounds]]:
    """Return the cells that two machines have of one model of processor, by the first round of either."""
    found = {}
    for ((one, *own), ours), ((other, *their), theirs) in itertools.combinations(cells.items(), 2):
        if own == their and own[-1] == PROCESSOR and (both := ours.keys() & theirs.keys()):
            pairs = {name: (ours[name][0], theirs[name][0]) for name in both}
            found[f"{one}, then {other}", *own] = pairs
    return found


def table(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> str:
    """Return a table of further rounds: how many of their medians lie in the interval that the rounds before gave."""
    found = grouped(
        ((machine, scale, where, samples), again)
        for (machine, scale, _, where), each in cells.items()
        for rounds in each.values()
        for samples, again in _further(rounds, where)
    )
    ordered = sorted(found.items(), key=lambda each: (each[0][0], SCALE_ORDER.index(each[0][1]), *each[0][2:]))
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---|---|" + "---:|" * (len(HEADINGS) - 4)]
    lines += ["| " + " | ".join(_row(place, medians)) + " |" for place, medians in ordered]
    return "\n".join(lines) if found else ""


def _further(rounds: Rounds, where: str) -> Iterator[tuple[str, Again]]:
    """Yield what kind of samples a median of a further round is of, and how it compares with those before."""
    for count in range(1, len(rounds)):
        for name in sorted({name for each in rounds[: count + 1] for name in each["samples"]}):
            sampled, before = (
                samples_of(rounds[count], name),
                [each for each in rounds[:count] if samples_of(each, name)],
            )
            if sampled and before:
                earlier, value = [samples_of(each, name) for each in before], median(sampled["seconds"])
                low, high = spread.of_samples(earlier, where)
                change = value / median([median(each["seconds"]) for each in earlier]) - 1
                yield _kind(sampled), (before, rounds[count], change, low <= value <= high)


def _kind(sampled: Mapping[str, Any]) -> str:
    if sampled.get("cold"):
        return COLD
    return CALLED if sampled["mode"] != "graph" else SINGLE if sampled["batch"] == 1 else REPLAYED


def _row(place: tuple[str, ...], medians: Sequence[Again]) -> list[str]:
    machine, scale, where, samples = place
    hosts = sum(all(each["host"] != one["host"] for each in before) for before, one, *_ in medians)
    days = sum(all(each["date"][:10] != one["date"][:10] for each in before) for before, one, *_ in medians)
    held = sum(holds for *_, holds in medians)
    numbers = [f"{number:,}" for number in (len(medians), hosts, days, held)]
    change = median([each[2] for each in medians])
    return [
        machine,
        f"`{scale}`",
        where,
        samples,
        *numbers,
        f"{100 * held / len(medians):.0f}",
        f"{100 * change:+.1f}".replace("-0.0", "+0.0"),
    ]
