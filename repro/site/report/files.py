"""What the page carries of each result: figures made compact, files to download, tables out of Markdown."""

from __future__ import annotations

import base64
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path

from repro.show.render import NOT_MEASURED

WIDEST = 1200  # pixels
COLOURS = 64  # of its palette


@dataclass(frozen=True)
class Section:
    """A part of an artefact's Markdown.

    Attributes
    ----------
    title : str
    html : str
    kind : {'table', 'text'}
    """

    title: str
    html: str
    kind: str


def packed(content: bytes) -> str:
    """Return a file as a ``data:`` address, compressed; the same bytes give the same address."""
    return "data:application/gzip;base64," + base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def unpacked(address: str) -> bytes:
    """Return the file that `packed` was given."""
    return gzip.decompress(base64.b64decode(address.partition(",")[2]))


def compact(path: Path) -> bytes:
    """Return a picture made smaller: fewer pixels where it has many, and a palette in place of full colour."""
    from PIL import Image

    with Image.open(path) as original:
        picture = original.convert("RGB")
    if picture.width > WIDEST:
        height = max(1, round(picture.height * WIDEST / picture.width))
        picture = picture.resize((WIDEST, height), Image.Resampling.LANCZOS)
    stream = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True)
    return min(path.read_bytes(), stream.getvalue(), key=len)


def missing(markdown: str) -> list[str]:
    """Return what a result lacks, by its Markdown: a line a reason, with the cells that it holds for."""
    part = markdown.partition(f"\n## {NOT_MEASURED}\n")[2].partition("\n## ")[0]
    return [line.removeprefix("- ") for line in part.splitlines() if line.startswith("- ")]


def sections(markdown: str) -> list[Section]:
    """Return the tables of an artefact's Markdown, each with its title and notes, and its other parts.

    Parameters
    ----------
    markdown : str
        As `repro.show.render` writes it. Its heading, picture and how it was made are left out: the page has its own.
    """
    made: list[Section] = []
    for part in re.split(r"\n(?=\*\*|## |!\[)", markdown.partition("\n")[2].strip()):
        text = part.strip()
        if table := re.match(r"\*\*(.+?)\*\*\s*\n", text):
            made.append(Section(table[1].replace("\\|", "|"), html(text[table.end() :]), "table"))
        elif heading := re.match(r"## (.+)\n?", text):
            if heading[1] != "How it was made":
                made.append(Section(heading[1], html(text[heading.end() :]), "text"))
        elif text.startswith("**"):
            made.append(Section("", html(text), "text"))
    return made


def html(markdown: str) -> str:
    """Return Markdown as HTML; HTML within it is shown, not obeyed."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return made.replace("<th ", '<th scope="col" ').replace("<th>", '<th scope="col">')
