"""Geveler, Ribbrock, Göddeke, Zajac, Turek: Efficient finite element geometric multigrid solvers on GPUs (2011)."""

from __future__ import annotations

from typing import NamedTuple

from datasets.geveler2011 import NUMBERINGS
from experiments import labels as names
from repro import Cell

ELEMENTS = ("q1", "q2")
DEVICES = ("cuda", "opencl", "openmp")
TITLES = {"2lv": "2LV", "cm": "CM", "xyz": "XYZ", "sto": "STO", "hie": "HIE"}
# The paper's hardware by ours: its four threads are all that there are here.
HARDWARE = {"cpu-1": "cpu-1", "cpu-all": "cpu-4", "ellpack_r": "gpu"}
LEVELS = {  # by table and scale
    "table2": {
        "smoke": {"q1": (4,), "q2": (3,)},
        "small": {"q1": (7, 8), "q2": (6, 7)},
        "paper": {"q1": (7, 8, 9, 10), "q2": (6, 7, 8, 9)},
        "large": {"q1": (11, 12), "q2": (10, 11)},
    },
    "table3": {
        "smoke": {"q1": (4,), "q2": (3,)},
        "small": {"q1": (6, 7), "q2": (6,)},
        "paper": {"q1": (7, 8, 9, 10), "q2": (6, 7, 8, 9)},
        "large": {"q1": (11, 12), "q2": (10, 11)},
    },
    "table4": {
        "smoke": {"q1": (2,), "q2": (2,)},
        "small": {"q1": (4,), "q2": (2,)},
        "paper": {"q1": (8,), "q2": (7,)},
        "large": {"q1": (9,), "q2": (8,)},
    },
}
BEST = "xyz"  # the numbering in which variants are compared: the paper's best
HIGHEST = 13  # level of any mesh


class Place(NamedTuple):
    """The mesh and the level of a case."""

    mesh: str
    level: int


def case_of(mesh: str, level: int) -> str:
    """Return what rows call a level of a mesh."""
    return f"{mesh}-l{level}"


PLACES = {case_of(mesh, level): Place(mesh, level)
          for mesh in ("circle", "blood", "cube") for level in range(1, HIGHEST + 1)}  # fmt: skip


def level_of(case: str) -> int:
    """Return the level of a case."""
    return PLACES[case].level


def method_of(element: str, numbering: str, variant: str) -> str:
    """Return what rows call a variant in a numbering."""
    return f"{element}-{numbering}-{variant}"


def cell_of(mesh: str, level: int, element: str, numbering: str, variant: str, backend: str, prefix: str = "") -> Cell:
    """Return the cell of a variant."""
    return Cell(
        case_of(mesh, level), prefix + method_of(element, numbering, variant), backend,
        parameters={"mesh": mesh, "level": level, "element": element, "numbering": numbering, "variant": variant},
        data=(f"geveler2011/{mesh}",),
    )  # fmt: skip


def label(mesh: str, results) -> str:
    """Return what tables call a mesh."""
    return names.label(results, f"geveler2011/{mesh}")


__all__ = [
    "BEST", "DEVICES", "ELEMENTS", "HARDWARE", "LEVELS", "NUMBERINGS", "PLACES", "TITLES", "case_of", "cell_of",
    "label", "level_of", "method_of",
]  # fmt: skip
