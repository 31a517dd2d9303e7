"""Iterations on the Blobs mesh with one conductivity outside and another inside of the blobs.

The system with λ = 1 is solved by conjugate gradients with each preconditioner to ‖r‖/‖b‖ < 1e-8, and the residual is
checked by a product of SciPy's. Only iterations are counted.

Equation 1: -∇·(σ∇u) + λu = f, where σ is 1 outside of the blobs, and 1, 10 or 100 inside.
Timed: nothing; `fu2014/solvers.py` calls `solver.solve()` for its iterations.
"""

from __future__ import annotations

import pandas

from experiments.fu2014 import solvers
from experiments.fu2014.problems import helmholtz_matrix
from experiments.labels import label
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import Table, trimmed

MINUTES = {"smoke": 0.5, "small": 1, "paper": 5, "large": 30}

CASES = {"blobs-1-1": (1, 1), "blobs-1-10": (1, 10), "blobs-1-100": (1, 100)}  # σ outside, σ inside
METHODS = {
    **dict.fromkeys(("patch-pcgamg", "jacobi-pcgamg"), solvers.DEVICES), "hypre-pcgamg": ("host",),
    "cg": solvers.DEVICES,
    **dict.fromkeys(("hypre-extended", "hypre-cg", "pyamg-sa", "pyamg-rs", "amgcl"), ("host",)),
}  # fmt: skip
NAMES = {
    "patch-pcgamg": "patchPCGAMG", "jacobi-pcgamg": "jacobiPCGAMG", "hypre-pcgamg": "Hypre-PCGAMG",
    "cg": "CG",
}  # fmt: skip
DATA = "fu2014/blobs"


def cells(scale):
    """Return each pair of conductivities by each solver."""
    sigma = ("sigma_outside", "sigma_inside")
    parameters = {case: {"mesh": "blobs", **dict(zip(sigma, pair, strict=True))} for case, pair in CASES.items()}
    return solvers.cells(dict.fromkeys(CASES, (DATA,)), METHODS, parameters)


def measure(cell, run):
    """Count the iterations, and check the true residual."""
    if cell.backend != "host":
        run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    sigma = cell.parameters["sigma_outside"], cell.parameters["sigma_inside"]
    solvers.measure(run, helmholtz_matrix(run.dataset(cell.data[0]), sigma), timed=False)


def tables(results):
    """Return the paper's table, with the rows that it has not below."""
    rows, shown = [], []
    for method in METHODS:
        row = {"Method": NAMES.get(method, f"`{method}`")}
        for case, pair in CASES.items():
            ours = results.value(case, method, "iterations")
            printed = results.published.get(case, solvers.PUBLISHED.get(method, method), "iterations")
            row[f"{pair}, ours"] = None if ours is None else int(ours)
            row[f"{pair}, paper"] = None if printed is None else printed.printed
        if len(set(row.values()) - {None}) > 1 or not results.backends(metric="iterations"):
            rows.append(row)
            shown.append(method)
    others = results.frame[results.frame["status"] != "done"]
    missing = dict.fromkeys(
        f"{r.status.capitalize()}: {r.method} on {r.backend}: {r.reason}" for r in others.itertuples()
    )
    mesh = label(results, "fu2014/blobs")
    notes = [
        f"{mesh}: (σ outside, σ inside of the blobs). The paper's homogeneous column is the Blobs row of its "
        "Table 5; ours is of solves by themselves, which our Table 5 may lack.",
        "The paper does not say which of the two materials has which σ: the assignment is ours.",
        "jacobiPCGAMG stands in for CUSP-PCGAMG, whose numbers from the paper stand beside it, and CG for CUSP-CG.",
        *(["The paper's columns hold for its own size."] if results.scale != "paper" else []),
        *(f"{NAMES.get(method, f'`{method}`')}: {solvers.title(method)}." for method in shown),
        *missing,
    ]
    return [trimmed(Table("Table 4: iterations on heterogeneous Blobs", pandas.DataFrame(rows, dtype=object), notes))]


def plot(results):
    """Draw the iterations of every solver, and the paper's."""
    made, (axes,) = figure(PAGE, 2.6)
    cases = {case: f"σ = {pair}" for case, pair in CASES.items()}
    published = solvers.published(results, METHODS)
    bars(
        axes,
        results,
        "iterations",
        [method for method in METHODS if method != "hypre-cg"],  # which is CG again
        unit="count",
        quantity="Iterations",
        cases=cases,
        published=published,
    )
    caption(made, results, label(results, "fu2014/blobs"))
    return made
