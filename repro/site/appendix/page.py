"""The appendix as Markdown, by a Jinja template."""

from __future__ import annotations

from pathlib import Path

from repro.judge.claims.table import SHARED, marked, state
from repro.model import ReproError
from repro.optional import installer
from repro.site.appendix.facts import Facts

TEMPLATES = Path(__file__).with_name("templates")


def build(facts: Facts) -> str:
    """Return the appendix as Markdown.

    Raises
    ------
    ReproError
        When Jinja is not installed.
    """
    try:
        import jinja2
    except ImportError as error:
        raise ReproError(f"the appendix needs Jinja2 ({error}): {installer('report')} installs it") from None
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True, autoescape=False,  # Markdown for people, not HTML
    )  # fmt: skip
    templates.filters.update(measured=marked, state=state, minutes=_minutes, cell=_cell)
    return templates.get_template("appendix.md.j2").render(facts=facts, shared=SHARED)


def _minutes(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:g} min" if value < 90 else f"{value / 60:.1f} h"


def _cell(text: str) -> str:
    """Text as it can stand in a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")
