"""Rivals whose samples other work disturbed, as tables tell them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from repro.show.results import Results

NOTE = "Disturbed: other work disturbed the rival's samples to the end, so that its time over ours may be too high."


def is_disturbed(results: Results, row: Mapping[str, Any]) -> bool:
    """Return whether the samples of a row's cell could not be had without other work beside them."""
    return (row["case"], row["method"], row["backend"]) in results.disturbed


def marked(results: Results, name: str, row: Mapping[str, Any]) -> str:
    """Return a rival's name, with a mark where its time is of disturbed samples."""
    return name + ", disturbed" * is_disturbed(results, row)


def note(results: Results, rivals: Iterable[Mapping[str, Any] | None]) -> list[str]:
    """Return the note that explains the mark, where one of the rivals' rows has it."""
    return [NOTE] * any(row is not None and is_disturbed(results, row) for row in rivals)
