"""Names of the datasets that a paper's results are of, for tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import datasets


def labels(results, paper: str, cases: Sequence[str]) -> dict[str, str]:
    """Return the name of every case that the results have; a stand-in says so, and a user's own names its file."""
    names = {}
    for case in cases:
        if case in results.cases:
            entry = datasets.entry(f"{paper}/{case}")
            own = results.overrides.get(entry.name)
            names[case] = f"{entry.short_title} ({Path(own).name})" if own else entry.title
    return names
