"""Which artefacts there are, and which of them each machine has measured, at which sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from repro import published
from repro.discovery import find
from repro.show.measurements import SCALE_ORDER, Measurement, machines
from repro.units import MISSING


def name_of(artefact: str) -> str:
    """Return ``Table 2`` for ``fu2014-table2``."""
    return re.sub(r".*-(\D+)(\d+)", lambda match: f"{match[1].capitalize()} {match[2]}", artefact)


def names(stems: Iterable[str]) -> str:
    """Return ``Tables 1 to 3 and 5, Figure 6`` for the stems of artefacts."""
    places = sorted((stem.startswith("figure"), int(re.sub(r"\D", "", stem))) for stem in set(stems))
    parts = []
    for is_figure, group in groupby(places, key=lambda place: place[0]):
        numbers = [number for _, number in group]
        spans = [list(run) for _, run in groupby(numbers, key=lambda n, all=numbers: n - all.index(n))]
        texts = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in spans]
        listed = ", ".join(texts)
        if ", " in listed:
            listed = " and ".join(listed.rsplit(", ", 1))
        parts.append(f"{'Figure' if is_figure else 'Table'}{'s' * (len(numbers) > 1)} {listed}")
    return ", ".join(parts)


def table(found: Sequence[Measurement], folder: str) -> str:
    """Return a table of papers by machines: what is written, and what is measured with a link to it.

    Parameters
    ----------
    found : sequence of Measurement
        Everything that is stored.
    folder : str
        The results folder, below the root.
    """
    columns = machines(found)
    lines = ["| paper | artefacts | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    written, asked = find(), {key: published.artefacts(key) for key in published.papers()}
    for paper, wanted in asked.items():
        ours = [artefact for artefact in written if artefact.paper == paper and not artefact.error]
        count = f"all {len(ours)}" if len(ours) >= len(wanted) else f"{len(ours)} of {len(wanted)}"
        cells = [_measured([each for each in found if each.machine == machine and each.done], paper, folder)
                 for machine in columns]  # fmt: skip
        lines.append(f"| `{paper}` | {count} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cores(found: Sequence[Measurement]) -> str:
    """Return how many cores the processor of each machine had, where times on it are stored; empty where none are.

    Parameters
    ----------
    found : sequence of Measurement
        Everything that is stored.
    """
    parts = []
    for machine in machines(found):
        timed = [each for each in found if each.machine == machine and each.cores and each.is_on_cores]
        counts = Counter(each.cores for each in timed)
        if not counts:
            continue
        most = counts.most_common(1)[0][0]
        others = {}
        for each in timed:
            if each.cores != most:
                others.setdefault((each.artefact.partition("-")[0], each.cores), []).append(each.artefact)
        but = [f"{count} in {paper}'s {names(a.partition('-')[2] for a in artefacts)}"
               for (paper, count), artefacts in sorted(others.items())]  # fmt: skip
        parts.append(f"{most} on {machine}" + f" (but {', '.join(but)})" * bool(but))
    return f"All threads, or all cores, of a processor are {', '.join(parts)}." if parts else ""


def _measured(found: Sequence[Measurement], paper: str, folder: str) -> str:
    scales: dict[str, str] = {}  # of each artefact the best
    large = set()  # also beside the paper's sizes
    for each in found:
        own, _, stem = each.artefact.partition("-")
        if own == paper:
            if each.scale == "large":
                large.add(stem)
            scales[stem] = min(each.scale, scales.get(stem, each.scale), key=SCALE_ORDER.index)
    if not scales:
        return MISSING
    parts = []
    for scale in SCALE_ORDER:
        stems = [stem for stem, at in scales.items() if at == scale]
        if stems:
            parts.append(names(stems) + ("" if scale == "paper" else f" at `{scale}`"))
    if more := [stem for stem in large if scales[stem] != "large"]:
        parts.append(f"{'all' if len(more) == len(scales) else names(more)} at `large`, too")
    return f"[{'; '.join(parts)}]({folder}/{found[0].machine}/{paper})"
