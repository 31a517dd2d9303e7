"""Wong, Kuhl, Darve: a sparse matrix-vector product on GPUs for finite elements, and a beating heart (2015)."""

from __future__ import annotations

from experiments import labels as names
from repro import published

HEARTS = ("heart-3k", "heart-5k", "heart-30k", "heart-50k")
DEVICES = ("cuda", "opencl", "openmp")


def dataset(case: str) -> str:
    """Return the dataset of a case: the paper's names have hyphens, datasets have underscores."""
    return f"wong2015/{case.replace('-', '_')}"


def labels(results) -> dict[str, str]:
    """Return the name of every case that the results have; a stand-in says that it is one."""
    return {case: names.label(results, dataset(case)) for case in results.cases}


def stated(statement: str) -> str | None:
    """Return the digits that the paper's text prints for a statement, or None."""
    found = {number.case: number.printed for number in published.load("wong2015-text")}
    return found.get(statement)
