"""An artefact's files, made from its stored cells: tidy CSV, the paper's table, figure, manifest and samples."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from repro.cache import beliefs, hashing, kept, keys
from repro.cache.code import digest
from repro.cache.files import files_stem
from repro.cache.glance import glance
from repro.cache.lacking import shortened
from repro.cache.plan import Task, machine_facts
from repro.cache.store import ARCHIVE, LISTS, packed, write_atomically, write_packed
from repro.discovery import Artefact
from repro.grouping import grouped
from repro.judge.roofs import Roofs
from repro.model import DONE, FAILED, SKIPPED, Cell
from repro.rows import as_csv, frame
from repro.run.rounds import summarised
from repro.settings import Settings
from repro.show import provenance
from repro.show.results import Results, disturbed_cells, was_disturbed

if TYPE_CHECKING:
    from repro.show.tables import Table

NOT_MEASURED = "Not measured yet, or no longer valid"  # heading of the cells that a result lacks
BELIEVED = "Stands by a belief"  # heading of what is believed not to have changed what was measured
BY_REQUEST = "Not measured unless asked for, by `--all-cells`"  # heading of the cells that a result can do without
MEASURED_BEFORE = "Measured before, and shown until measured again"  # heading of the cells that failed since
FEWER_ROUNDS = "Measured in fewer rounds than were asked for last"  # heading of cells that stand, and lack rounds
HOW = "How it was made"  # heading of commands, machine, hosts and dates
ENDED = {FAILED: "Failed", SKIPPED: "Skipped, because"}  # headings of the cells that are not done, by status
HEADINGS = (*ENDED.values(), MEASURED_BEFORE, FEWER_ROUNDS, NOT_MEASURED, BY_REQUEST, BELIEVED, HOW)
NO_TABLE = "No table: what was measured makes no line of one."
PROBLEM = "**Could not be made:**"
#: The beginnings of a Markdown file's parts after the tables: a picture, a problem, a section.
AFTER_TABLES = re.compile(rf"^(!\[|{re.escape(PROBLEM)}|## )", re.MULTILINE)
FEW = 3  # methods or cases that are named


@dataclass
class Rendered:
    """Files written for an artefact, and notes on them."""

    artefact: Artefact
    tables: list = field(default_factory=list)  #: those without a line are not written
    files: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  #: tables or plots that could not be made
    beliefs: list[str] = field(default_factory=list)  #: by which cells stand
    before: list[str] = field(default_factory=list)  #: what the tables show of cells that failed since, and why
    disturbed: list[str] = field(default_factory=list)  #: notes on cells whose samples other work disturbed


def render(artefact: Artefact, module: ModuleType, tasks: list[Task], settings: Settings) -> Rendered:
    """Write an artefact's files from what is stored of its cells.

    `tasks`: all cells of the scale, wanted by the command or not, in the artefact's order.
    """
    store, data = settings.store, {name for task in tasks for name in task.cell.data}
    base = files_stem(artefact, settings, data)
    # Own files that the command gives for other artefacts are not told.
    settings = replace(settings, overrides={name: file for name, file in settings.overrides.items() if name in data})
    with store.lock(f"{artefact.id}.{settings.scale}"):
        # Read within the lock: of two runs that end together, the one that writes last has seen the cells of both.
        with glance():
            for task in tasks:
                task.look(store)
        shown = kept.shown(tasks)
        for task in shown:
            task.keep(store)
        return _render(artefact, module, tasks, shown, settings, base)


def _render(
    artefact: Artefact, module: ModuleType, tasks: list[Task], shown: list[Task], settings: Settings, base: Path
) -> Rendered:
    current = [task.record for task in shown]
    rows = [{**row, "artefact": artefact.id} for record in current for row in summarised(record)]
    rendered, manifest = Rendered(artefact), _manifest(artefact, shown, settings)
    results, figure = _results(artefact, rows, settings, manifest), None
    if any(record["status"] == DONE for record in current):
        rendered.tables = list(_made(module, "tables", results, rendered, ()))
        figure = _made(module, "plot", results, rendered)
    rendered.beliefs = _believed(shown, settings)
    rendered.before = _pending(shown, few=False)
    rendered.disturbed = [note for note in provenance.notes(current) if was_disturbed([note])]
    rendered.tables = noted(rendered.tables, rendered.beliefs)

    def write(suffix: str, content: Any) -> None:
        path = base.with_name(base.name + suffix)
        write_atomically(path, content)
        rendered.files.append(path)

    sampled = [{**record["identity"], "rounds": record["rounds"]} for record in current if record["samples"]]
    archive = {"samples": sampled, **{name: strict(manifest.pop(name)) for name in LISTS}}
    contents = {".csv": as_csv(rows).encode(), ARCHIVE: json.dumps(archive).encode()}
    samples = base.with_name(base.name + ARCHIVE)
    write_packed(samples, contents[ARCHIVE])  # first, as it takes longest: a run may be stopped while it writes
    write(".csv", contents[".csv"])
    rendered.files.append(packed(samples))
    manifest["files"] = {suffix: digest(content) for suffix, content in contents.items()}
    write(".json", json.dumps(strict(manifest), indent=1) + "\n")
    packed(base.with_name(f"{base.name}.csv")).unlink(missing_ok=True)  # see `repro.show.redraw.pack`
    # An artefact of which cells failed, or nothing is measured, keeps an older figure where it has none now.
    ends = {kept.last(record)["status"] for record in current}
    _write_figure(figure, base, rendered, is_final=DONE in ends and FAILED not in ends)
    if rendered.tables and hasattr(module, "extras"):
        for suffix, content in _made(module, "extras", results, rendered, {}).items():
            write(suffix, content)
    write(".md", _markdown(artefact, tasks, shown, rendered, settings))
    return rendered


def _made(module: ModuleType, name: str, results: Results, rendered: Rendered, failing: Any = None) -> Any:
    """Return what an artefact's function makes of results; `failing` where it fails, which is a problem of the page."""
    try:
        return getattr(module, name)(results)
    except Exception as error:
        rendered.problems.append(f"{name}() failed: {type(error).__name__}: {error}")
        return failing


def _results(artefact: Artefact, rows: list[dict], settings: Settings, manifest: dict):
    folder = settings.store.folder
    return Results(
        frame(rows), settings.scale, settings.machine, artefact.id, settings.overrides,
        manifest["machine"].get("cores"), Roofs.read(folder), folder.parent, disturbed_cells(manifest["cells"]),
    )  # fmt: skip


def _write_figure(figure: Any, base: Path, rendered: Rendered, is_final: bool) -> None:
    """Save a figure beside the tables; without one, or where it cannot be drawn, remove an older if that is final."""
    from repro.show import plots

    try:
        drawn = plots.save(figure, base) if figure is not None else []
    except Exception as error:
        rendered.problems.append(f"the figure cannot be drawn: {type(error).__name__}: {error}")
        drawn = []
    if is_final and not drawn:
        plots.remove(base)
    rendered.files += drawn


def _manifest(artefact: Artefact, shown: list[Task], settings: Settings) -> dict[str, Any]:
    from repro.run import manifest

    every = [task.record for task in shown]
    # Facts that are told of all cells are of the ones that stand; others, if there are any, have their own apart.
    records = [task.record for task in shown if task.stands] or every
    clocks = {name: clock for record in records for name, clock in record["clocks"].items()}
    data = {name: digest for record in records for name, digest in record["digests"].items()}
    recipes = {name: value for record in records for name, value in record["key"].get("data", {}).items()}
    collected = manifest.collect(provenance.told(settings.command), settings.seed, data, list(clocks.values()))
    here = machine_facts()
    if any(keys.changes(record, {**record["key"], "machine": here}) for record in records):  # measured elsewhere
        # The newest record tells it, of records that depend on the cores where there are some.
        last = max(records, key=lambda record: ("cores" not in hashing.without_effect(record), record["finished"]))
        machine, variables = hashing.fingerprint_of(last["key"]["machine"])
        machine.pop("rivals", None)
        collected |= {"machine": machine, "nvidia": None, "load_average": None, "environment": variables}
    distinct: list[dict] = []
    # A run may use some of a host's cores alone: then the manifest has how many there are.
    if whole := provenance.host_of(records, settings).get("cores_of_host"):
        collected["machine"] = {**collected["machine"], "cores_of_host": whole}
    if rivals := provenance.rivals_of(records):  # as they were, whatever is here now
        collected["machine"] = {**collected["machine"], "rivals": rivals}
    return {
        **collected,
        "artefact": artefact.id, "title": artefact.title, "scale": settings.scale,
        "overrides": dict(settings.overrides),
        "schema": 2, "recipes": dict(sorted(recipes.items())),
        "cells": [
            {
                **task.record["identity"], "status": task.record["status"], "reason": task.record["reason"],
                "seconds": task.record["seconds"], "date": task.record["date"], "revision": task.record.get("revision"),
                "command": provenance.told(task.record.get("command")), "checks": task.record["checks"],
                "notes": task.record["notes"], **_since(task.record),
                **_own(task.record, data), "uses": task.record.get("uses", []),
                "key": _place(task.record["key"], distinct),
            }
            for task in shown
        ],
        "keys": distinct,
    }  # fmt: skip


def _since(record: dict) -> dict[str, Any]:
    """Return what has happened since a cell was measured, for the manifest; empty where nothing has."""
    found = record.get("since")
    if not found:
        return {}
    facts = {name: found[name] for name in ("status", "reason", "date")}
    return {"since": {**facts, "command": provenance.told(found.get("command"))}}


def _own(record: dict, digests: dict[str, str]) -> dict[str, Any]:
    """Return the digests of a cell's data where they differ from the others'."""
    return {} if record["digests"].items() <= digests.items() else {"digests": record["digests"]}


def _place(key: dict[str, Any], keys: list[dict]) -> int:
    """Return where a key is among distinct ones, and put it there where it is not."""
    if key not in keys:
        keys.append(key)
    return keys.index(key)


def _markdown(artefact: Artefact, tasks: list[Task], shown: list[Task], rendered: Rendered, settings: Settings) -> str:
    parts = [first_line(artefact)]
    parts += as_markdown(rendered.tables) if rendered.tables else []
    pictures = [path.name for path in rendered.files if path.suffix in (".gif", ".png")]
    parts += [pictured(artefact, file) for file in pictures]
    parts += [f"{PROBLEM} {problem}" for problem in rendered.problems]
    parts += ended((task.cell, task.record["status"], task.record["reason"]) for task in shown)
    there = {task.path for task in shown}
    lacking = [task for task in tasks if task.path not in there]
    parts += _sections({
        MEASURED_BEFORE: rendered.before, FEWER_ROUNDS: _pending(shown, few=True),
        NOT_MEASURED: _missing((task.cell, task.reason) for task in lacking if not task.left_out),
        BY_REQUEST: _missing((task.cell, task.left_out) for task in lacking if task.left_out),
        BELIEVED: [f"- {line}" for line in rendered.beliefs],
        HOW: provenance.lines(artefact, shown, len(tasks), settings),
    })  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _sections(lines: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the sections that have a line, by their headings."""
    return ["\n".join([f"## {heading}", "", *own]) for heading, own in lines.items() if own]


def first_line(artefact: Artefact) -> str:
    """Return the first line of an artefact's page."""
    return f"# {artefact.id}: {artefact.title}"


def pictured(artefact: Artefact, file: str) -> str:
    """Return the line of an artefact's page that shows a picture."""
    return f"![{artefact.title}]({file})"


def as_markdown(tables: Iterable[Table]) -> list[str]:
    """Return the tables that have a line, or a sentence in their place."""
    from repro.show.tables import with_lines

    return [table.to_markdown().strip() for table in with_lines(tables)] or [NO_TABLE]


def noted(tables: Iterable[Table], beliefs: list[str]) -> list[Table]:
    """Return tables of which the first that has a line says by which beliefs its cells stand."""
    tables = list(tables)
    first = next((place for place, table in enumerate(tables) if len(table.frame)), None)
    if beliefs and first is not None:
        tables[first] = replace(tables[first], notes=[*tables[first].notes, *(f"{line}." for line in beliefs)])
    return tables


def _believed(shown: list[Task], settings: Settings) -> list[str]:
    """A line a belief: how many cells stand by it, why it is believed, and on how large a sample it was tried."""
    found: dict[str, tuple[dict, int]] = {}
    for task in shown:
        if task.record["status"] == DONE and task.key.get("beliefs") and task.stands:
            for each in beliefs.relied_on(keys.believed(task.record, task.key), settings.store.folder):
                found[each["file"]] = each, found.get(each["file"], (each, 0))[1] + 1
    cells = sum(task.record["status"] == DONE for task in shown)
    lines = []
    for each, count in found.values():
        tried = len({sample["cell"] for sample in each["sample"]})
        why = " ".join(each["reason"].split())  # a page told again takes each line for a belief
        lines.append(f"{count} of {cells} cells stand by a belief, “{why}”, of {each['date'][:10]}: "
                     f"{tried} cells measured again agreed (beliefs/{each['file']})")  # fmt: skip
    return lines


def _missing(lacking: Iterable[tuple[Cell, str]]) -> list[str]:
    """A line a reason: how many cells of each back end it holds for, and which methods or cases, where few."""
    lines = []
    for reason, of_reason in sorted(grouped((reason, cell) for cell, reason in lacking).items()):
        each = []
        for backend, cells in grouped((cell.backend, cell) for cell in of_reason).items():
            methods, cases = (list(dict.fromkeys(names)) for names in zip(*((c.method, c.case) for c in cells)))
            names = next((each for each in (methods, cases) if len(each) <= FEW), [])
            each.append(f"{len(cells)} on {backend}" + (f" ({', '.join(names)})" if names else ""))
        lines.append(f"- {reason}: {', '.join(each)}")
    return lines


def ended(cells: Iterable[tuple[Cell, str, str]]) -> list[str]:
    """Return the sections of a page on cells that failed or were skipped, each with its status and reason."""
    found = grouped((status, (cell, why)) for cell, status, why in cells)
    return _sections({heading: _by_reason(found.get(status, ())) for status, heading in ENDED.items()})


def _pending(shown: list[Task], few: bool) -> list[str]:
    """A line a reason why cells are to be measured again: cells that lack rounds, or cells that failed since."""
    pending = (task for task in shown if task.record["status"] == DONE and task.reason and bool(task.found) == few)
    return _by_reason((task.cell, _why_pending(task)) for task in pending)


def _why_pending(task: Task) -> str:
    """Say what happened since a cell was measured, and what it depended on then that is another now."""
    changes = keys.changes(task.record, task.key) if "since" in task.record else []
    return "; and ".join(filter(None, [task.reason, hashing.in_short(changes)]))


def _by_reason(cells: Iterable[tuple[Cell, str]]) -> list[str]:
    """A line a reason, with the cells that it holds for."""
    names = grouped((why, " / ".join(filter(None, (each.case, each.method, each.backend)))) for each, why in cells)
    return [f"- {reason}: {shortened(list(dict.fromkeys(own)))}" for reason, own in names.items()]


def strict(value: Any) -> Any:
    """Return `value` with numbers that JSON has not, as NaN, made null."""
    if isinstance(value, dict):
        return {name: strict(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
