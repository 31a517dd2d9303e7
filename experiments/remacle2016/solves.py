"""Rows of Tables 2 and 3 that are of the whole solver: wall time with stored and recomputed factors; the kernel z.

Poisson's equation on mesh 2 with κ = 1, s = 1 and u = 0 on the boundary, the two-scale preconditioner, single
precision, from u = 0: the paper's algorithm, which is Table 1's two-scale, and ours, which weights the local solves and
corrects from the coarse space once. The paper does not say when it stops: solves end at the residual that fits Table 1,
and once more at 1e-6.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments.remacle2016 import poisson, products, shared
from repro.show.results import point
from repro.show.tables import INTERVALS, Column, Table, number_text

# The paper's factors, and options of kernels.sem.solver.Solver.
METHODS = {
    "plain-stored": ("stored", poisson.PLAIN),
    "plain-trilinear": ("trilinear", poisson.PLAIN),
    "solve-stored": ("stored", {}),
    "solve-trilinear": ("trilinear", {}),
}
ORDERS = {"smoke": (2,), "small": (3,), "paper": range(2, 8), "large": range(2, 8)}
TIGHT = 1e-6
PARTS = ("operator", "local solves", "coarse part")


def cells(scale, backends):
    """Return every order by both kinds of factors on some back ends."""
    return [
        products.cell(method, backend, scale, order)
        for backend in backends
        for order in ORDERS[scale]
        for method in METHODS
    ]


def measure(cell, run):
    """Time a solve and, with recomputed factors, what an iteration consists of; with weights the local solves."""
    from kernels.sem.solver import Solver

    device, order, mesh = run.device, cell.parameters["order"], run.dataset(cell.data[0])
    geometry, options = METHODS[cell.method]
    common = shared.common(run, mesh, order, factors=24 if geometry == "stored" else 0)
    options = {"dtype": "float32", "geometry": geometry} | options
    solver = Solver(device, common.points, common.cells, order, common=common, **options)
    b, x = solver.load(1.0), device.empty(solver.nodes, "float32")
    load = np.asarray(device.to_host(b), float)
    residual = poisson.Residual(run.rng, mesh, order, solver.numbering.table, load, products.picked(device))
    settings = {"max_seconds": products.SECONDS[run.scale]}
    left = residual.rounding(solver.solve(b, TIGHT, x=x)[0])
    for metric, iterations, tolerance in (
        ("wall", "iterations", poisson.TOLERANCE), ("wall_tight", "iterations_tight", TIGHT),
    ):  # fmt: skip
        run.time(
            metric, lambda tolerance=tolerance: solver.solve(b, tolerance, x=x),
            check=lambda: residual(x), tolerance=poisson.SLACK * tolerance + left,
            capture=False, **settings,
        )  # fmt: skip
        run.value(iterations, solver.iteration.outcome().iterations, "count")
    run.value("nodes", solver.nodes, "count")
    if geometry == "trilinear":
        y = device.empty(solver.nodes, "float32")
        calls = (
            lambda: solver.operator.multiply_fast(b, y),
            lambda: solver.fine.apply(b, y),
            lambda: _coarse(solver, b, y),
        )
        works = solver.operator.least_work(), solver.fine.work(), solver.coarse.work()
        for part, call, work in zip(PARTS, calls, works, strict=True):  # their results are the solves', checked above
            run.time("part", call, work=work, parameters={"part": part}, **settings)
    if cell.method == "solve-trilinear":
        products.fine_rates(run, solver.fine, mesh, {}, settings)


def _coarse(solver, r, z):
    solver.coarse.begin(r)
    solver.coarse.end(z)


def tables(results):
    """Return an iteration's time by kernel, by order, method and back end."""
    rows = []
    for row in results.done[results.done["metric"] == "wall_tight"].to_dict("records"):
        place, backend = (row["case"], row["method"]), row["backend"]
        parts = {part: results.row(*place, "part", backend, part=part) for part in PARTS}
        count = results.value(*place, "iterations_tight", backend)
        if not all(parts.values()) or not count:
            continue
        line = {"n": products.CASES[row["case"]], "Method": row["method"], "Back end": backend,
                "Iteration [ms]": 1e3 * row["value"] / count}  # fmt: skip
        for part, found in parts.items():
            ends = point(results, *place, "part", "ms", backend, part=part)
            line |= {f"{part} [ms]": number_text(ends, "ms"), f"{part}, of bound [%]": results.of_bound(found)}
        rows.append(line)
    notes = ["Each by itself, the device free; in an iteration the coarse part runs beside the local solves where the "
             "device has streams, and what is left are vectors and sums.", INTERVALS]  # fmt: skip
    return [Table("An iteration by kernel, to 1e-6", pandas.DataFrame(rows), notes)] if rows else []


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
        Column(f"{name}, {text}{ours}", method, metric, unit, published=METHODS[method][0], backend=backend)
        for ours, methods in (
            ("", ("plain-stored", "plain-trilinear")),
            (", ours", ("solve-stored", "solve-trilinear")),
        )
        for metric, text, unit in (
            ("wall", "wall time", "s"),
            ("iterations", "iterations", "count"),
            ("wall_tight", "to 1e-6", "s"),
            ("iterations_tight", "iterations to 1e-6", "count"),
        )
        for name, method in zip(("r", "r'"), methods, strict=True)
    ]
    return z, wall
