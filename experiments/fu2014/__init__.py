"""Fu, Lewis, Kirby, Whitaker: Architecting the finite element method pipeline for the GPU (2014)."""

from __future__ import annotations

import datasets

MESHES = ("regular", "irregular", "heart", "brain", "blobs")


def labels(results) -> dict[str, str]:
    """Return the paper's name of every mesh that the results have; a stand-in says that it is one."""
    names = {}
    for mesh in MESHES:
        if mesh in results.cases:
            stand_in = " (stand-in)" if datasets.entry(f"fu2014/{mesh}").stand_in_for else ""
            names[mesh] = mesh.capitalize() + stand_in
    return names
