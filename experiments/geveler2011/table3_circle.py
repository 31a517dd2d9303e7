"""Multigrid on CIRCLE: time to solve by level and numbering.

V-cycles with four steps of damped Jacobi before and after, transfers as products with matrices. Each solve starts from
u on the boundary and 0 elsewhere and ends when the defect's norm is 1e-8 of the first one. Beside the paper's columns,
in the best numbering: other formats, cuSPARSE under the same cycle, transfer without matrices, stronger smoothers,
mixed precision, SciPy, and algebraic multigrid on the same matrices, ours on the card, AMGCL's, hypre's and PyAMG's on
the processor; and the same solver on a cube of hexahedra.

Equation, section 4.2: -Δu = 1, with u = 0 on the outer boundary and 1 on the circle.
Timed, in `geveler2011/solves.py`: `run.time(metric, solve)`, where `solve` is `solver.solve(TOLERANCE)`.
"""

from __future__ import annotations

import pandas

from experiments.geveler2011 import (
    BEST,
    ELEMENTS,
    NUMBERINGS,
    TITLES,
    convergence,
    level_of,
    method_of,
    solid,
    solves,
)
from experiments.geveler2011.algebraic import table as beside_algebraic
from experiments.geveler2011.layout import beside_best, by_numbering, factors, meanings, one_legend, variants
from experiments.geveler2011.rates import noted
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.tables import Table, trimmed, with_ours

MINUTES = {"smoke": 0.5, "small": 2, "paper": 20, "large": 20}

SECONDS = {"smoke": 0.01, "small": 0.05, "paper": 0.4, "large": 1}  # of sampling each solve


def cells(scale):
    """Return CIRCLE's levels by every solver, and CUBE's by some."""
    found = [*solves.cells("circle", scale), *solid.cells(scale)]
    return sorted(found, key=lambda cell: cell.backend == "cuda")  # a device's set-up is its own


def measure(cell, run):
    """Time a solve; see `solves.measure`."""
    solves.measure(cell, run, SECONDS[run.scale])


def tables(results):
    """Return the paper's table in two halves, what numberings make of it, and everything in the best one."""
    made = [by_numbering(results, "Table 3: multigrid on CIRCLE", element, "solve", "s") for element in ELEMENTS]
    rows = [row for element in ELEMENTS for row in factors(results, element)]
    told = ["In parentheses: the interval. Best: the fastest, then those that the intervals do not show to be slower."]
    made.append(
        trimmed(Table("How many times as long STO takes as the best numbering", pandas.DataFrame(rows), told), 2)
    )
    made.append(beside_algebraic(results, "Geometric and algebraic multigrid on CIRCLE"))
    made += [noted(convergence.table(results)), trimmed(solid.table(results), 3)]
    for element in ELEMENTS:
        rows = variants(results, element, solves.MEANING)
        title = f"Solvers in numbering {TITLES[BEST]}, {element.upper()}"
        made.append(trimmed(Table(title, pandas.DataFrame(rows), meanings("circle", rows)), 3))
        made += beside_best(results, element, "Solvers")
    return with_ours(made)


def plot(results):
    """Draw the time over the levels, by numbering, ours and the paper's."""
    made, axes = figure(PAGE, panels=2)
    backend = next((b for b in results.backends() if b != "host"), "cuda")
    for axis, element in zip(axes, ELEMENTS, strict=True):
        series, published = {}, {}
        for numbering in NUMBERINGS:
            ours, theirs = (method_of(element, numbering, runs) for runs in ("ellpack_r", "gpu"))
            found = [(level_of(c), point(results, c, ours, "solve", "ms", backend)) for c in results.cases]
            series[numbering] = [(level, *each) for level, each in found if each is not None]
            printed = [(level_of(c), results.published.get(c, theirs, "solve"))
                       for c in results.published.cases]  # fmt: skip
            published[numbering] = [(level, 1e3 * number.value) for level, number in printed if number is not None]
        lines(axis, series, x=f"Level, {element.upper()}", y=f"Time to solve on {backend} [ms]", names=TITLES,
              published=published, log_y=True, whole_x=True)  # fmt: skip
        axis.set_label(backend)  # the caption names it, and no processor
    alike(axes)
    one_legend(made, axes)
    caption(made, results)
    return made
