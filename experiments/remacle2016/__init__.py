"""Remacle, Gandham, Warburton: GPU accelerated spectral finite elements on all-hex meshes (2016)."""

from __future__ import annotations

from pathlib import Path

import datasets

MESHES = ("mesh1", "mesh2", "mesh3")


def label(mesh: str, elements: int, results) -> str:
    """Return what tables call a cube; a user's own mesh in its place names its file."""
    entry = datasets.entry(f"remacle2016/{mesh}-{elements}")
    own = results.overrides.get(entry.name)
    return f"{entry.recipe.TITLE} ({Path(own).name})" if own else entry.recipe.TITLE
