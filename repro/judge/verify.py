"""Recompute what is stored from the bottom: files, medians and intervals, data, and what each result was measured by.

Three kinds of problem are told apart. A *wrong* number or hash differs from what it is recomputed to be: somebody or
something changed it. An *unproven* file says too little to be recomputed: nobody can know. Unproven files are listed in
``unverified.csv`` in the folder of results, and are shown as unverified until they are measured again. A file is *not
checked* where this clone lacks what it takes, as the commit that measured it.
"""

import contextlib
import csv
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from repro import discovery
from repro.cache import beliefs, files
from repro.cache.code import digest
from repro.cache.store import ARCHIVE, LISTS, content, read_json, tables, write_atomically
from repro.grouping import grouped
from repro.judge import allowed, belonging, provenance, same_code, spread
from repro.judge.across import Across
from repro.judge.provenance import NOT_CHECKED, UNPROVEN, WRONG, Measured
from repro.model import DONE, SKIPPED, ReproError
from repro.rows import flat, parse, place_of
from repro.run.rounds import commit_of, named, of_rounds, taken_of
from repro.run.statistics import median, summarise
from repro.show.results import times_behind
from repro.units import convert, is_rate, split

__all__ = ["NOT_CHECKED", "UNPROVEN", "WRONG", "Problem", "Verified", "measured", "told", "unverified", "verify"]

LIST, COLUMNS = "unverified.csv", ("file", "reason")
OF_SAMPLES = ("n", "ci_low", "ci_high", "outliers")  # columns that only a sampled row has
ROUNDING = 1e-11  # relative; a stored number is text with all of its digits
DAMAGED = (OSError, ReproError, ValueError, LookupError, TypeError)


@dataclass(frozen=True)
class Problem:
    """Something in the stored results that is not as it should be."""

    kind: str  #: one of 'wrong', 'unproven', 'not checked'
    file: str  #: an artefact's files without suffix, below the folder of results: ``h200/zhang2013/table2``
    what: str  #: in words

    def __str__(self) -> str:
        return f"{self.file}: {self.what}"


class Verified(NamedTuple):
    """The findings of a verification."""

    problems: list[Problem]
    code: list[str]  #: which of the cells are of HEAD's code, in lines; see `repro.judge.same_code`


def verify(results: Path, renewing: bool = False) -> Verified:
    """Return every problem of the stored results and of the list of unverified files, and what HEAD has of their code.

    Raises `ReproError` when the list cannot be read.

    `renewing`: write the list anew first.
    """
    found, digests, rounds, across = [], {}, [], Across()
    for manifest in _manifests(results):
        file = _name(results, manifest)
        try:
            problems, read, of_file = _verify_files(manifest, file, across)
        except DAMAGED as error:
            found.append(Problem(WRONG, file, f"damaged: {type(error).__name__}: {error}"))
            continue
        found += [Problem(WRONG, file, what) for what in problems]
        rounds += of_file
        for (name, key), value in read.items():
            digests.setdefault((name, key), {}).setdefault(value, []).append(file)
    found += [Problem(WRONG, *each) for each in across.problems()]
    answers = provenance.ask(rounds)
    found += [Problem(*each) for each in provenance.check(rounds, answers)]
    for (name, _), values in digests.items():
        if len(values) > 1:  # the same recipe, and not the same content
            common = max(values.values(), key=len)
            odd = [file for files in values.values() if files is not common for file in files]
            found += [Problem(WRONG, file, f"dataset {name} is not what the other files have of it") for file in odd]
    for table in sorted(path for paper in _papers() for path in tables(results, f"*/{paper}/*")):
        if not table.with_suffix(".json").is_file():
            found.append(Problem(WRONG, _name(results, table), "there is no manifest beside the rows"))
    for path in sorted(results.glob("*/ceilings.json")):
        try:
            found += [Problem(WRONG, _name(results, path), what) for what in allowed.check(path)]
        except DAMAGED as error:
            found.append(Problem(WRONG, _name(results, path), f"damaged: {type(error).__name__}: {error}"))
    unproven = {each.file: each.what for each in found if each.kind == UNPROVEN}
    if renewing:
        _write_list(results, unproven)
    return Verified(found + _of_the_list(results, unproven), same_code.of_head(rounds, answers))


def measured(results: Path) -> list[Measured]:
    """Return the rounds of all cells, but not of damaged files, which `verify` names."""
    found = []
    for path in _manifests(results):
        with contextlib.suppress(*DAMAGED):
            samples = json.loads(content(path.with_suffix(ARCHIVE)))["samples"]
            found += list(_measured(read_json(path), samples, _name(results, path), {}))
    return found


def _papers() -> list[str]:
    return sorted({artefact.paper for artefact in discovery.find()})  # any other folder is none of ours


def _manifests(results: Path) -> list[Path]:
    return sorted(path for paper in _papers() for path in results.glob(f"*/{paper}/*.json"))


def _of_the_list(results: Path, unproven: Mapping[str, str]) -> list[Problem]:
    """Return what is wrong with the list of unverified files: it has to have the unproven files, and no others."""
    listed = unverified(results)
    found = [Problem(WRONG, file, f"not in {LIST}: {why}") for file, why in unproven.items() if file not in listed]
    return found + [Problem(WRONG, file, f"in {LIST} without need") for file in listed if file not in unproven]


def unverified(results: Path) -> dict[str, str]:
    """Return the files of results that are listed as unverified, each with the reason; none where there is no list."""
    path = results / LIST
    return dict(_listed(path, path.stat().st_mtime_ns)) if path.is_file() else {}


def told(results: Path, machines: Collection[str] | None = None) -> str:
    """Say which of the stored results are unverified, of all machines or of some, and why; empty where none is."""
    if not (listed := unverified(results)):
        return ""
    by_reason: dict[str, Counter] = {}
    for file, reason in listed.items():
        if machines is None or file.partition("/")[0] in machines:
            by_reason.setdefault(reason, Counter())[file.partition("/")[0]] += 1
    stored = Counter(path.relative_to(results).parts[0] for path in tables(results, "*/*/*"))
    sentences = []
    for reason, counts in by_reason.items():
        places = [f"{'all' if count == stored[machine] else count} of {machine}" for machine, count in counts.items()]
        sentences.append(f"Unverified results, {', '.join(places)}: {reason}.")
    return " ".join(sentences)


@lru_cache(maxsize=16)
def _listed(path: Path, _modified: int) -> tuple[tuple[str, str], ...]:
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    if not rows or tuple(rows[0]) != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise ReproError(f"{path} is no list of unverified files; `repro verify --list` writes it anew")
    return tuple((file, reason) for file, reason in rows[1:])


def _write_list(results: Path, unproven: Mapping[str, str]) -> None:
    """Write the list of the unproven files; without any there is none."""
    path = results / LIST
    if not unproven:
        path.unlink(missing_ok=True)
        return
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([COLUMNS, *sorted(unproven.items())])
    write_atomically(path, stream.getvalue())


def _name(results: Path, path: Path) -> str:
    return path.relative_to(results).with_suffix("").as_posix()


def _verify_files(
    path: Path, file: str, across: Across
) -> tuple[list[str], dict[tuple[str, str], str], list[Measured]]:
    """Return what is wrong with an artefact's files, the digests of their data, and its rounds; `across` gets them."""
    manifest = read_json(path)
    held = {suffix: content(path.with_suffix(suffix)) for suffix in (".csv", ARCHIVE)}
    found = [
        f"{path.stem}{suffix} is not the one that the manifest was written with"
        for suffix, data in held.items() if digest(data) != manifest["files"].get(suffix)
    ]  # fmt: skip
    samples, rows = json.loads(held[ARCHIVE])["samples"], parse(held[".csv"].decode())
    if beside := [name for name in LISTS if name in json.loads(path.read_bytes())]:
        found.append(f"the manifest has {' and '.join(beside)} beside those in the file of samples")
    if manifest["artefact"] != f"{path.parent.name}-{path.stem.partition('.')[0]}":
        found.append(f"its manifest is of {manifest['artefact']}")
    found += [*belonging.problems(manifest, rows, samples), *_verify_rows(rows, samples, manifest)]
    across.add(file, manifest, rows, samples)
    measured = list(_measured(manifest, samples, file, beliefs.read(path.parents[1])))
    recipes = manifest.get("recipes", {})
    digests = {(name, recipes[name]): value for name, value in manifest["data"].items() if name in recipes}
    return found, digests, measured


def _measured(manifest: Mapping, samples: list[dict[str, Any]], file: str, believed: Mapping) -> Iterator[Measured]:
    """Yield the rounds of the cells that are done, or of those without samples what measured them last.

    Cells that a known commit skipped are among them: why depends on its sources. Without a commit they prove nothing.
    """
    measured = {place_of(each): each["rounds"] for each in samples}
    keys = files.keys_of(manifest)
    for cell in manifest["cells"]:
        commit = (cell["revision"] or {}).get("commit")
        if cell["status"] == DONE or (cell["status"] == SKIPPED and commit):
            parts = provenance.parts_of(keys[cell["key"]], manifest["scale"], manifest["overrides"])
            rounds = measured.get(place_of(cell)) or [cell["revision"] or {}]
            for each in rounds:
                commit, dirty = each.get("commit"), each.get("dirty")
                yield Measured(file, " ".join(place_of(cell)), commit, dirty, parts, believed, each is rounds[-1])


def _verify_rows(rows: list[dict[str, Any]], samples: list[dict[str, Any]], manifest: Mapping) -> Iterator[str]:
    """Say which rows are not what their samples come to, or belong to no cell, and which cells have no rows."""
    measured = {place_of(each): each["rounds"] for each in samples}
    cells = {place_of(cell): cell for cell in manifest["cells"]}
    with_rows = grouped((place_of(row), row) for row in rows)
    for place, of_cell in with_rows.items():
        cell = cells.get(place)
        if cell is None:
            yield f"{' '.join(place)} is no cell of the manifest"
            continue
        several = measured.get(place, ())
        for row in of_cell:
            name = named(row, cell["parameters"])
            sampled = taken_of(several, name)
            if sampled or row["n"]:
                yield from _verify_sampled(row, sampled)
            else:
                yield from _differing(row, dict.fromkeys(OF_SAMPLES), "samples, which are none")
                if several:
                    yield from _verify_told(row, [each["values"].get(name) for each in several])
            yield from _verify_origin(row, cell, several)
        there = {named(row, cell["parameters"]) for row in of_cell}
        known = {*several[-1]["samples"], *several[-1]["values"]} if several else set()
        yield from (f"{' '.join(place)} {name} has no row" for name in sorted(known - there))
        for each in several if len(several) > 1 else [{}]:  # what a round derives follows from its own times
            values = each.get("values", {})
            own = [{**flat(row), "value": values.get(named(row, cell["parameters"]), row["value"])} for row in of_cell]
            yield from _verify_derived(own)
    yield from (f"{' '.join(place)} is done and has no rows" for place, cell in cells.items()
                if cell["status"] == DONE and place not in with_rows)  # fmt: skip


def _verify_told(row: Mapping[str, Any], values: list[float | None]) -> Iterator[str]:
    """Say whether a value that was not sampled is another than its rounds have."""
    known = of_rounds(row["unit"], values)
    if not _same(row["value"], known):
        yield f"{_told(row)} is {row['value']}, and {known} by its rounds"


def _verify_origin(
    row: Mapping[str, Any], cell: Mapping[str, Any], rounds: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Say whether a row has another commit, status or reason than its cell, or what its rounds do not tell."""
    yield from _differing(row, {name: cell[name] for name in ("status", "reason")}, "cell")
    if row["status"] == DONE and row["commit"] != commit_of(cell.get("revision") or {}):
        yield f"{_told(row)} names another commit than its cell"
    if row["status"] == DONE and rounds:
        known = {"rounds": len(rounds), "host": rounds[-1]["host"] or "", "date": rounds[-1]["date"]}
        yield from _differing(row, known, "rounds")


def _verify_derived(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Say which values are not what they come from, a sampled time of their cell, times or over what is known.

    That is a whole number, as of iterations, a count of the cell, or the bytes or operations of its work.
    """
    counts = [row["value"] for row in rows if row["unit"] in ("", "count") and row["value"]]
    counts += [row[name] for row in rows for name in ("work_bytes", "work_flops") if row.get(name)]
    for row in rows:
        behind = [] if row["n"] or row["value"] is None else times_behind(row, rows)
        if len(behind) == 1 and row["value"]:
            value, seconds = (each["value"] * split(each["unit"])[0] for each in (row, behind[0]))
            factor = value * seconds if is_rate(row["unit"]) else value / seconds
            if not any(_is_whole(each) or any(_same(each, count) for count in counts) for each in (factor, 1 / factor)):
                yield f"{_told(row)} does not follow from {behind[0]['metric']}"


def _is_whole(value: float) -> bool:
    """Return whether a quotient is a whole number, but for what is lost in the last digits of a large one."""
    return value > 0.5 and abs(value - round(value)) < max(1e-6, 8 * sys.float_info.epsilon * value)


def _verify_sampled(row: Mapping[str, Any], rounds: list[Mapping[str, Any]]) -> Iterator[str]:
    if not rounds or not all(each["seconds"] for each in rounds):
        yield f"{_told(row)} has no samples"
        return
    summaries = [summarise(each["seconds"]) for each in rounds]
    low, high = spread.of_samples(rounds, row["backend"])
    expected = {"value": median(each.median for each in summaries), "ci_low": low, "ci_high": high}
    for name, value in expected.items():
        known = None if value is None else convert(value, "s", row["unit"])
        if not _same(row[name], known):
            yield f"{_told(row)}: {name} is {row[name]}, and {known} by its samples"
    counts = {name: sum(getattr(each, name) for each in summaries) for name in ("n", "outliers")}
    counts |= {"disturbed": sum(each["disturbed"] for each in rounds), "cold": rounds[-1]["cold"]}
    yield from _differing(row, counts, "samples")


def _differing(row: Mapping[str, Any], known: Mapping[str, Any], source: str) -> Iterator[str]:
    for name, value in known.items():
        if row[name] != value:
            yield f"{_told(row)}: {name} is {row[name]}, and {value} by its {source}"


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=ROUNDING)


def _told(row: Mapping[str, Any]) -> str:
    return " ".join((*place_of(row), row["metric"]))
