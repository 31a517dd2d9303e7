"""Fu, Lewis, Kirby, Whitaker: Architecting the finite element method pipeline for the GPU (2014)."""

from __future__ import annotations

from pathlib import Path

import datasets

MESHES = ("regular", "irregular", "heart", "brain", "blobs")


def labels(results, meshes=None) -> dict[str, str]:
    """Return the name of every mesh that the results have; a stand-in says so, and a user's own names its file.

    With `meshes`, the names of these, where cases are not called by their meshes.
    """
    names = {}
    for mesh in meshes or [mesh for mesh in MESHES if mesh in results.cases]:
        entry = datasets.entry(f"fu2014/{mesh}")
        own = results.overrides.get(entry.name)
        names[mesh] = f"{entry.short_title} ({Path(own).name})" if own else entry.title
    return names
