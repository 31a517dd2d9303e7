"""Rows of Tables 2 and 3 that are of the whole solver: wall time with stored and recomputed factors; the kernel z.

Poisson's equation on mesh 2 with κ = 1, s = 1 and u = 0 on the boundary, the two-scale preconditioner, single
precision. The paper does not say at which residual it stops; here it is a millionth of the first.
"""

from __future__ import annotations

import numpy as np

from experiments.remacle2016 import products
from repro import Cell
from repro.tables import Column

METHODS = {"solve-stored": "stored", "solve-trilinear": "trilinear"}
ORDERS = {"smoke": (2,), "small": (2, 3, 4), "paper": range(2, 8), "large": range(2, 8)}
TOLERANCE = 1e-6
# Of the residual at some nodes, over the largest right-hand side: single precision rounds products with u.
RESIDUAL = 2e-2
SAMPLE = 200  # nodes at which it is worked out


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
    solver = Solver(device, mesh.points, mesh.cells, order, dtype="float32", geometry=METHODS[cell.method])
    b, x = solver.load(1.0), device.empty(solver.nodes, "float32")
    error = residual(run, solver, mesh, x)
    settings = {"max_seconds": products.SECONDS[run.scale]}
    run.time(
        "wall", lambda: solver.solve(b, TOLERANCE, x=x), check=error, tolerance=RESIDUAL, capture=False, **settings
    )
    run.value("nodes", solver.nodes, "count")
    run.value("iterations", solver.iteration.outcome().iterations, "count")
    if METHODS[cell.method] == "trilinear":
        products.fine_rates(run, solver.fine, mesh, {}, settings)


def residual(run, solver, mesh, x):
    """Return what works out the largest residual of x at some free nodes, from the elements around them by NumPy."""
    from baselines.sem.sums import Sums

    to_host, numbering = solver.device.to_host, solver.numbering
    table, boundary = (
        np.asarray(to_host(solver.device.array(array))) for array in (numbering.table, numbering.boundary)
    )
    nodes = run.rng.choice(np.flatnonzero(~boundary), SAMPLE)
    around = np.flatnonzero(np.isin(table, nodes).any(axis=1))
    numbers = table[around]
    stiffness = Sums(mesh.points, mesh.cells, solver.order)
    mass = Sums(mesh.points, mesh.cells, solver.order, kappa=0.0, mass=1.0)
    expected = mass.multiply(np.ones(numbers.shape), around)
    load = np.bincount(numbers.ravel(), expected.ravel(), len(boundary))

    def error():
        u = np.asarray(to_host(x)).astype("float64")
        product = np.bincount(numbers.ravel(), stiffness.multiply(u[numbers], around).ravel(), len(boundary))
        return float(np.abs(product - load)[nodes].max() / load[nodes].max())

    return error


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
        for metric, text, unit in (("wall", "wall time", "s"), ("iterations", "iterations", "count"))
        for name, method in (("r", "solve-stored"), ("r'", "solve-trilinear"))
    ]
    return z, wall
