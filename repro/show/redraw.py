"""Figures drawn and tables written again from stored results, without measuring anything."""

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

from repro import discovery
from repro.cache.store import write_atomically, write_packed
from repro.discovery import Artefact
from repro.judge.verify import unverified
from repro.model import DONE
from repro.show.measurements import Measurement
from repro.show.provenance import hosts_that_measured, measured


def redraw(artefact: Artefact, stored: Measurement, formats: Sequence[str], folder: Path | None = None) -> list[Path]:
    """Draw the figure of an artefact's stored results, and return its files; where it has none now, remove an older.

    They go into ``<machine>/<paper>`` of a folder, by default beside the results.
    """
    from repro.show import plots

    figure = discovery.load(artefact).plot(stored.results()) if stored.done else None
    stem = _stem(artefact, stored, folder)
    if figure is None:
        plots.remove(stem)
        return []
    return plots.save(figure, stem, formats)


def redraw_extras(artefact: Artefact, stored: Measurement, folder: Path | None = None) -> list[Path]:
    """Make what an artefact has beside its figure again of its stored results, and return the files, as `redraw` does.

    Raises `Skip` when that needs what is not on this machine; the files stay as they are.
    """
    module, results = discovery.load(artefact), stored.results()
    if not hasattr(module, "extras") or not stored.done or not module.tables(results):
        return []
    stem, written = _stem(artefact, stored, folder), []
    for suffix, made in module.extras(results).items():
        written.append(stem.with_name(stem.name + suffix))
        write_atomically(written[-1], made)
    return written


def _stem(artefact: Artefact, stored: Measurement, folder: Path | None) -> Path:
    target = folder / stored.machine / artefact.paper if folder else stored.csv.parent
    return target / stored.csv.stem


def pack(stored: Measurement) -> bool:
    """Compress the rows of an artefact's stored results, and return whether they were not; pandas reads them so, too.

    The manifest tells the rows, not how they are stored. Samples are compressed as they are written.
    """
    if not stored.csv.is_file():
        return False
    write_packed(stored.csv, stored.csv.read_bytes())
    return True


def retell(artefact: Artefact, stored: Measurement) -> Path | None:
    """Write title, tables, pictures' words and hosts of an artefact's stored results again, by its code of today.

    Return the Markdown file that has them, if it changed. The rest of it stays, but for a picture that is gone.
    """
    path = stored.beside(".md")
    if path is None:
        return None
    text = before = path.read_text(encoding="utf-8")
    if stored.done and stored.beside(".png") is None:
        text = re.sub(rf"^!\[.*\]\({re.escape(path.stem)}\.png\)\n\n", "", text, flags=re.MULTILINE)
    told = retold(artefact, stored, text)
    if told == before:
        return None
    write_atomically(path, told)
    return path


def retold(artefact: Artefact, stored: Measurement, page: str) -> str:
    """Return the text of a page with title, tables, pictures' words and hosts as today's code has them of the rows.

    So are the cells that failed or were skipped, and when how many were measured. A page of which nothing is measured
    stays. One that is listed as unverified says so first.
    """
    from repro.show.render import AFTER_TABLES, BELIEVED, as_markdown, first_line, noted, pictured

    if not stored.done:
        return page
    page = re.sub(r"^!\[.*\]\((.+)\)$", lambda found: pictured(artefact, found[1]), page, flags=re.MULTILINE)
    start = AFTER_TABLES.search(page)
    rest = _with_hosts(page[start.start() :] if start else "", stored)
    rest = _with_cells(rest, artefact, stored)
    beliefs = rest.partition(f"## {BELIEVED}\n\n")[2].partition("\n\n")[0]
    tables = discovery.load(artefact).tables(stored.results())
    told = as_markdown(noted(tables, [line.removeprefix("- ") for line in beliefs.splitlines()]))
    results = stored.csv.parents[2]
    why = unverified(results).get(stored.csv.relative_to(results).with_suffix("").as_posix())
    return "\n\n".join([first_line(artefact), *([f"**Unverified: {why}.**"] if why else []), *told, rest])


def _with_hosts(page: str, stored: Measurement) -> str:
    """Return the end of a page with its line on the hosts: of all rounds, of which a row names the last one's."""
    rows = stored.frame[stored.frame["status"] == DONE]
    pairs = list(zip(rows["host"], rows["backend"], strict=True))
    pairs += [(each.get("host"), cell["backend"]) for cell in stored.archive["samples"] for each in cell["rounds"]]
    page = re.sub(r"^- hosts: .*\n", "", page, flags=re.MULTILINE)
    line = "".join(f"{each}\n" for each in hosts_that_measured(pairs))
    return re.sub(r"^- measured: .*\n", lambda found: found[0] + line, page, count=1, flags=re.MULTILINE)


def _with_cells(page: str, artefact: Artefact, stored: Measurement) -> str:
    """Return the end of a page with what failed, what was skipped, and when how many cells were measured."""
    from repro.cache.plan import cells_of
    from repro.show.render import ENDED, ended

    cells = stored.manifest["cells"]
    told = ended((SimpleNamespace(**cell), cell["status"], cell["reason"]) for cell in cells)
    page = re.sub(rf"^## (?:{'|'.join(ENDED.values())})\n\n(?:- .*\n)+\n", "", page, flags=re.MULTILINE)
    text = "".join(f"{each}\n\n" for each in told)
    page = re.sub("^## ", lambda found: text + found[0], page, count=1, flags=re.MULTILINE)
    dates = sorted(cell["date"] for cell in cells if cell["status"] == DONE)
    line = measured(dates, len(cells_of(artefact, discovery.load(artefact), stored.scale)))
    return re.sub(r"^- measured: .*$", lambda _: line, page, count=1, flags=re.MULTILINE)
