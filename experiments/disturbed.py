"""Rivals whose samples other work disturbed, as tables tell them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from repro.units import is_missing

NOTE = (
    "Disturbed: other work disturbed at least as many samples of the rival as were kept. Its time over ours may be too "
    "high."
)


def is_disturbed(row: Mapping[str, Any]) -> bool:
    """Return whether other work disturbed at least as many samples of a time as were kept."""
    count, samples = row["disturbed"], row["n"]
    return not is_missing(count) and not is_missing(samples) and 0 < samples <= count


def marked(name: str, row: Mapping[str, Any]) -> str:
    """Return a rival's name, with a mark where its time is of disturbed samples."""
    return name + ", disturbed" * is_disturbed(row)


def note(rivals: Iterable[Mapping[str, Any] | None]) -> list[str]:
    """Return the note that explains the mark, where one of the rivals' rows has it."""
    return [NOTE] * any(row is not None and is_disturbed(row) for row in rivals)
