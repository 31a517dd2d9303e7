"""CEED's bake-off problem 5 beside Tables 2 and 3: conjugate gradients for Poisson's equation on GLL points.

No preconditioner, double precision, stored factors, a fixed number of iterations; on CUDA they are one graph. The
measure is unknowns times iterations a second, against unknowns: on mesh 1, cut ever finer.
"""

from __future__ import annotations

import pandas

from experiments.remacle2016 import products
from repro import Cell, Work
from repro.show.plots import lines, point
from repro.show.tables import Table

METHOD, ITERATIONS = "bp5", 100
# Elements along an edge, by order.
SIZES = {
    "smoke": {3: (8,)},
    "small": {3: (8, 16), 7: (8,)},
    "paper": {1: (32, 64, 128), 3: (8, 16, 32, 64, 128), 7: (8, 16, 32, 64)},
    "large": {1: (32, 64, 128), 3: (8, 16, 32, 64, 128), 7: (8, 16, 32, 64)},
}
CASES = {f"bp5-n{order}-{size}": (order, size) for order, sizes in SIZES["large"].items() for size in sizes}
DRIFT = 1e-6  # of the true residual from the recursive one, over the first


def cells(scale, backends):
    """Return every order and size on some back ends."""
    return [
        Cell(
            f"bp5-n{order}-{size}", METHOD, backend, {"order": order, "elements": size}, (f"remacle2016/mesh1-{size}",)
        )
        for backend in backends
        for order, sizes in SIZES[scale].items()
        for size in sizes
    ]


def measure(cell, run):
    """Time the iterations; check the operator, and the residual that they leave."""
    from kernels.device.power import Power
    from kernels.krylov import ConjugateGradient
    from kernels.sem.stiffness import Operator

    device, order, mesh = run.device, cell.parameters["order"], run.dataset(cell.data[0])
    products.need(run, device, mesh, order, factors=48, overlaps=False)
    operator = Operator(device, mesh.points, mesh.cells, order, dirichlet="boundary")
    settings = {"max_seconds": products.SECONDS[run.scale]}
    x, _ = products.rates(run, operator, mesh, {}, settings, has_fixed=True)
    solver = ConjugateGradient(device, operator.multiply_fast, operator.nodes)
    b = device.empty(operator.nodes, "float64")
    operator.multiply(x, b)

    def iterate():
        return solver.solve(b, x, 0.0, ITERATIONS)

    def drift():
        return abs(solver.true_residual(b, x) - solver.outcome().residual)

    each, vectors = operator.least_work(), solver.vector_work()
    work = Work(ITERATIONS * (each.bytes + vectors.bytes), ITERATIONS * (each.flops + vectors.flops))
    seconds = run.time(
        "iterations", iterate, check=drift, tolerance=DRIFT, work=work, capture=False, **settings
    ).median  # fmt: skip
    run.value("nodes", operator.nodes, "count")
    run.value("iteration_rate", operator.nodes * ITERATIONS / seconds / 1e9, "GDOF/s")
    energy = Power(device).measure(iterate)
    if energy:
        run.value("energy_per_unknown", 1e9 * energy.joules / (ITERATIONS * operator.nodes), "nJ")


def tables(results):
    """Return a table of the rates of all orders, sizes and back ends, where there are any."""
    rows = []
    for row in results.done[results.done["metric"] == "iteration_rate"].to_dict("records"):
        place, (order, size) = (row["case"], METHOD), CASES[row["case"]]
        time = results.row(*place, "iterations", row["backend"])
        rows.append({
            "n": order, "Elements": f"{size}³", "Back end": row["backend"],
            "Unknowns [million]": results.value(*place, "nodes", row["backend"]) / 1e6,
            "Unknowns · iterations a second [10⁹]": row["value"],
            "Of bound [%]": results.of_bound(time),
            "Energy an unknown and iteration [nJ]": results.value(*place, "energy_per_unknown", row["backend"]),
        })  # fmt: skip
    notes = [f"Beyond the paper: CEED's BP5 on mesh 1, {ITERATIONS} iterations of conjugate gradients without "
             "preconditioner, stored factors, double precision."]  # fmt: skip
    return [Table("BP5", pandas.DataFrame(rows), notes)] if rows else []


def drawn(axes, results, backend):
    """Draw unknowns times iterations a second against unknowns, a line an order."""
    series, names = {}, {}
    for case in results.cases:
        found = case in CASES and point(results, case, METHOD, "iteration_rate", "GDOF/s", backend)
        if found:
            order = CASES[case][0]
            name = f"bp5-n{order}"
            names[name] = f"BP5, n = {order}"
            series.setdefault(name, []).append((results.value(case, METHOD, "nodes", backend), *found))
    lines(axes, series, x="Unknowns", y="Unknowns · iterations [10⁹/s]", names=names, log_x=True)
