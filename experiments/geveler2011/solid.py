"""In three dimensions: part of Table 3, with the very solver of the plane, as the paper promises and does not show."""

from __future__ import annotations

import pandas

from experiments.geveler2011 import BEST, DEVICES, ELEMENTS, PLACES, cell_of, level_of
from repro.show.tables import Table

PREFIX = "solid-"
LEVELS = {  # of CUBE: 2 · 2^(level - 1) elements along an edge
    "smoke": {"q1": (3,), "q2": (2,)},
    "small": {"q1": (3, 4), "q2": (3, 4)},
    "paper": {"q1": (3, 4, 5, 6, 7), "q2": (3, 4, 5, 6)},
    "large": {"q1": (7,), "q2": (6,)},
}
NAMES = {"ellpack_r": DEVICES, "sell": DEVICES, "chebyshev": DEVICES, "cpu-all": ("host",)}


def cells(scale):
    """Return CUBE's levels in both elements, by some of the solvers of Table 3."""
    return [
        cell_of("cube", level, element, BEST, name, backend, PREFIX)
        for element in ELEMENTS
        for level in LEVELS[scale][element]
        for name, backends in NAMES.items()
        for backend in backends
    ]


def table(results) -> Table:
    """Return times, cycles and rates of convergence."""
    done, rows = results.done, []
    for row in done[done["metric"] == "solve"].to_dict("records"):
        if PLACES[row["case"]].mesh != "cube":
            continue
        place = row["case"], row["method"]
        facts = {metric: results.value(*place, metric, row["backend"]) for metric in ("dof", "cycles", "convergence")}
        rows.append({
            "Element": row["p_element"].upper(), "L": level_of(row["case"]), "N": int(facts["dof"]),
            "Variant": row["p_variant"], "Back end": row["backend"], "Time [ms]": 1e3 * row["value"],
            "Cycles": int(facts["cycles"]), "Defect a cycle": facts["convergence"],
            "Of bound [%]": results.of_bound(row),
        })  # fmt: skip
    notes = ["Beyond the paper: -Δu = 1 on a cube of distorted hexahedra, u = 0 on its boundary, with the smoothers of "
             "CIRCLE. Not a line of the solver knows of the dimension."]  # fmt: skip
    return Table("In three dimensions", pandas.DataFrame(rows), notes)
