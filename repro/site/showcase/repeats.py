"""Whether the intervals of one round held, by the rounds that came after it."""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro.judge import spread
from repro.run.statistics import median
from repro.show.measurements import SCALE_ORDER
from repro.site.showcase.times import PROCESSOR, Place, Rounds

HEADINGS = ["machine", "scale", "where", "samples", "medians", "of another host", "of another day",
            "in the interval", "share [%]", "change [%]"]  # fmt: skip
REPLAYED, CALLED, COLD = "replayed", "called", "cold"

Again = tuple[Mapping[str, Any], Mapping[str, Any], float, bool]  # two rounds, the change, and whether it held


def across(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> dict[Place, dict[tuple, Rounds]]:
    """Return the cells that two machines have of one model of processor, by the first round of either."""
    found = {}
    for ((one, *own), ours), ((other, *their), theirs) in itertools.combinations(cells.items(), 2):
        if own == their and own[-1] == PROCESSOR and (both := ours.keys() & theirs.keys()):
            pairs = {name: (ours[name][0], theirs[name][0]) for name in both}
            found[f"{one}, then {other}", *own] = pairs
    return found


def table(cells: Mapping[Place, Mapping[tuple, Rounds]]) -> str:
    """Return a table of second rounds: how many of their medians lie in the interval that the first round had alone."""
    found: dict[tuple[str, ...], list[Again]] = defaultdict(list)
    for (machine, scale, _, where), each in cells.items():
        for rounds in each.values():
            for samples, again in _second(rounds, where):
                found[machine, scale, where, samples].append(again)
    ordered = sorted(found.items(), key=lambda each: (each[0][0], SCALE_ORDER.index(each[0][1]), *each[0][2:]))
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---|---|" + "---:|" * (len(HEADINGS) - 4)]
    lines += ["| " + " | ".join(_row(place, medians)) + " |" for place, medians in ordered]
    return "\n".join(lines) if found else ""


def _second(rounds: Rounds, where: str) -> Iterator[tuple[str, Again]]:
    """Yield what kind of samples a median of the second round is of, and how it compares with the first round's."""
    if len(rounds) < 2:
        return
    first, second = rounds[:2]
    for name in first["samples"].keys() & second["samples"].keys():
        before, after = (each["samples"][name] for each in (first, second))
        value = median(after["seconds"])
        low, high = spread.of_samples([before], where)
        kind = COLD if before.get("cold") else REPLAYED if before["mode"] == "graph" else CALLED
        yield kind, (first, second, value / median(before["seconds"]) - 1, low <= value <= high)


def _row(place: tuple[str, ...], medians: Sequence[Again]) -> list[str]:
    machine, scale, where, samples = place
    hosts = sum(first["host"] != second["host"] for first, second, *_ in medians)
    days = sum(first["date"][:10] != second["date"][:10] for first, second, *_ in medians)
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
