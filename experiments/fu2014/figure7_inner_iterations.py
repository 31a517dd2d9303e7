"""Inner iterations of the relaxation against iterations of the solver, and against its time.

Relaxation on patches solves with the block of each patch by some steps of Jacobi in fast memory. More steps save
iterations of the solver, and each of these takes longer (section 6.2.3).

Equation, section 5.1.2: g_k ← g_k + ω D_kk⁻¹ r_k on each patch k, for g_k = A_kk⁻¹ r_k of equation 8.
Timed, in `fu2014/solvers.py`: `run.time("solve", solver.solve)`, for each number of inner iterations on one hierarchy.
"""

from __future__ import annotations

import pandas
from matplotlib.ticker import MaxNLocator

from experiments.fu2014 import EVERY, cases, labels, solvers
from experiments.fu2014.problems import helmholtz_matrix
from repro import published
from repro.show.plots import PAGE, caption, figure, lines
from repro.show.tables import Table, trimmed

MINUTES = {"smoke": 0.3, "small": 1.5, "paper": 5, "large": 20}

INNER = (1, 2, 3, 4, 5, 6, 8)
PAPERS = 3  # inner iterations of Table 5's solves, whose iterations the figure has, too


def cells(scale):
    """Return every mesh on every back end."""
    return solvers.cells({mesh: (f"fu2014/{mesh}",) for mesh in EVERY}, {"patch-pcgamg": solvers.DEVICES})


def measure(cell, run):
    """Solve with each number of inner iterations, on one hierarchy."""
    run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    matrix = helmholtz_matrix(run.dataset(cell.data[0]))
    run.need("the solver", device=solvers.BYTES * matrix.nnz)
    solver = solvers.OnDevice(run.device, matrix, cell.parameters)
    for inner in INNER:
        solver.set_up(inner_iterations=inner)
        solvers.time_solve(run, solver, inner=inner)


def tables(results):
    """Return iterations and times by inner iterations."""
    found = []
    for metric, heading, factor in (("iterations", "iterations", 1), ("solve", "time to solve [ms]", 1e3)):
        rows = []
        for case, name in labels(results).items():
            row = {"Mesh": name}
            for inner in INNER:
                value = results.value(case, "patch-pcgamg", metric, inner=inner)
                row[str(inner)] = value if value is None else int(value) if metric == "iterations" else factor * value
            rows.append(row)
        backend = next(iter(results.backends("patch-pcgamg")), "not measured")
        told = "the paper takes three inner iterations, and says that more hardly change the global ones"
        note = f"`patch-pcgamg` on {backend}; {told}."
        frame = pandas.DataFrame(rows, dtype=object)
        found.append(trimmed(Table(f"Figure 7: {heading}, by inner iterations", frame, [note])))
    return cases.told(results, found)


def plot(results):
    """Draw a line a mesh: iterations, with the points that the paper prints, and time."""
    made, panels = figure(PAGE, 3.0, panels=2)
    text = {"x": "Inner iterations", "names": labels(results), "whole_x": True}
    printed = {case: published.load("fu2014-table5").value(case, "patch-pcgamg", "iterations") for case in EVERY}
    is_papers = results.scale == "paper"  # at another its points are of other meshes
    points = {case: [(PAPERS, count)] for case, count in printed.items() if count is not None and is_papers}
    for axes, metric, unit, y in (
        (panels[0], "iterations", 1, "Iterations"), (panels[1], "solve", 1e3, "Time to solve [ms]"),
    ):  # fmt: skip
        series = {case: _points(results, case, metric, unit) for case in labels(results)}
        lines(axes, series, y=y, published=points if metric == "iterations" else None, **text)
        axes.set_ylim(bottom=0)
    panels[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    caption(made, results, "the paper's points are those of its Table 5" if is_papers else "")
    return made


def _points(results, case, metric, factor):
    rows = {inner: results.row(case, "patch-pcgamg", metric, inner=inner) for inner in INNER}
    return [
        (
            inner,
            *(
                None if end is None or end != end else factor * end
                for end in (row["value"], row["ci_low"], row["ci_high"])
            ),
        )
        for inner, row in rows.items()
        if row is not None
    ]
