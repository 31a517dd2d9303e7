"""Parts of each result that the page carries: figures made compact, rows by columns, tables out of Markdown."""

import base64
import csv
import functools
import gzip
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro.cache.store import content
from repro.show.render import HOW, NOT_MEASURED
from repro.show.tables import PAPERS

WIDEST = 1000  # pixels
COLOURS = 48  # of a picture


@dataclass(frozen=True)
class Section:
    """A part of an artefact's Markdown."""

    title: str
    html: str
    kind: str  #: one of 'table', 'text', 'made'


def packed(value: Any) -> str:
    """Return a value as JSON, compressed, in letters that may stand in a page; equal values give equal ones."""
    return base64.b64encode(gzip.compress(json.dumps(value, separators=(",", ":")).encode(), 9, mtime=0)).decode()


def by_columns(path: Path) -> list[list[str]]:
    """Return the columns of a CSV, each with its heading: equal texts that stand together are small when packed.

    A column of one text alone has it once: some other column tells how many rows there are, as no two are equal.
    """
    stream = io.StringIO(content(path).decode(), newline="")
    columns = zip(*csv.reader(stream), strict=True)
    return [[name, *(values if len(set(values)) > 1 else values[:1])] for name, *values in columns]


def picture(path: Path) -> str:
    """Return the address of a picture made small: no wider than it is shown, of few colours."""
    from PIL import Image

    with Image.open(path) as original:
        made = original.convert("RGB")
    if made.width > WIDEST:
        height = max(1, round(made.height * WIDEST / made.width))
        made = made.resize((WIDEST, height), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    # By coverage: a median cut would give a few marks the colours of others that are near.
    made = made.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).convert("RGB")
    made.save(stream, "WEBP", lossless=True, method=4, quality=100)  # of the packing: the picture stays the same
    return f"data:image/webp;base64,{base64.b64encode(stream.getvalue()).decode()}"


def missing(markdown: str) -> list[str]:
    """Return what a result lacks, by its Markdown: a line a reason, with the cells that it holds for."""
    part = markdown.partition(f"\n## {NOT_MEASURED}\n")[2].partition("\n## ")[0]
    return [line.removeprefix("- ") for line in part.splitlines() if line.startswith("- ")]


def sections(markdown: str, is_papers: bool = True) -> list[Section]:
    """Return the tables of an artefact's Markdown, each with its title and notes, and its other parts.

    Parameters
    ----------
    markdown : str
        As `repro.show.render` writes it. Its heading and picture are left out: the page has its own.
    is_papers : bool
        Whether the sizes are the paper's; else tables lose its columns.
    """
    made: list[Section] = []
    for part in re.split(r"\n(?=\*\*|## |!\[)", markdown.partition("\n")[2].strip()):
        text = part.strip()
        if table := re.match(r"\*\*(.+?)\*\*\s*\n", text):
            made.append(Section(table[1].replace("\\|", "|"), html(_own(text[table.end() :], is_papers)), "table"))
        elif heading := re.match(r"## (.+)\n?", text):
            made.append(Section(heading[1], html(text[heading.end() :]), "made" if heading[1] == HOW else "text"))
        elif text.startswith("**"):
            made.append(Section("", html(text), "text"))
    return made


def _own(table: str, is_papers: bool) -> str:
    """Return a table without the paper's columns where they are of other sizes; what is below it stays."""
    if is_papers:
        return table
    lines = [re.split(r" *(?<!\\)\| *", line) for line in table.partition("\n\n")[0].splitlines()]
    kept = [k for k, name in enumerate(lines[0]) if PAPERS not in name] if lines else []
    rows = [" | ".join(line[k] for k in kept if k < len(line)).strip() for line in lines]
    notes = [line for line in table.partition("\n\n")[2].splitlines() if not line.startswith("- The paper's columns")]
    return "\n".join([*rows, "", *notes])


def html(markdown: str) -> str:
    """Return Markdown as HTML; HTML within it is shown, not obeyed."""
    return _parser().render(markdown).replace("<th ", '<th scope="col" ').replace("<th>", '<th scope="col">')


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")
