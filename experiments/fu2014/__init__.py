"""Fu, Lewis, Kirby, Whitaker: Architecting the finite element method pipeline for the GPU (2014)."""

from __future__ import annotations

from experiments import labels as names

MESHES = ("regular", "irregular", "heart", "brain", "blobs")
# Geometry that others publish, each before the paper's mesh that it is to be compared with: measured where it is there.
REAL = {"biventricular": "heart", "cortex": "brain"}
EVERY = ("regular", "irregular", "biventricular", "heart", "cortex", "brain", "blobs")


def labels(results) -> dict[str, str]:
    """Return the name of every mesh that the results have; of published geometry where it was measured."""
    measured = set(results.done["case"])
    shown = [mesh for mesh in EVERY if mesh in MESHES or mesh in measured]
    return names.labels(results, "fu2014", shown)


def chosen(results) -> list[str]:
    """Say which stand-ins in the results have a recipe that was chosen by the paper's own numbers."""
    found = [mesh for mesh in ("heart", "brain", "blobs")
             if mesh in results.cases and names.stands_in(results, f"fu2014/{mesh}")]  # fmt: skip
    told = ", ".join(names.label(results, f"fu2014/{mesh}") for mesh in found)
    return [f"The recipes of these stand-ins were chosen so that valences and iterations of CG come near the paper's, "
            f"which they therefore do not test: {told}."] * bool(found)  # fmt: skip
