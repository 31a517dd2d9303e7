"""Figures drawn and tables written again from stored results, without measuring anything."""

import re
from collections.abc import Sequence
from pathlib import Path

from repro import discovery
from repro.cache.store import write_atomically
from repro.discovery import Artefact
from repro.show.measurements import Measurement


def redraw(artefact: Artefact, stored: Measurement, formats: Sequence[str], folder: Path | None = None) -> list[Path]:
    """Draw the figure of an artefact's stored results; where it has none any longer, remove an older.

    Raises `ReproError` when the artefact's module cannot be imported.

    Parameters
    ----------
    folder : Path, optional
        Where to write, in ``<machine>/<paper>``; by default beside the results.

    Returns
    -------
    list of Path
        The files written; none where nothing is done or the artefact has no figure.
    """
    from repro.show import plots

    figure = discovery.load(artefact).plot(stored.results()) if stored.done else None
    target = folder / stored.machine / artefact.paper if folder else stored.csv.parent
    name = stored.csv.name.removesuffix(".csv")
    if figure is None:
        plots.remove(target / name)
        _leave_out_picture(target / f"{name}.md", f"{name}.png")
        return []
    return plots.save(figure, target / name, formats)


def _leave_out_picture(path: Path, picture: str) -> None:
    """Take the line that shows a picture out of a Markdown file, if there is one."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    left = re.sub(rf"^!\[.*\]\({re.escape(picture)}\)\n\n", "", text, flags=re.MULTILINE)
    if left != text:
        write_atomically(path, left)


def retell(artefact: Artefact, stored: Measurement) -> Path | None:
    """Write the tables of an artefact's stored results again, and leave the rest of their Markdown file as it is.

    Raises `ReproError` when the artefact's module cannot be imported.

    Returns
    -------
    Path or None
        The file, if it has other tables now.
    """
    from repro.show.render import AFTER_TABLES, as_markdown

    path = stored.beside(".md")
    if path is None or not stored.done:
        return None
    text = path.read_text(encoding="utf-8")
    title, rest = text.partition("\n")[0], AFTER_TABLES.search(text)
    tables = as_markdown(discovery.load(artefact).tables(stored.results()))
    told = "\n\n".join([title, *tables, text[rest.start() :] if rest else ""])
    if told == text:
        return None
    write_atomically(path, told)
    return path
