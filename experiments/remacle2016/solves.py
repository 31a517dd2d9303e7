"""Rows of Tables 2 and 3 that are of the whole solver: wall time with stored and recomputed factors; the kernel z.

Poisson's equation on mesh 2 with κ = 1, s = 1 and u = 0 on the boundary, the two-scale preconditioner, single
precision. The paper does not say when it stops: solves end at the residual that fits Table 1, and once more at 1e-6.
"""

from __future__ import annotations

import numpy as np

from experiments.remacle2016 import poisson, products
from repro import Cell
from repro.show.tables import Column

METHODS = {"solve-stored": "stored", "solve-trilinear": "trilinear"}
ORDERS = {"smoke": (2,), "small": (2, 3, 4), "paper": range(2, 8), "large": range(2, 8)}
TIGHT = 1e-6


def cells(scale, backends):
    """Return every order by both kinds of factors on some back ends."""
    return [
        Cell(f"n{order}", method, backend, data=(f"remacle2016/mesh2-{products.ELEMENTS[scale](order)}",))
        for backend in backends
        for order in ORDERS[scale]
        for method in METHODS
    ]


def measure(cell, run):
    """Time a solve and, with recomputed factors, the local solves by themselves."""
    from kernels.sem.solver import Solver

    device, order, mesh = run.device, int(cell.case[1:]), run.dataset(cell.data[0])
    products.need(run, device, mesh, order, factors=24 if METHODS[cell.method] == "stored" else 0)
    solver = Solver(device, mesh.points, mesh.cells, order, dtype="float32", geometry=METHODS[cell.method])
    b, x = solver.load(1.0), device.empty(solver.nodes, "float32")
    table, load = (np.asarray(device.to_host(device.array(array))) for array in (solver.numbering.table, b))
    residual = poisson.Residual(run.rng, mesh, order, table, load)
    settings = {"max_seconds": products.SECONDS[run.scale]}
    left = residual.rounding(device.to_host(solver.solve(b, TIGHT, x=x)[0]))
    for metric, iterations, tolerance in (
        ("wall", "iterations", poisson.TOLERANCE), ("wall_tight", "iterations_tight", TIGHT),
    ):  # fmt: skip
        run.time(
            metric, lambda tolerance=tolerance: solver.solve(b, tolerance, x=x),
            check=lambda: residual(device.to_host(x)), tolerance=poisson.SLACK * tolerance + left,
            capture=False, **settings,
        )  # fmt: skip
        run.value(iterations, solver.iteration.outcome().iterations, "count")
    run.value("nodes", solver.nodes, "count")
    if METHODS[cell.method] == "trilinear":
        products.fine_rates(run, solver.fine, mesh, {}, settings)


def columns(backend):
    """Return the columns of the paper's tables that are measured here."""
    theirs = {
        "flop_rate_fine": ("z rate", "flop_rate", "GFLOP/s"), "bandwidth_fine": ("z bandwidth", "bandwidth", "GB/s"),
    }  # fmt: skip
    z = [
        Column(name, "solve-trilinear", metric, unit, published="fine", published_metric=printed, backend=backend)
        for metric, (name, printed, unit) in theirs.items()
    ]
    wall = [
        Column(f"{name}, {text}", method, metric, unit, published=METHODS[method], backend=backend)
        for metric, text, unit in (
            ("wall", "wall time", "s"),
            ("iterations", "iterations", "count"),
            ("wall_tight", "to 1e-6", "s"),
            ("iterations_tight", "iterations to 1e-6", "count"),
        )
        for name, method in (("r", "solve-stored"), ("r'", "solve-trilinear"))
    ]
    return z, wall
