"""All meshes of the paper as lines and groups, measured or not, so that gaps are seen."""

from __future__ import annotations

from dataclasses import replace

from experiments import labels as names
from experiments.fu2014 import EVERY, MESHES, REAL
from repro.show.tables import with_ours


def every(results) -> dict[str, str]:
    """Return the name of every mesh of the paper, measured or not, and of published geometry that was measured."""
    measured = set(results.done["case"])
    return {mesh: names.label(results, f"fu2014/{mesh}") for mesh in EVERY if mesh in MESHES or mesh in measured}


def ticks(results) -> dict[str, str]:
    """Return what stands below the group of every mesh: of one without a value, that it was not measured."""
    measured = set(results.done["case"])
    return {
        mesh: label.replace(" ", "\n", 1) + ("" if mesh in measured else "\nnot\nmeasured")
        for mesh, label in every(results).items()
    }


def told(results, tables) -> list:
    """Return the tables in which something is ours; the first says which of their meshes the paper has not."""
    shown, measured = with_ours(tables), set(results.done["case"])
    added = {names.label(results, f"fu2014/{mesh}"): mesh for mesh in REAL if mesh in measured}
    if not shown or not added:
        return shown
    beside = " and ".join(names.label(results, f"fu2014/{REAL[mesh]}") for mesh in added.values())
    note = f"{' and '.join(added)}: anatomies that others publish and the paper has not, to be compared with {beside}."
    return [replace(shown[0], notes=[*shown[0].notes, note]), *shown[1:]]
