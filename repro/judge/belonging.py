"""Whether what a file holds belongs where it stands: rows to its manifest, rounds to their moments, keys to the code.

Each value may be what its samples come to while it stands under another scale, or a round twice.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from repro import discovery, environment
from repro.grouping import grouped
from repro.model import DONE
from repro.rows import place_of
from repro.run.rounds import differing, named

COMMIT = re.compile(r"[0-9a-f]{40}")
ROUNDED = 1.01  # seconds by which a date without fractions may lie before the moment that it tells


def problems(
    manifest: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Say what belongs elsewhere."""
    cells = {place_of(cell): cell for cell in manifest["cells"]}
    for row in rows:
        told = f"{' '.join(place_of(row))} {row['metric']}"
        for name in ("artefact", "scale"):
            if row[name] != manifest[name]:
                yield f"{told}: {name} is {row[name]}, and {manifest[name]} by its manifest"
        of_cell = cells.get(place_of(row), {}).get("parameters", {})
        if odd := [name for name, value in of_cell.items() if row["parameters"].get(name) != value]:
            yield f"{told}: {', '.join(sorted(odd))} is another than its cell's"
    for place, cell in cells.items():
        if cell["status"] == DONE:
            yield from _of_key(" ".join(place), cell, manifest)
    by_timing: Sequence[Collection[str]] = ((), ())
    if any(len(each["rounds"]) > 1 for each in samples):
        known = (discovery.by_timing(each) for each in discovery.find() if each.id == manifest["artefact"])
        by_timing = next(known, by_timing)
    by_place = grouped((place_of(row), row) for row in rows)
    for each in samples:
        place, told = place_of(each), " ".join(place_of(each))
        yield from _of_rounds(told, each["rounds"], cells.get(place, {}))
        yield from _facts(told, each["rounds"], by_place.get(place, ()), each["parameters"], by_timing)


def _facts(
    told: str, rounds: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], of_cell: Mapping[str, Any],
    by_timing: Sequence[Collection[str]],
) -> Iterator[str]:  # fmt: skip
    """Say which facts differ between rounds, where the run that took the later one would have failed."""
    named_rows = {named(row, of_cell): row for row in rows}
    each_rows = [{name: {**row, "value": each["values"][name]} for name, row in named_rows.items()
                  if each["values"].get(name) is not None} for each in rounds]  # fmt: skip
    for before, after in itertools.pairwise(each_rows):
        if apart := differing(before, after, rounds[0]["values"], *by_timing):
            yield f"{told} {apart[0]} differs between two rounds"


def _of_key(told: str, cell: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say what a key lacks: by an empty one any code would be a result's."""
    key = manifest["keys"][cell["key"]]
    paper = manifest["artefact"].partition("-")[0]
    if not any(name.startswith(f"{environment.experiments_folder().name}/{paper}/") for name in key["code"]):
        yield f"{told}: its key has no code of {paper}"
    if lacking := sorted({*cell["data"]} - key["data"].keys()):
        yield f"{told}: its key has no entry of {', '.join(lacking)}"


def _of_rounds(told: str, rounds: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]) -> Iterator[str]:
    """Say which rounds cannot be: two of one moment, of a moment that is not their date's, of no commit's name."""
    moments = Counter((each["host"], each["finished"]) for each in rounds)
    if any(count > 1 for count in moments.values()):
        yield f"{told} has a round twice"
    finished = [each["finished"] for each in rounds]
    if finished != sorted(finished):
        yield f"{told} has rounds out of order"
    for each in rounds:
        if not -ROUNDED < each["finished"] - datetime.fromisoformat(each["date"]).timestamp() < ROUNDED:
            yield f"{told} has a round of {each['date']} that ended at another moment"
        if each["commit"] is not None and not COMMIT.fullmatch(each["commit"]):
            yield f"{told} has a round of {each['commit']}, which is no commit's name"
    if cell and rounds and cell["date"] != rounds[-1]["date"]:
        yield f"{told} is of {cell['date']}, and its last round of {rounds[-1]['date']}"
