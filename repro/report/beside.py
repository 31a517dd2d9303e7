"""Ours beside the published numbers of an artefact, each as a share of what its own hardware allows."""

from __future__ import annotations

import json
from typing import Any

from repro import published
from repro.compare import compare, works_of
from repro.report.stored import Measurement
from repro.results import is_missing
from repro.units import MISSING, quantity, significant


def beside(stored: Measurement) -> list[dict[str, str]]:
    """Return a line, as text, for each number that was measured here and is printed in the paper.

    Returns
    -------
    list of dict
        ``case``, ``method``, ``backend``, ``metric``, ``ours`` and its ``interval``, ``published`` and its ``place``,
        ``ratio``, ``of_peak`` and ``published_of_peak``.
    """
    paper = stored.artefact.partition("-")[0]
    stands_for = published.stand_ins(paper, dict.fromkeys(stored.frame["method"]))
    path = stored.csv.parents[1] / "ceilings.json"
    ceilings = json.loads(path.read_bytes()) if path.is_file() else {}
    found = compare(stored.frame, published.load(stored.artefact), stands_for, ceilings, works_of(stored.manifest))
    return [_line(row) for row in found.to_dict("records")]


def _line(row: dict[str, Any]) -> dict[str, str]:
    unit = "" if row["unit"] in ("count", "x") else row["unit"]
    ends = [quantity(row[name], unit, column_unit=unit) for name in ("ci_low", "ci_high") if not is_missing(row[name])]
    interval = " to ".join(ends)
        "" if any(map(is_missing, ends)) else " to ".join(quantity(float(end), unit, column_unit=unit) for end in ends)
    )
    return {
        **{name: str(row[name]) for name in ("case", "method", "backend", "metric", "place")},
        "ours": quantity(row["ours"], unit, column_unit=unit), "interval": interval,
        "published": quantity(row["published"], unit, column_unit=unit), "unit": unit,
        "ratio": MISSING if is_missing(row["ratio"]) else significant(float(row["ratio"])),
        "of_peak": _share(row["of_peak"]), "published_of_peak": _share(row["published_of_peak"]),
    }  # fmt: skip


def _share(value: Any) -> str:
    return MISSING if is_missing(value) else f"{significant(100 * float(value), 2)} %"
