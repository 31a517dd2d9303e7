"""The artefacts that there are, and which of them each machine has measured, at which sizes."""

from collections import Counter
from collections.abc import Sequence

from repro import published
from repro.discovery import find
from repro.grouping import grouped
from repro.run.state import ON_CORES
from repro.show.measurements import SCALE_ORDER, Measurement, machines
from repro.units import MISSING


def table(found: Sequence[Measurement], folder: str) -> str:
    """Return a table of papers by machines: of the artefacts that are written those measured at a scale, with cells."""
    columns = machines(found)
    lines = ["| paper | artefacts | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    written = Counter(artefact.paper for artefact in find() if not artefact.error)
    for paper in published.papers():
        wanted = len(published.artefacts(paper))
        count = f"all {written[paper]}" if written[paper] >= wanted else f"{written[paper]} of {wanted}"
        cells = []
        for machine in columns:
            own = [each for each in found if each.machine == machine and each.done and not each.overrides]
            scales = grouped((each.scale, each) for each in own if each.artefact.partition("-")[0] == paper)
            told = ", ".join(_counts(scales[scale], written[paper]) for scale in SCALE_ORDER if scale in scales)
            cells.append(f"[{told}]({folder}/{machine}/{paper})" if told else MISSING)
        lines.append(f"| `{paper}` | {count} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _counts(of_scale: Sequence[Measurement], artefacts: int) -> str:
    done, cells = sum(each.done for each in of_scale), sum(each.cells for each in of_scale)
    return f"{len(of_scale)} of {artefacts} at `{of_scale[0].scale}` ({done:,} of {cells:,} cells)"


def cores(found: Sequence[Measurement]) -> str:
    """Return how many cores each machine's processor had for most artefacts that it computed, and for the others."""
    had: dict[str, Counter[int]] = {machine: Counter() for machine in machines(found)}
    for each in found:
        if each.cores and not {*ON_CORES}.isdisjoint(each.backends):
            had[each.machine][each.cores] += 1
    parts = []
    for machine, counts in had.items():
        most, *others = (count for count, _ in counts.most_common()) if counts else (0,)
        but = f" (for some artefacts {' or '.join(map(str, sorted(others)))})" if others else ""
        parts += [f"{most} on {machine}{but}"] if most else []
    return f"All threads, or all cores, of a processor are {', '.join(parts)}." if parts else ""
