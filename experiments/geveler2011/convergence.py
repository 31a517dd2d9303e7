"""The rate of convergence by level, and what it comes to: part of Tables 3 and 4.

Cells here solve levels below those of the tables as well, and time nothing.
"""

from __future__ import annotations

import pandas

from experiments.geveler2011 import BEST, DEVICES, ELEMENTS, LEVELS, level_of
from repro import Cell
from repro.show.results import is_missing
from repro.show.tables import Table

RATE = "rate"
TABLES = {"circle": "table3", "blood": "table4"}
BELOW = {"circle": 4, "blood": 3}  # the lowest level
SHAPES = {"circle": 5, "blood": 3}  # the level whose elements are analysed: shapes hardly change above
JACOBI = ("ellpack_r", "sell", "unfused", "direct", "cusparse", "cpu-1", "cpu-all", "scipy", RATE)


def cells(mesh: str, scale: str) -> list[Cell]:
    """Return a solve of every level in either element, on every back end."""
    found = []
    for element in ELEMENTS:
        top = LEVELS[TABLES[mesh]][scale][element][-1]
        levels = range(min(BELOW[mesh], top) - (element == "q2" and top > 3), top + 1)
        found += [Cell(f"{mesh}-l{level}", f"{element}-{BEST}-{RATE}", backend, data=(f"geveler2011/{mesh}",))
                  for level in levels for backend in DEVICES]  # fmt: skip
    return found


def measure(cell, run) -> None:
    """Solve by the paper's smoother, check the solution, and record factors of the defect; for Q1 their limit, too."""
    from datasets.geveler2011 import hierarchy
    from experiments.geveler2011.problems import SMOOTHING, TOLERANCE, defect, of_run
    from kernels.multigrid import Multigrid, fourier

    mesh, (element, numbering, _) = cell.case.partition("-")[0], cell.method.split("-")
    jacobi = SMOOTHING[mesh]["jacobi"]
    grids = of_run(run, element, level_of(cell.case)).numbered(numbering)
    solver = Multigrid(run.device, grids, format="sell", **jacobi)
    outcome = solver.solve(TOLERANCE)
    run.check(defect(grids[-1], run.device.to_host(solver.solution)), 1.01 * TOLERANCE, "defect by SciPy")
    record(run, outcome)
    if element == "q1":
        level = hierarchy(run.dataset(cell.data[0]), SHAPES[mesh]).levels[-1]
        limit = fourier.worst_factor(level.points[level.cells], 2 * jacobi["steps"], jacobi["damping"])
        run.value("limit", limit)


def record(run, outcome) -> None:
    """Record cycles, the mean factor of the defect, and the last cycle's."""
    history = outcome.history
    run.value("cycles", outcome.cycles, "count")
    run.value("convergence", outcome.rate)
    run.value("last_factor", float(history[-1] / history[-2]))


def table(results) -> Table:
    """Return factors by level, and by how much they differ between numberings, formats and places."""
    done, rows = results.done, []
    for element in ELEMENTS:
        for case in sorted(set(done["case"]), key=level_of):
            names = done["method"].str.split("-", n=2, expand=True)
            same = (done["case"] == case) & (names[0] == element) & names[2].isin(JACOBI)
            metrics = {metric: done[same & (done["metric"] == metric)]["value"]
                       for metric in ("cycles", "convergence", "last_factor")}  # fmt: skip
            if not len(metrics["convergence"]):
                continue
            limit = results.value(case, f"{element}-{BEST}-{RATE}", "limit")
            rows.append({
                "Element": element.upper(), "L": level_of(case), "Cycles": int(metrics["cycles"].max()),
                "Mean factor": metrics["convergence"].median(), "Last factor": metrics["last_factor"].median(),
                "Limit": None if is_missing(limit) else limit, "Solves": len(metrics["convergence"]),
                "They differ by": metrics["convergence"].max() - metrics["convergence"].min(),
            })  # fmt: skip
    notes = ["Factors by which a cycle with the paper's smoother reduces the defect; of all solves with it, in "
             "whatever numberings, formats and places they were measured.",
             "Limit: local Fourier analysis of Q1 on the element where two levels are slowest. Waves must fit between "
             "elements of other shapes, so factors rise to it with the level, and no further."]  # fmt: skip
    return Table("Convergence by level", pandas.DataFrame(rows), notes)
