"""The page: what each part shows, and the one file that it becomes."""

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import repro
from repro import published
from repro.judge import claims
from repro.judge.claims import table as claims_table
from repro.judge.claims.stored import Stored
from repro.judge.compare import beside_the_paper
from repro.judge.verify import told as told_unverified
from repro.model import FAILED, SKIPPED, ReproError
from repro.optional import installer
from repro.show.measurements import Measurement, machines, measurements
from repro.show.tables import Table
from repro.site.report import roofline
from repro.site.report.files import by_columns, html, packed, picture, sections
from repro.site.report.wall import STATES, catalogue, wall
from repro.site.showcase import tables
from repro.site.showcase.ledger import headlines, ledgers
from repro.units import MISSING, is_missing, significant

BEST = 10  # kernels on the first screen
MARKS = {
    claims.REPRODUCED: "holds", claims.EXCEEDED: "exceeds", claims.WEAKER: "part", claims.CONTRADICTED: "fails",
    claims.UNDECIDED: "unmeasured", claims.CITED: "cited",
}  # fmt: skip


def build(folder: Path, tell: Callable[[str], None] = lambda text: None) -> str:
    """Return the report of a results folder as one HTML page that loads nothing.

    `tell`: is given a line for each stage that takes a while.

    Raises `ReproError` when a folder is not there, a stored file is damaged, or what draws the page is not installed.
    """
    known, environment = catalogue(), _environment()
    found = measurements(folder, known)
    tell(f"{len(found)} stored results ...")
    papers = wall(known, found)
    stores = {name: Stored(folder, name) for name in claims.machines(folder)}
    stored = {name: stores[name] for name in machines(found)}
    tell("claims ...")
    verdicts = claims.verdicts(folder, stores=list(stores.values()))
    shown = roofline.points(found)
    tell(f"tables and pictures, of {len(found)} results ...")
    panel = environment.get_template("panel.html.j2").render
    carried = {
        "panels": {each.key: panel(tile=tile, each=each, **_panel(each))
                   for paper in papers for tile in paper.tiles for each in tile.measurements},
        # Not within the panels: these are alike on all machines, which packing finds only where they are close.
        "pictures": {each.key: picture(drawn) for each in found if (drawn := each.beside(".png"))},
        "rows": {each.key: by_columns(each.csv) for each in found},
        "roofline": {"points": _columns(shown), "roofs": roofline.roofs(folder, shown)},
        "library": _library(),
    }  # fmt: skip
    tell("kernels and the page ...")
    return environment.get_template("page.html.j2").render(
        version=repro.__version__, papers=papers, states=STATES, marks=MARKS,
        counts=Counter(tile.state for paper in papers for tile in paper.tiles),
        total=sum(len(paper.tiles) for paper in papers),
        machines=[_machine(name, found) for name in stored],
        backends=list(dict.fromkeys(backend for each in found for backend in each.backends)),
        verdicts=[(verdict, html(claims_table.told(verdict, _anchor))) for verdict in verdicts],
        measured=claims_table.measured, unverified=told_unverified(folder),
        summary=html(claims_table.summary(verdicts)), rule=html(claims_table.RULE), reading=html(claims_table.READING),
        headlines=html(claims_table.numbers(verdicts, headlines(), "#claim-{paper}-{id}")),
        best=next(((name, html(tables.best(ledgers(), each, _anchor, BEST))) for name, each in stored.items()),
                  ()),
        most=BEST, findings=_findings(),
        kernels={name: html(tables.kernels(ledgers(), each, _anchor)) for name, each in stored.items()},
        kernels_caption=html(tables.caption()),
        devices=list(dict.fromkeys(f"{point['machine']}, {point['device']}" for point in shown)),
        carried=packed(carried),
    )  # fmt: skip


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ReproError(f"the report needs Jinja2 ({error}): {installer('report')} installs it") from None
    loader = jinja2.FileSystemLoader(Path(__file__).with_name("templates"))
    return jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


@functools.cache
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ImportError as error:
        raise ReproError(f"the report needs vl-convert-python ({error}): {installer('report')} installs it") from None
    return vl_convert.javascript_bundle()


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


def _panel(each: Measurement) -> dict[str, Any]:
    """Return what a panel shows beside the facts of a measurement."""
    markdown = each.beside(".md")
    is_papers = each.scale == "paper" or not each.done
    parts = sections(markdown.read_text(encoding="utf-8"), is_papers) if markdown else []
    return {
        "drawn": each.beside(".png") is not None, "beside": _beside(each) if is_papers else (0, ""),
        "skipped": each.statuses[SKIPPED], "failed": each.statuses[FAILED],
        **{kind: [part for part in parts if part.kind == kind] for kind in ("table", "text", "made")},
    }  # fmt: skip


def _beside(each: Measurement) -> tuple[int, str]:
    """Return how many numbers were measured and are printed in the paper, and a table of both."""
    import pandas

    found = beside_the_paper(each.artefact, each.csv, each.frame, each.manifest)
    ends = [[_number(end) for end in pair] for pair in zip(found["ci_low"], found["ci_high"], strict=True)]
    columns = {
        "Case": found["case"], "Method": found["method"], "Back end": found["backend"], "Metric": found["metric"],
        "Unit": found["unit"], "Ours": found["ours"].map(_number),
        "Interval": [" to ".join(pair) if MISSING not in pair else MISSING for pair in ends],
        "Published": found["published"].map(_number), "Place": found["place"],
        "Ours over published": found["ratio"].map(_number),
        "Ours, of what the device allows": found["of_peak"].map(_share),
        "Published, of its device's peak": found["published_of_peak"].map(_share),
    }  # fmt: skip
    return len(found), html(Table("", pandas.DataFrame(columns)).to_markdown().partition("\n")[2])


def _number(value: Any) -> str:
    if is_missing(value):
        return MISSING
    return significant(int(value) if float(value).is_integer() else float(value))


def _share(value: Any) -> str:
    return MISSING if is_missing(value) else f"{significant(100 * float(value), 2)} %"


def _findings() -> dict[str, str]:
    found = {paper: claims_table.contradictions(paper) for paper in published.papers()}
    return {paper: html(text) for paper, text in found.items() if text}


def _anchor(text: str, path: str) -> str:
    """A link within the page to an artefact; modules are not on it, and the one that says why is named."""
    place = Path(path)
    if place.suffix == ".md":
        return f"[{text}](#{place.parent.name}-{place.name.partition('.')[0]})"
    return text if text.startswith("`") else f"{text}: {path}"
