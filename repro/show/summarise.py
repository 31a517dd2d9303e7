"""Rows that are stored, with the medians and intervals that today's rule gives of their raw samples."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from repro.cache.code import digest
from repro.cache.files import intact
from repro.cache.store import ARCHIVE, as_stored, write_atomically, write_packed
from repro.grouping import grouped
from repro.model import DONE
from repro.rows import as_csv, parse, place_of
from repro.run import manifest as run_manifest
from repro.run.rounds import commit_of, named, shown
from repro.show.measurements import Measurement


def summarise(stored: Measurement) -> bool:
    """Write the rows of an artefact's stored results again where the rule for intervals has changed since.

    Return whether that changed any. The manifest then says so under ``summarised``, with the commit of the rule and the
    date. Samples stay as they are.

    Raises `ReproError` when rows or samples differ from the ones that the manifest was written with: it must not vouch
    for what somebody edited.
    """
    path = stored.beside(".json")
    manifest = json.loads(path.read_bytes()) if path else {}
    if not manifest:
        return False
    before, archive = (intact(path.with_suffix(""), suffix, manifest) for suffix in (".csv", ARCHIVE))
    samples = grouped((place_of(cell), cell) for cell in json.loads(archive)["samples"])
    rows = as_csv([_again(row, samples.get(place_of(row), ())) for row in parse(before.decode())]).encode()
    if rows == before:
        return False
    write_rows = write_atomically if as_stored(stored.csv) == stored.csv else write_packed
    write_rows(stored.csv, rows)
    manifest["files"][".csv"] = digest(rows)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    manifest["summarised"] = {"command": "repro figures", "commit": commit_of(run_manifest.revision()), "date": now}
    write_atomically(path, json.dumps(manifest, indent=1) + "\n")
    return True


def _again(row: dict[str, Any], cells: tuple | list[Mapping[str, Any]]) -> dict[str, Any]:
    for cell in cells:
        last = cell["rounds"][-1]
        known = {**last["samples"], **last["values"]}
        if row["status"] == DONE and named(row, cell["parameters"]) in known:
            return shown([row], cell["rounds"], cell["parameters"])[0]
    return row
