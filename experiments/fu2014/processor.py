"""Speed-ups that Tables 2 and 5 show beside the paper's: one over each method that the processor has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas

from experiments.fu2014 import labels
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import INTERVALS, Table, number_text, trimmed


def against_all(
    results, title: str, metric: str, ours: tuple[str, str | None], rivals: Mapping[str, tuple[str, str]],
    notes: Sequence[str],
) -> list[Table]:  # fmt: skip
    """Return a table of the rivals' times and of their ratios to ours; none where fewer than two were measured.

    Parameters
    ----------
    results : repro.show.results.Results
    title : str
    metric : str
        The time that is compared.
    ours : tuple
        Our method and its back end.
    rivals : mapping
        Method and back end of each, by what heads its columns; ours is not compared with itself.
    notes : sequence of str
    """
    rows, measured = [], set()
    rivals = {heading: place for heading, place in rivals.items() if place != ours}
    for case, name in labels(results).items():
        time, *others = (
            point(results, case, method, metric, "ms", backend) for method, backend in (ours, *rivals.values())
        )
        times = dict(zip(rivals, others, strict=True))
        if time and any(others):
            measured |= {heading for heading, each in times.items() if each}
            row = {"Mesh": name} | {f"{heading} [ms]": number_text(each, "ms") for heading, each in times.items()}
            gains = {heading: quotient_text(quotient(each, time)) for heading, each in times.items()}
            rows.append(row | {f"{heading} / {ours[0]}": gain for heading, gain in gains.items()})
    told = [*notes, INTERVALS + " Of a quotient it is always the interval."]
    return [trimmed(Table(title, pandas.DataFrame(rows), told))] if len(measured) > 1 else []
