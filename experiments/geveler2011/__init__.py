"""Geveler, Ribbrock, Göddeke, Zajac, Turek: Efficient finite element geometric multigrid solvers on GPUs (2011)."""

from __future__ import annotations

from datasets.geveler2011 import NUMBERINGS
from experiments import labels as names

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
__all__ = ["BEST", "DEVICES", "ELEMENTS", "HARDWARE", "LEVELS", "NUMBERINGS", "TITLES", "label", "level_of"]


def level_of(case: str) -> int:
    """Return the level in a case, as in ``circle-l7``."""
    return int(case.rpartition("-l")[2])


def label(mesh: str, results) -> str:
    """Return what tables call a mesh."""
    return names.label(results, f"geveler2011/{mesh}")
