"""Wong, Kuhl, Darve: a sparse matrix-vector product on GPUs for finite elements, and the heart that beats by it (2015)."""

from __future__ import annotations

from experiments import labels as names

HEARTS = ("heart_3k", "heart_5k", "heart_30k", "heart_50k")
DEVICES = ("cuda", "opencl", "openmp")


def labels(results) -> dict[str, str]:
    """Return the name of every dataset that the results have, where cases are called by their datasets."""
    return names.labels(results, "wong2015", results.cases)
