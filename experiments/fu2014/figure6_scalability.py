"""Iterations against degrees of freedom over the series of regular meshes.

The matrices of the two largest are assembled without their meshes, on the device where there is one.
"""

from __future__ import annotations

import functools

import pandas

from experiments.fu2014 import lattice, solvers
from experiments.fu2014.problems import helmholtz_matrix
from repro import published
from repro.show.plots import PAGE, caption, figure, lines
from repro.show.tables import Table, trimmed

MINUTES = {"smoke": 0.3, "small": 1, "paper": 4, "large": 30}

# Nodes along an edge. The paper has 9 to 65.
SERIES = {"smoke": (9, 17), "small": (9, 17, 33), "paper": (9, 17, 33, 65), "large": (9, 17, 33, 65, 129, 257)}
METHODS = {
    **dict.fromkeys(("patch-pcgamg", "jacobi-pcgamg"), solvers.DEVICES), "hypre-pcgamg": ("host",),
    "cg": solvers.DEVICES, **dict.fromkeys(("hypre-extended", "pyamg-sa"), ("host",)),
}  # fmt: skip
SELL = {"patch-sell": ("cuda",)}  # takes the same iterations: for its time alone
TIMED = {"patch-pcgamg": "patchPCGAMG", "patch-sell": "the same, CG's matrix in SELL", "jacobi-pcgamg": "jacobiPCGAMG"}
COARSEST = 200  # rows of the level that is solved directly
LARGEST_MESH = 65
BYTES = 1200.0  # of an unknown at the peak of set-up, about
LARGEST_ON_HOST = 129  # a serial solver takes minutes for 17 million unknowns
NAMES = {
    "patch-pcgamg": "patchPCGAMG", "jacobi-pcgamg": "jacobiPCGAMG", "hypre-pcgamg": "Hypre-PCGAMG", "cg": "CG",
    "hypre-extended": "hypre, ext+i", "pyamg-sa": "PyAMG, SA",
}  # fmt: skip


def cells(scale):
    """Return each mesh of the series by each solver."""
    cases = {str(nodes): (f"fu2014/series-{nodes}",) if nodes <= LARGEST_MESH else () for nodes in SERIES[scale]}
    found = solvers.cells(cases, METHODS | SELL)
    return [cell for cell in found if cell.backend != "host" or int(cell.case) <= LARGEST_ON_HOST]


def measure(cell, run):
    """Count the iterations, and check the true residual; on a GPU time multigrid, which takes milliseconds there."""
    # A back end that is not there skips the cell before its mesh is built.
    timed = cell.backend != "host" and run.device.is_gpu and cell.method in TIMED
    if cell.data:
        matrix = helmholtz_matrix(run.dataset(cell.data[0]))
    else:
        run.need("the solver", **{"host" if cell.backend == "host" else "device": BYTES * int(cell.case) ** 3})
        matrix = _without_mesh(int(cell.case), cell.backend)
    # The smallest mesh, too, shall have a coarse level: by itself the solver would take it for the coarsest.
    solvers.measure(run, matrix, timed=timed, coarsest=COARSEST)


@functools.lru_cache(maxsize=1)
def _without_mesh(nodes, backend):
    if backend != "cuda":
        return lattice.series_matrix(nodes)
    import cupy
    import cupyx.scipy.sparse

    return lattice.series_matrix(nodes, cupy, cupyx.scipy.sparse).get()


def tables(results):
    """Return the iterations of each solver on each mesh, and the largest count over the smallest."""
    cases = [str(nodes) for nodes in SERIES[results.scale]]
    rows, shown = [], [method for method in NAMES if results.backends(method, "iterations")] or NAMES
    for method in shown:
        counts = [results.value(case, method, "iterations") for case in cases]
        known = [count for count in counts if count is not None]
        row = {"Method": NAMES[method]}
        row |= {f"{int(case) ** 3:,}": None if n is None else int(n) for case, n in zip(cases, counts, strict=True)}
        rows.append(row | {"Largest over smallest": max(known) / min(known) if known else None})
    notes = ["jacobiPCGAMG stands in for CUSP-PCGAMG, CG for CUSP-CG.", _coarsest()]
    notes += [f"{NAMES[method]}: `{method}`, {solvers.title(method)}." for method in shown]
    iterations = Table("Figure 6: iterations by degrees of freedom", pandas.DataFrame(rows, dtype=object), notes)
    return [trimmed(iterations), *_times(results, cases)]


def _coarsest():
    """Say where coarsening ends here, and where in the tables, whose counts on the same mesh may differ for it."""
    from kernels.amg.solver import COARSEST as USUAL

    return (
        f"Our multigrid solves a level of at most {COARSEST} rows directly, so that the smallest mesh, too, has two; "
        f"in Tables 3 to 6 one of at most {USUAL}, so that there it may have a level less, and other iterations on "
        "the same mesh."
    )


def _times(results, cases):
    """Return the times by degrees of freedom, for each GPU's back end that has them."""
    found = []
    for backend in results.backends("patch-pcgamg", "solve"):
        rows = []
        for method, name in TIMED.items():
            for metric, text in (("setup", "set-up"), ("solve", "solve")):
                times = [results.value(case, method, metric, backend) for case in cases]
                if not any(times):
                    continue
                row = {"Method": f"{name}: {text}"}
                rows.append(row | {f"{int(case) ** 3:,}": t and 1e3 * t for case, t in zip(cases, times, strict=True)})
        title = f"Times by degrees of freedom, {backend} [ms]"
        found.append(Table(title, pandas.DataFrame(rows, dtype=object), [_coarsest()]))
    return found


def plot(results):
    """Draw all solvers, and beside them those with multigrid, as in the inset; the paper's points are Table 5's."""
    made, panels = figure(PAGE, 3.0, panels=2)
    series = {method: _points(results, method) for method in METHODS}
    printed = published.load("fu2014-table5")
    dof = published.load("fu2014-table1").value("regular", "mesh", "nodes")
    paper = {}
    for method in METHODS:
        count = printed.value("regular", solvers.PUBLISHED.get(method, method), "iterations")
        paper[method] = [(dof, count)] if count is not None and series[method] else []
    without = {method: points for method, points in series.items() if method != "cg"}
    text = {"x": "Degrees of freedom", "y": "Iterations", "names": NAMES, "log_x": True}
    lines(panels[0], series, published=paper, log_y=True, **text)
    lines(panels[1], without, published={method: paper[method] for method in without}, **text)
    panels[1].set_ylim(bottom=0)
    panels[1].set_ylabel("Iterations, with multigrid")
    if panels[1].get_legend():
        panels[1].get_legend().remove()  # it is that of the other panel
    caption(made, results, "the paper's points are those of its Table 5")
    return made


def _points(results, method):
    counts = {case: results.value(case, method, "iterations") for case in results.cases}
    return [(int(case) ** 3, count) for case, count in counts.items() if count is not None]
