"""Figures drawn and tables written again from stored results, without measuring anything."""

import re
from collections.abc import Sequence
from pathlib import Path

from repro import discovery
from repro.cache.store import write_atomically, write_packed
from repro.discovery import Artefact
from repro.show.measurements import Measurement


def redraw(artefact: Artefact, stored: Measurement, formats: Sequence[str], folder: Path | None = None) -> list[Path]:
    """Draw the figure of an artefact's stored results, and return its files; where it has none now, remove an older.

    They go into ``<machine>/<paper>`` of a folder, by default beside the results.
    """
    from repro.show import plots

    figure = discovery.load(artefact).plot(stored.results()) if stored.done else None
    target = folder / stored.machine / artefact.paper if folder else stored.csv.parent
    name = stored.csv.name.removesuffix(".csv")
    if figure is None:
        plots.remove(target / name)
        return []
    return plots.save(figure, target / name, formats)


def pack(stored: Measurement) -> bool:
    """Compress the rows of an artefact's stored results, and return whether they were not; pandas reads them so, too.

    The manifest tells the rows, not how they are stored. Samples are compressed as they are written. Files of the
    first edition stay.
    """
    if not stored.csv.is_file() or stored.manifest.get("schema", 1) < 2:
        return False
    write_packed(stored.csv, stored.csv.read_bytes())
    return True


def retell(artefact: Artefact, stored: Measurement) -> Path | None:
    """Write the title, the tables and the pictures' words of an artefact's stored results again, by its code of today.

    Return the Markdown file that has them, if it changed. The rest of it stays, but for a picture that is gone.
    """
    from repro.show.render import AFTER_TABLES, as_markdown, first_line, pictured

    path = stored.beside(".md")
    if path is None or not stored.done:
        return None
    text = before = path.read_text(encoding="utf-8")
    if stored.beside(".png") is None:
        text = re.sub(rf"^!\[.*\]\({re.escape(path.stem)}\.png\)\n\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^!\[.*\]\((.+)\)$", lambda found: pictured(artefact, found[1]), text, flags=re.MULTILINE)
    rest = AFTER_TABLES.search(text)
    tables = as_markdown(discovery.load(artefact).tables(stored.results()))
    told = "\n\n".join([first_line(artefact), *tables, text[rest.start() :] if rest else ""])
    if told == before:
        return None
    write_atomically(path, told)
    return path
