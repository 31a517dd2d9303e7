"""What Tables 2 and 5 show beside the paper's speed-up: one over each method that the processor has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas

from experiments.fu2014 import labels
from repro.show.tables import Table, trimmed


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
        times = {heading: results.value(case, method, metric, backend) for heading, (method, backend) in rivals.items()}
        time = results.value(case, ours[0], metric, ours[1])
        if time and any(times.values()):
            measured |= {heading for heading, each in times.items() if each}
            row = {"Mesh": name} | {f"{heading} [ms]": each and 1e3 * each for heading, each in times.items()}
            rows.append(row | {f"{heading} / {ours[0]}": each and each / time for heading, each in times.items()})
    return [trimmed(Table(title, pandas.DataFrame(rows), list(notes)))] if len(measured) > 1 else []
