"""All meshes of the paper as lines and groups, also those that were not measured: what is missing shall be seen."""

from __future__ import annotations

from experiments import labels as names
from experiments.fu2014 import EVERY, MESHES


def every(results) -> dict[str, str]:
    """Return the name of every mesh of the paper, measured or not, and of published geometry that was measured."""
    measured = set(results.done["case"])
    return {mesh: names.label(results, f"fu2014/{mesh}") for mesh in EVERY if mesh in MESHES or mesh in measured}


def ticks(results) -> dict[str, str]:
    """Return what stands below the group of every mesh: of one without a value, that it was not measured."""
    measured = set(results.done["case"])
    return {
        mesh: label.replace(" ", "\n", 1) + ("" if mesh in measured else "\nnot measured")
        for mesh, label in every(results).items()
    }
