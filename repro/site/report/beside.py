"""Ours beside the published numbers of an artefact, each as a share of what its own hardware allows."""

from __future__ import annotations

from typing import Any

from repro.judge.compare import beside_the_paper
from repro.show.measurements import Measurement
from repro.show.results import is_missing
from repro.units import MISSING, significant


def beside(stored: Measurement) -> list[dict[str, str]]:
    """Return a line, as text, for each number that was measured here and is printed in the paper.

    Returns
    -------
    list of dict
        ``case``, ``method``, ``backend``, ``metric``, ``ours`` and its ``interval``, ``published`` and its ``place``,
        ``ratio``, ``of_peak`` and ``published_of_peak``.
    """
    found = beside_the_paper(stored.artefact, stored.csv, stored.frame, stored.manifest)
    return [_line(row) for row in found.to_dict("records")]


def _line(row: dict[str, Any]) -> dict[str, str]:
    ends = [_number(row[name]) for name in ("ci_low", "ci_high") if not is_missing(row[name])]
    return {
        **{name: str(row[name]) for name in ("case", "method", "backend", "metric", "place")},
        "unit": "" if row["unit"] in ("count", "x") else row["unit"],
        "ours": _number(row["ours"]), "interval": " to ".join(ends), "published": _number(row["published"]),
        "ratio": _number(row["ratio"]), "of_peak": _share(row["of_peak"]),
        "published_of_peak": _share(row["published_of_peak"]),
    }  # fmt: skip


def _number(value: Any) -> str:
    if is_missing(value):
        return MISSING
    return significant(int(value) if float(value).is_integer() else float(value))


def _share(value: Any) -> str:
    return MISSING if is_missing(value) else f"{significant(100 * float(value), 2)} %"
