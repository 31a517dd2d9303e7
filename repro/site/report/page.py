"""The page: what each part shows, and the one file that it becomes."""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import repro
from repro.judge import claims, consistency
from repro.judge.claims import table as claims_table
from repro.judge.claims.stored import Stored
from repro.judge.verify import told as told_unverified
from repro.model import FAILED, SKIPPED, ReproError
from repro.optional import installer
from repro.show.measurements import Measurement, machines, measurements
from repro.site.report import roofline
from repro.site.report.beside import beside
from repro.site.report.files import compact, html, packed, sections
from repro.site.report.wall import STATES, Paper, Tile, catalogue, wall
from repro.site.showcase import tables
from repro.site.showcase.ledger import ledgers
from repro.units import MISSING

MARKS = {
    claims.REPRODUCED: "holds", claims.EXCEEDED: "exceeds", claims.WEAKER: "part", claims.CONTRADICTED: "fails",
    claims.UNDECIDED: "unmeasured",
}  # fmt: skip


def build(folders: Sequence[Path]) -> str:
    """Return the report of some results folders as one HTML page that loads nothing.

    Parameters
    ----------
    folders : sequence of Path
        Each with a folder a machine.

    Raises
    ------
    ReproError
        When a folder is not there, a stored file is damaged, or what draws the page is not installed.
    """
    known = catalogue()
    found = measurements(folders, known)
    papers = wall(known, found)
    verdicts = [verdict for folder in folders for verdict in claims.verdicts(folder)]
    ledger = [_claim(verdict) for verdict in _best(verdicts)]
    shown = roofline.points(found)
    return _template().render(
        version=repro.__version__, papers=[_paper(paper, ledger) for paper in papers], states=STATES,
        counts=Counter(tile.state for paper in papers for tile in paper.tiles),
        total=sum(len(paper.tiles) for paper in papers),
        machines=[_machine(name, found) for name in machines(found)],
        backends=list(dict.fromkeys(backend for each in found for backend in each.backends)),
        ledger=ledger, marks=MARKS, unverified=" ".join(filter(None, map(told_unverified, folders))),
        rule=html(claims_table.RULE), reading=html(claims_table.READING),
        headlines=[entry for each in ledgers() for name in each.headlines for entry in ledger
                   if (entry["paper"], entry["id"]) == (each.paper, name)],
        findings=[_findings(paper.key) for paper in papers],
        roofline=_script({"points": _columns(shown), "roofs": roofline.roofs(folders, shown)}),
        kernels=_kernels(folders, found), kernels_caption=html(tables.caption(every=True)),
        devices=list(dict.fromkeys(f"{point['machine']}, {point['device']}" for point in shown)),
        library=_library(),
    )  # fmt: skip


def _template() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ReproError(f"the report needs Jinja2 ({error}): {installer('report')} installs it") from None
    loader = jinja2.FileSystemLoader(Path(__file__).with_name("templates"))
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2")


@functools.cache
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ImportError as error:
        raise ReproError(f"the report needs vl-convert-python ({error}): {installer('report')} installs it") from None
    return vl_convert.javascript_bundle().replace("</script", "<\\/script")


def _script(value: Any) -> str:
    """Return a value as JSON that may stand within a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return records as columns by name, so that the page stays small: numbers to five digits, texts once each."""
    return {name: _column([row[name] for row in rows]) for name in rows[0]} if rows else {}


def _column(values: list) -> list | dict[str, list]:
    if all(isinstance(value, str) for value in values):
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        return {"texts": list(places), "places": [places[value] for value in values]}
    return [float(f"{value:.5g}") if isinstance(value, float) else value for value in values]


def _machine(name: str, found: Sequence[Measurement]) -> dict[str, Any]:
    mine = [each for each in found if each.machine == name]
    hosts = [facts for each in mine if (facts := each.manifest.get("machine"))]
    known = {key: [facts[key] for facts in hosts if facts.get(key)]
             for key in ("gpu", "cpu", "cores", "memory_bytes", "system", "driver")}  # fmt: skip
    return {
        "name": name, "count": len({each.artefact for each in mine if each.done}),
        # Of cards the kind counts: how many a host has is no fact of a measurement, and merged manifests do not say.
        "gpu": _names([kind for gpus in known["gpu"] for kind in gpus], "none" if hosts else MISSING),
        "cpu": _names(known["cpu"]), "cores": _span(known["cores"]),
        "memory": _span([round(each / 2**30) for each in known["memory_bytes"]], " GiB"),
        "system": _names(known["system"]), "driver": _names(known["driver"]) if known["driver"] else "",
    }  # fmt: skip


def _names(values: Sequence[str], none: str = MISSING) -> str:
    return ", ".join(dict.fromkeys(values)) or none


def _span(values: Sequence[int], unit: str = "") -> str:
    """Return the one value of all hosts, or from the least to the most; a dash when none is known."""
    if not values:
        return MISSING
    least, most = min(values), max(values)
    return (f"{least}" if least == most else f"{least} to {most}") + unit


def _paper(paper: Paper, ledger: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "key": paper.key, "title": paper.title, "authors": paper.authors, "year": paper.year,
        "tiles": [_tile(tile, ledger) for tile in paper.tiles],
    }  # fmt: skip


def _tile(tile: Tile, ledger: Sequence[dict[str, Any]]) -> dict[str, Any]:
    panels = [_panel(tile, each) for each in tile.measurements]
    return {
        "id": tile.id, "paper": tile.paper, "name": tile.name, "title": tile.title, "shows": tile.shows,
        "state": tile.state, "because": tile.because, "machines": tile.machines, "places": tile.places,
        "panels": panels, "thumbnail": next((panel["key"] for panel in panels if panel["figure"]), ""),
        "claims": [entry for entry in ledger if tile.id in entry["artefacts"]],
    }  # fmt: skip


def _panel(tile: Tile, each: Measurement) -> dict[str, Any]:
    picture, markdown = each.beside(".png"), each.beside(".md")
    parts = sections(markdown.read_text(encoding="utf-8")) if markdown else []
    name = f"{tile.id}.{each.machine}" + each.csv.name.removesuffix(".csv")[len(tile.id.partition("-")[2]) :]
    downloads = [("CSV", f"{name}.csv", packed(each.csv.read_bytes()))]
    if manifest := each.beside(".json"):
        downloads.append(("Manifest", f"{name}.json", packed(manifest.read_bytes())))
    return {
        "key": each.key, "machine": each.machine, "scale": each.scale, "backends": each.backends,
        "devices": each.devices, "overrides": each.overrides, "file": name,
        "cores": (each.manifest.get("machine") or {}).get("cores"),
        "rivals": (each.manifest.get("machine") or {}).get("rivals") or {},
        "figure": packed(compact(picture)) if picture else "",
        "tables": [part for part in parts if part.kind == "table"],
        "texts": [part for part in parts if part.kind == "text"], "beside": beside(each),
        "commands": each.commands or [f"repro run {tile.id} --scale {each.scale}"], "dates": each.dates,
        "commits": each.commits, "done": each.done, "skipped": each.statuses[SKIPPED],
        "failed": each.statuses[FAILED], "downloads": downloads,
    }  # fmt: skip


def _best(verdicts: Sequence[claims.Verdict]) -> list[claims.Verdict]:
    """Return a verdict a claim: with several folders, the first that has decided it."""
    best: dict[tuple[str, str], claims.Verdict] = {}
    for verdict in verdicts:
        other = best.get((verdict.paper, verdict.id))
        if other is None or (other.outcome == claims.UNDECIDED and verdict.outcome != claims.UNDECIDED):
            best[verdict.paper, verdict.id] = verdict
    return list(best.values())


def _kernels(folders: Sequence[Path], found: Sequence[Measurement]) -> list[tuple[str, str]]:
    """Return every machine with the table of its kernels, GPUs first."""
    shown, made = ledgers(), []
    for machine in machines(found):
        folder = next(folder for folder in folders if (folder / machine).is_dir())
        made.append((machine, html(tables.kernels(shown, Stored(folder, machine), _anchor, every=True))))
    return made


def _anchor(text: str, path: str) -> str:
    """A link within the page to an artefact; modules are not on it, and the one that says why is named."""
    place = Path(path)
    if place.suffix == ".md":
        return f"[{text}](#{place.parent.name}-{place.name.partition('.')[0]})"
    return text if text.startswith("`") else f"{text}: {path}"


def _claim(verdict: claims.Verdict) -> dict[str, Any]:
    claim, shown = verdict.claim, verdict.shown
    return {
        "id": claim.id, "paper": claim.paper, "place": claim.place, "says": claim.says, "condition": claim.condition,
        "artefacts": list(claim.artefacts), "machine": verdict.machine, "outcome": verdict.outcome, "why": verdict.why,
        "asked": shown.requirement if shown else "", "measured": claims_table.measured(shown),
        "scale": shown.scale if shown else "", "notes": list(verdict.notes),
        "today": claims_table.measured(verdict.today) if verdict.today and verdict.today.value is not None else "",
        "against": verdict.today.says if verdict.today else "",
        "points": html(claims_table.points(shown)) if shown and len(shown.points) > 1 else "",
    }  # fmt: skip


def _findings(paper: str) -> tuple[str, int, list[dict[str, Any]]]:
    """Return a paper, how many numbers it derives, and those that do not follow."""
    found = consistency.verdicts(paper)
    return paper, len(found), [consistency.record(verdict) for verdict in found if not verdict.agrees]
