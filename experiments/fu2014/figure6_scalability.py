"""Iterations against degrees of freedom over the series of regular meshes; the tables have times beside AmgX's.

The system with λ = 1 and natural boundary conditions is solved on grids, each with half the spacing of the one before,
to ‖r‖/‖b‖ < 1e-8. The matrices of the two largest are assembled without their meshes, on the device where there is one.

Equation 1: -∇·(σ∇u) + λu = f.
Timed, in `fu2014/solvers.py`: `run.time("setup_and_solve", both)`, and apart `run.time("setup", solver.set_up)` and
`run.time("solve", solver.solve)`; on the series only the iterations are counted.
"""

from __future__ import annotations

import functools

import pandas

from baselines import solvers as rivals
from experiments.fu2014 import lattice, solvers
from experiments.fu2014.problems import helmholtz_matrix
from repro import published
from repro.show.plots import PAGE, caption, figure, lines
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import INTERVALS, Table, has_interval, number_text, trimmed, with_lines

MINUTES = {"smoke": 0.3, "small": 1, "paper": 4, "large": 30}

# Nodes along an edge. The paper has 9 to 65.
SERIES = {"smoke": (9, 17), "small": (9, 17, 33), "paper": (9, 17, 33, 65), "large": (9, 17, 33, 65, 129, 257)}
METHODS = {
    **dict.fromkeys(("patch-pcgamg", "jacobi-pcgamg"), solvers.DEVICES), "hypre-pcgamg": ("host",),
    "cg": solvers.DEVICES, **dict.fromkeys(("hypre-extended", "pyamg-sa"), ("host",)),
}  # fmt: skip
# The grids on which set-up and solve are timed on a GPU; the paper has the first of `paper`.
GRIDS = {"smoke": (17,), "small": (33,), "paper": (65, 129, 257), "large": (65, 129, 257)}
OURS = "patch-sell"
TIMED = dict.fromkeys((OURS, "jacobi-merged", *rivals.AMGX), ("cuda",))
TIMES = {"setup": "Set-up [ms]", "solve": "Solve [ms]", "setup_and_solve": "Together [ms]"}
COARSEST = 200  # rows of the level that is solved directly
LARGEST_MESH = 65
BYTES = 1200.0  # of an unknown at the peak of set-up, about
LARGEST_ON_HOST = 129  # a serial solver takes minutes for 17 million unknowns
NAMES = {
    "patch-pcgamg": "patchPCGAMG", "jacobi-pcgamg": "jacobiPCGAMG", "hypre-pcgamg": "Hypre-PCGAMG", "cg": "CG",
    "hypre-extended": "hypre, ext+i", "pyamg-sa": "PyAMG, SA",
}  # fmt: skip


def cells(scale):
    """Return each mesh of the series by each solver, and each grid by the solvers that are timed."""
    found = [*solvers.cells(_data(SERIES[scale]), METHODS), *solvers.cells(_data(GRIDS[scale]), TIMED)]
    return [cell for cell in found if cell.backend != "host" or int(cell.case) <= LARGEST_ON_HOST]


def _data(sizes):
    return {str(nodes): (f"fu2014/series-{nodes}",) if nodes <= LARGEST_MESH else () for nodes in sizes}


def measure(cell, run):
    """Count the iterations, or time set-up and solve, apart and together; check the true residual."""
    if cell.backend != "host":
        run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    if cell.data:
        matrix = helmholtz_matrix(run.dataset(cell.data[0]))
    else:
        run.need("the solver", **{"host" if cell.backend == "host" else "device": BYTES * int(cell.case) ** 3})
        matrix = _without_mesh(int(cell.case), cell.backend)
    if cell.method in METHODS:
        # The smallest mesh, too, shall have a coarse level: by itself the solver would take it for the coarsest.
        solvers.measure(run, matrix, timed=False, coarsest=COARSEST)
    else:
        solvers.measure(run, matrix, together=True)


@functools.lru_cache(maxsize=1)
def _without_mesh(nodes, backend):
    if backend != "cuda":
        return lattice.series_matrix(nodes)
    import cupy
    import cupyx.scipy.sparse

    matrix = lattice.series_matrix(nodes, cupy, cupyx.scipy.sparse).get()
    cupy.get_default_memory_pool().free_all_blocks()  # AmgX takes its memory from the device itself
    return matrix


def tables(results):
    """Return the iterations of each solver on each mesh, the largest count over the smallest, and times on the GPU."""
    cases = [str(nodes) for nodes in SERIES[results.scale]]
    rows, shown = [], [method for method in NAMES if results.backends(method, "iterations")] or NAMES
    for method in shown:
        counts = [results.value(case, method, "iterations") for case in cases]
        known = [count for count in counts if count is not None]
        row = {"Method": NAMES[method]}
        row |= {f"{int(case) ** 3:,}": None if n is None else int(n) for case, n in zip(cases, counts, strict=True)}
        rows.append(row | {"Largest over smallest": max(known) / min(known) if known else None})
    stand_ins = {"jacobi-pcgamg": "jacobiPCGAMG stands in for CUSP-PCGAMG.", "cg": "CG stands in for CUSP-CG."}
    notes = [said for method, said in stand_ins.items() if method in shown]
    if {"patch-pcgamg", "jacobi-pcgamg"} & {*shown}:
        notes.append(
            f"Our multigrid solves a level of at most {COARSEST} rows directly, so that the smallest mesh, too, has "
            "two. In Tables 3 to 6 it solves a larger one, so that it may have a level less there, and other "
            "iterations on the same mesh."
        )
    notes += [f"{NAMES[method]}: `{method}`, {solvers.title(method)}." for method in shown]
    iterations = Table("Figure 6: iterations by degrees of freedom", pandas.DataFrame(rows, dtype=object), notes)
    return [trimmed(iterations), *_grids(results)]


def _grids(results):
    """Return the times on each grid, and beside ours the times of AmgX's best configuration."""
    rows, best = [], []
    for nodes in GRIDS[results.scale]:
        grid, sums = {"Degrees of freedom": f"{nodes**3:,}"}, {}
        for method in TIMED:
            times = {name: point(results, str(nodes), method, name, "ms", "cuda") for name in TIMES}
            if times["setup_and_solve"] is not None:
                sums[method] = times["setup_and_solve"]
                rows.append(
                    grid | {"Method": method} | {TIMES[name]: number_text(t, "ms") for name, t in times.items()}
                )
        known = {method: sums[method] for method in rivals.AMGX if method in sums}
        if known and OURS in sums:
            first = min(known, key=lambda method: known[method][0])
            row = {f"{OURS} [ms]": number_text(sums[OURS], "ms"), "AmgX [ms]": number_text(known[first], "ms")}
            over = quotient_text(quotient(known[first], sums[OURS]))
            best.append(grid | row | {"its configuration": f"`{first}`", f"AmgX over {OURS}": over})
    notes = ["Together: set-up and first solve, which takes longer than the later ones under *Solve*."]
    told = [INTERVALS] * any(has_interval(str(text)) for row in rows for text in row.values())
    more = ["Ours coarsens to where it does by itself, as in Tables 3 to 6."]
    more += [f"`{method}`: {solvers.title(method)}." for method in dict.fromkeys(row["Method"] for row in rows)]
    ours = f"{OURS}: {solvers.title(OURS)}."
    return with_lines([
        Table("Set-up and solve together, ours and the best of AmgX", pandas.DataFrame(best, dtype=object),
              [ours, *told]),
        Table("Times on the ordered grids, cuda", pandas.DataFrame(rows, dtype=object), [*notes, *told, *more]),
    ])  # fmt: skip


def plot(results):
    """Draw all solvers, and where CG is one those with multigrid beside them, as in the inset.

    The paper's points are Table 5's.
    """
    series = {method: _points(results, method) for method in METHODS}
    made, panels = figure(PAGE, 3.0, panels=1 + bool(series["cg"]))
    printed = published.load("fu2014-table5")
    dof = published.load("fu2014-table1").value("regular", "mesh", "nodes")
    paper = {}
    for method in METHODS:
        count = printed.value("regular", solvers.PUBLISHED.get(method, method), "iterations")
        paper[method] = [(dof, count)] if count is not None and series[method] else []
    without = {method: points for method, points in series.items() if method != "cg"}
    text = {"x": "Degrees of freedom", "y": "Iterations", "names": NAMES, "log_x": True}
    for axes in panels[:-1]:
        lines(axes, series, published=paper, log_y=True, **text)
    lines(panels[-1], without, published={method: paper[method] for method in without}, **text)
    panels[-1].set_ylim(bottom=0)
    panels[-1].set_ylabel("Iterations, with multigrid")
    caption(made, results, "the paper's points are those of its Table 5")
    return made


def _points(results, method):
    counts = {case: results.value(case, method, "iterations") for case in results.cases}
    return [(int(case) ** 3, count) for case, count in counts.items() if count is not None]
