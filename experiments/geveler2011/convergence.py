"""The rate of convergence by level, and what it comes to: part of Tables 3 and 4.

Cells here solve levels below the tables' as well, and time nothing.
"""

from __future__ import annotations

import pandas

from experiments.geveler2011 import BEST, DEVICES, ELEMENTS, LEVELS, PLACES, cell_of, level_of, method_of
from repro import Cell
from repro.keeping import kept
from repro.show.results import is_missing
from repro.show.tables import Table

RATE, DEGREE = "rate", "rate-chebyshev"
VARIANTS = {RATE: {}, DEGREE: {"smoother": "chebyshev", "steps": 24}}  # in place of the paper's
TESTED = {"circle": (RATE,), "blood": (RATE, DEGREE)}
TABLES = {"circle": "table3", "blood": "table4"}
BELOW = {"circle": 4, "blood": 3}  # the lowest level
SHAPES = {"circle": 5, "blood": 3}  # the level whose elements are analysed: shapes hardly change above
SHORT = 4  # times that the longer sides of an element are longer, at most, in one that is not stretched
JACOBI = ("ellpack_r", "sell", "unfused", "direct", "small", "cusparse", "cusparse-sell", "cpu-1", "cpu-all",
          "scipy", RATE)  # fmt: skip


def cells(mesh: str, scale: str) -> list[Cell]:
    """Return a solve of every level in either element, on every back end."""
    found = []
    for element in ELEMENTS:
        top = LEVELS[TABLES[mesh]][scale][element][-1]
        levels = range(min(BELOW[mesh], top) - (element == "q2" and top > 3), top + 1)
        found += [cell_of(mesh, level, element, BEST, variant, backend)
                  for variant in TESTED[mesh] for level in levels for backend in DEVICES]  # fmt: skip
    return found


def measure(cell, run) -> None:
    """Solve, check the solution, and record factors of the defect; for Q1 and the paper's smoother their limit, too."""
    from experiments.geveler2011.problems import SMOOTHING, TOLERANCE, defect, of_run
    from kernels.multigrid import Multigrid

    element, level, variant = (cell.parameters[name] for name in ("element", "level", "variant"))
    mesh = PLACES[cell.case].mesh
    jacobi = SMOOTHING[mesh]["jacobi"]
    grids = of_run(run, element, level).numbered(cell.parameters["numbering"])
    solver = Multigrid(run.device, grids, format="sell", **(VARIANTS[variant] or jacobi))
    outcome = solver.solve(TOLERANCE)
    run.check(defect(grids[-1], run.device.to_host(solver.solution)), 1.01 * TOLERANCE, "defect by SciPy")
    record(run, outcome)
    if element == "q1" and variant == RATE:
        for name, limit in _limits(run.dataset(cell.data[0]), mesh).items():
            run.value(name, limit)


@kept(lambda mesh, name: (mesh.digest(), mesh.title, name))
def _limits(mesh, name: str) -> dict[str, float]:
    """Return what the mean factor comes to on fine meshes, on all shapes of elements and on those not stretched."""
    from datasets.geveler2011 import hierarchy
    from experiments.geveler2011.problems import SMOOTHING
    from kernels.multigrid import fourier

    shapes, jacobi = hierarchy(mesh, SHAPES[name]).levels[-1], SMOOTHING[name]["jacobi"]
    corners, work = shapes.points[shapes.cells], (2 * jacobi["steps"], jacobi["damping"])
    return {"limit": fourier.worst_factor(corners, *work),
            "limit_short": fourier.worst_factor(corners[fourier.stretching(corners) <= SHORT], *work)}  # fmt: skip


def record(run, outcome) -> None:
    """Record cycles, the mean factor of the defect, and the last cycle's."""
    history = outcome.history
    run.value("cycles", outcome.cycles, "count")
    run.value("convergence", outcome.rate)
    if outcome.cycles == len(history) - 1:  # not where only the first and the last defect are known
        run.value("last_factor", float(history[-1] / history[-2]))


def table(results) -> Table:
    """Return factors by level, and by how much they differ between numberings, formats and places."""
    done, rows = results.done, []
    for element in ELEMENTS:
        for case in sorted((case for case in set(done["case"]) if PLACES[case].mesh in TESTED), key=level_of):
            same = (done["case"] == case) & (done["p_element"] == element) & done["p_variant"].isin(JACOBI)
            metrics = {metric: done[same & (done["metric"] == metric)]["value"]
                       for metric in ("cycles", "convergence", "last_factor")}  # fmt: skip
            if not len(metrics["convergence"]):
                continue
            limit = results.value(case, method_of(element, BEST, RATE), "limit")
            rows.append({
                "Element": element.upper(), "L": level_of(case), "Cycles": int(metrics["cycles"].max()),
                "Mean factor": metrics["convergence"].median(), "Last factor": metrics["last_factor"].median(),
                "Limit": None if is_missing(limit) else limit,
                "Cycles, degree 24": results.value(case, method_of(element, BEST, DEGREE), "cycles"),
                "Solves": len(metrics["convergence"]),
                "Their mean factors differ by": metrics["convergence"].max() - metrics["convergence"].min(),
            })  # fmt: skip
    notes = ["Factors by which a cycle with the paper's smoother reduces the defect; of all solves with it, in "
             "whatever numberings, formats and places they were measured."]  # fmt: skip
    return Table("Convergence by level", pandas.DataFrame(rows), notes)
