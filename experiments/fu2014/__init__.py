"""Fu, Lewis, Kirby, Whitaker: Architecting the finite element method pipeline for the GPU (2014)."""

from __future__ import annotations

from experiments import labels as names

MESHES = ("regular", "irregular", "heart", "brain", "blobs")


def labels(results) -> dict[str, str]:
    """Return the name of every mesh that the results have."""
    return names.labels(results, "fu2014", MESHES)
