"""CEED's bake-off problems beside Tables 2 and 3: conjugate gradients without a preconditioner.

BP5 is Poisson's equation integrated at the GLL nodes, as the paper does; BP3 the same at points of Gauss, one more
along an edge; BP1 the mass matrix at those. Double precision, stored factors, a fixed number of iterations; on CUDA
they are one graph. The measure is unknowns times iterations a second, against unknowns: on mesh 1, cut ever finer.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments.methods import Methods
from experiments.remacle2016 import products
from repro import Cell, Work
from repro.show.plots import lines, point
from repro.show.tables import Table

METHOD, ITERATIONS = "bp5", 100
METHODS = (METHOD, "bp1", "bp3")
PROBLEMS = Methods()
# Elements along an edge, by order.
SIZES = {
    "smoke": {3: (8,)},
    "small": {3: (16,), 7: (8,)},
    "paper": {1: (32, 64, 128), 3: (8, 16, 32, 64, 128), 7: (8, 16, 32, 64)},
    "large": {1: (32, 64, 128), 3: (8, 16, 32, 64, 128), 7: (8, 16, 32, 64)},
}
CASES = {
    f"{method}-n{order}-{size}": (method, order, size)
    for method in METHODS
    for order, sizes in SIZES["large"].items()
    for size in sizes
}
TOLERANCE = 1e-11
DRIFT = 1e-6  # of the true residual from the recursive one, over the first


def cells(scale, backends):
    """Return every problem, order and size on some back ends."""
    return [
        Cell(f"{method}-n{order}-{n}", method, backend, {"order": order, "elements": n}, (f"remacle2016/mesh1-{n}",))
        for backend in backends
        for method in METHODS
        for order, sizes in SIZES[scale].items()
        for n in sizes
    ]


def measure(cell, run):
    """Time the iterations; check the operator, and the residual that they leave."""
    from kernels.device.power import Power
    from kernels.krylov import ConjugateGradient

    device, order, mesh = run.device, cell.parameters["order"], run.dataset(cell.data[0])
    factors = 48 if cell.method == METHOD else 48 * ((order + 2) / (order + 1)) ** 3
    products.need(run, device, mesh, order, factors=factors, overlaps=False)
    settings = {"max_seconds": products.SECONDS[run.scale]}
    operator, multiply, x = PROBLEMS[cell.method](run, mesh, order, settings)
    solver = ConjugateGradient(device, multiply, operator.nodes)
    b = device.empty(operator.nodes, "float64")
    multiply(x, b)

    def iterate():
        return solver.solve(b, x, 0.0, ITERATIONS)

    def drift():
        return abs(solver.true_residual(b, x) - solver.outcome().residual)

    each, vectors = operator.least_work(), solver.vector_work()
    work = Work(ITERATIONS * (each.bytes + vectors.bytes), ITERATIONS * (each.flops + vectors.flops))
    seconds = run.time(
        "iterations", iterate, check=drift, tolerance=DRIFT, work=work, capture=False, **settings
    ).median  # fmt: skip
    run.check(abs(solver.outcome().iterations - ITERATIONS), 0, "iterations")
    run.value("nodes", operator.nodes, "count")
    run.value("iteration_rate", operator.nodes * ITERATIONS / seconds / 1e9, "GDOF/s")
    energy = cell.method == METHOD and Power(device).measure(iterate)
    if energy:
        run.value("energy_per_unknown", 1e9 * energy.joules / (ITERATIONS * operator.nodes), "nJ")


@PROBLEMS(METHOD)
def _at_nodes(run, mesh, order, settings):
    """Return BP5's operator, its product, and a vector."""
    from kernels.sem.stiffness import Operator

    operator = Operator(run.device, mesh.points, mesh.cells, order, dirichlet="boundary")
    x, _ = products.rates(run, operator, mesh, {}, settings, has_fixed=True)
    return operator, operator.multiply_fast, x


@PROBLEMS("bp1")
def _mass(*given):
    return _at_points("mass", *given)


@PROBLEMS("bp3")
def _stiffness(*given):
    return _at_points("stiffness", *given)


def _at_points(kind, run, mesh, order, settings):
    """Return an operator of kernels.sem.quadrature, its product, and a vector; the product is checked and timed."""
    from baselines.sem import gauss
    from kernels.sem.quadrature import Quadrature

    device = run.device
    fixed = "boundary" if kind == "stiffness" else None
    operator = Quadrature(device, mesh.points, mesh.cells, order, kind, dirichlet=fixed)
    host = run.rng.standard_normal(operator.nodes)
    if fixed:
        host[np.asarray(device.to_host(device.array(operator.numbering.boundary)))] = 0
    chosen = np.unique(run.rng.integers(operator.elements, size=products.SAMPLE))
    table = products.picked(device)(operator.numbering.table, chosen)
    expected = gauss.multiply(mesh.points, mesh.cells[chosen], order, host[table], kind)
    x, y = device.array(host), device.empty(operator.nodes, "float64")
    parts = device.empty(operator.elements * (order + 1) ** 3, "float64")

    def error():
        found = np.asarray(device.to_host(parts)).reshape(operator.elements, -1)[chosen]
        return float(np.abs(found - expected).max() / np.abs(expected).max())

    run.time("local", lambda: operator.apply_local(x, parts), check=error, tolerance=TOLERANCE, **settings)
    run.time("assembled", lambda: operator.multiply(x, y), work=operator.least_work(), **settings)
    return operator, operator.multiply, x


def tables(results):
    """Return a table of the rates of all orders, sizes and back ends, where there are any."""
    rows = []
    for row in results.done[results.done["metric"] == "iteration_rate"].to_dict("records"):
        method, order, size = CASES[row["case"]]
        place = (row["case"], method)
        time = results.row(*place, "iterations", row["backend"])
        rows.append({
            "Problem": method.upper(), "n": order, "Elements": f"{size}³", "Back end": row["backend"],
            "Unknowns [million]": results.value(*place, "nodes", row["backend"]) / 1e6,
            "Unknowns · iterations a second [10⁹]": row["value"],
            "Of bound [%]": results.of_bound(time),
            "Energy an unknown and iteration [nJ]": results.value(*place, "energy_per_unknown", row["backend"]),
        })  # fmt: skip
    notes = [
        f"Beyond the paper: CEED's bake-off problems on mesh 1, {ITERATIONS} iterations of conjugate gradients without "
        "preconditioner, stored factors, double precision. BP5 integrates at the nodes; BP1 (mass) and BP3 (Poisson) "
        "at points of Gauss, one more along an edge, by a kernel that is not tuned.",
    ]
    return [Table("CEED's bake-off problems", pandas.DataFrame(rows), notes)] if rows else []


def drawn(axes, results, backend):
    """Draw unknowns times iterations a second against unknowns: BP5 a line an order, the others of the highest.

    All orders of all three are more lines than a panel can tell apart; the table has them.
    """
    highest, series, names = max(SIZES["large"]), {}, {}
    for case in results.cases:
        method, order, _ = CASES.get(case, ("", 0, 0))
        wanted = method == METHOD or order == highest
        found = wanted and point(results, case, method, "iteration_rate", "GDOF/s", backend)
        if found:
            name = f"{method}-n{order}"
            names[name] = f"{method.upper()}, n = {order}"
            series.setdefault(name, []).append((results.value(case, method, "nodes", backend), *found))
    lines(axes, series, x="Unknowns", y="Unknowns · iterations [10⁹/s]", names=names, log_x=True)
