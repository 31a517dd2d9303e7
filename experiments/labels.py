"""Names of the datasets that a paper's results are of, for tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import datasets


def label(results, dataset: str) -> str:
    """Return the name of a dataset; a stand-in says so, one that was downloaded and a user's own say which they are."""
    entry = datasets.entry(dataset)
    own = results.overrides.get(entry.name)
    if own:
        return f"{entry.short_title} ({Path(own).name})"
    collection = getattr(entry.recipe, "COLLECTION", "")
    return f"{entry.short_title} ({collection})" if collection and entry.is_public(results.scale) else entry.title


def stands_in(results, dataset: str) -> bool:
    """Return whether a dataset of the results stands in for a geometry that is not public."""
    return bool(datasets.entry(dataset).stand_in_for) and dataset not in results.overrides


def labels(results, paper: str, cases: Sequence[str]) -> dict[str, str]:
    """Return the name of every case that the results have, where cases are called by their datasets."""
    return {case: label(results, f"{paper}/{case}") for case in cases if case in results.cases}
