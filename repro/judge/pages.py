"""Whether the stored pages of artefacts have what their rows and cells give."""

from collections.abc import Iterator
from pathlib import Path

from repro import discovery
from repro.cache.store import as_stored
from repro.show.measurements import unread
from repro.show.redraw import retold
from repro.show.render import AFTER_TABLES, HEADINGS, PROBLEM

OUTDATED = "its page is not what `repro figures` writes of its rows and of the machine's ceilings"


def check(results: Path) -> Iterator[tuple[str, str]]:
    """Yield which page is not as it should be, below the folder of results and without suffix, and why."""
    artefacts = {each.id: each for each in discovery.find()}
    for stored in unread(results, artefacts):
        path = stored.csv.with_suffix(".md")
        file = path.relative_to(results).with_suffix("").as_posix()
        try:
            page = path.read_text(encoding="utf-8")
            if retold(artefacts[stored.artefact], stored, page) != page:
                yield file, OUTDATED
            yield from ((file, f"no run writes this line of its page: {line}") for line in _foreign(page))
        except FileNotFoundError:
            yield file, "there is no page beside the rows"
        except Exception as error:  # whatever an artefact's code says of rows that it does not expect
            yield file, f"its page cannot be written again: {type(error).__name__}: {error}"
    papers = sorted({artefact.paper for artefact in artefacts.values()})
    for path in sorted(page for paper in papers for page in results.glob(f"*/{paper}/*.md")):
        if not as_stored(path.with_suffix(".csv")).is_file():
            yield path.relative_to(results).with_suffix("").as_posix(), "there are no rows beside the page"


def _foreign(page: str) -> list[str]:
    """Return the lines below the tables that are none of a run's; of a page that tells an error, none."""
    start = AFTER_TABLES.search(page)
    if start is None or PROBLEM in page:
        return []
    known = {f"## {heading}" for heading in HEADINGS}
    lines = page[start.start() :].splitlines()
    return [line for line in lines if line and not line.startswith(("- ", "![")) and line not in known]
