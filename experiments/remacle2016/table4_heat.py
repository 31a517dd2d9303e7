"""The heat equation on the rod over devices and threading systems: one kernel source for all of them.

Seventy steps of backward Euler with a source of heat that moves (section 6.2). The paper's rows are the two-scale
preconditioner in single precision with recomputed factors, a plain sum of local solves, each solve from zero. Beside
them are ours, and by CUDA and OpenMP: solves that start from the solution before, the local solves alone, Jacobi's
preconditioner, and the paper's with each iteration launched by the host. Power is read of the paper's and ours. Our
operator through CUDA is timed once more as the host launches it, since OpenCL's is.

Equation 1: cu - ∇·(κ∇u) = s, with c = 1/Δt and s = u_old/Δt + Q/(ρ c_p).
Timed: `run.time("wall", whole)`, where each step of `whole` is `problem.advance()`.
"""

from __future__ import annotations

import gc
import math

import numpy as np
import pandas

from experiments.notes import STARTED_BY_HOST
from experiments.remacle2016 import products, rod
from repro import Cell
from repro.judge.difference import FASTER, SLOWER, THRESHOLD, of_intervals
from repro.judge.intervals import Interval
from repro.judge.propagation import ends
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.quotients import quotient, quotient_text
from repro.show.tables import Column, Table, number_text, paper_table, trimmed, with_ours

MINUTES = {"smoke": 0.5, "small": 3, "paper": 25, "large": 25}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]

# Back end, kind of its device, options of kernels.sem.heat.Heat. The paper's have the plain sum of the local solves and
# start each solve from zero; ours weight them, and start from what the last three steps lead one to expect.
PLAIN = {"weighted": False, "remembered": None}
METHODS = {
    "cuda-gpu-plain": ("cuda", None, PLAIN),
    "opencl-gpu-plain": ("opencl", "GPU", PLAIN),
    "openmp-cpu-plain": ("openmp", None, PLAIN),
    "opencl-cpu-plain": ("opencl", "CPU", PLAIN),
    "cuda-gpu": ("cuda", None, {}),
    "opencl-gpu": ("opencl", "GPU", {}),
    "openmp-cpu": ("openmp", None, {}),
    "opencl-cpu": ("opencl", "CPU", {}),
    "cuda-launched": ("cuda", None, PLAIN | {"graph": False}),
    "cuda-unguessed": ("cuda", None, {"remembered": 0}),
    "cuda-fine-only": ("cuda", None, {"preconditioner": "fine-only"}),
    "cuda-jacobi": ("cuda", None, {"preconditioner": "jacobi"}),
    "openmp-unguessed": ("openmp", None, {"remembered": 0}),
    "openmp-fine-only": ("openmp", None, {"preconditioner": "fine-only"}),
    "openmp-jacobi": ("openmp", None, {"preconditioner": "jacobi"}),
}
PAPER = {
    "cuda-gpu-plain": ("cuda-gpu", "CUDA (GPU)"), "opencl-gpu-plain": ("opencl-gpu", "OpenCL (GPU)"),
    "openmp-cpu-plain": ("openmp-cpu", "OpenMP (CPU)"), "opencl-cpu-plain": ("opencl-cpu", "OpenCL (CPU)"),
}  # fmt: skip
OURS = {published: f"{name}, ours" for published, name in PAPER.values()}
NAMES = {method: name for method, (_, name) in PAPER.items()} | OURS
EVERY_ORDER = (*PAPER, *OURS, "cuda-launched", "cuda-jacobi", "openmp-jacobi")
# For the faster of two, and up to which order: the method, and what it is compared with.
LAUNCHES = ("cuda-gpu-plain", "cuda-launched", "opencl-gpu-plain")
PAIRS = {"cuda-jacobi": "cuda-gpu", "openmp-jacobi": "openmp-cpu"}
ALONE = "ours"  # no method of the paper's is beside it
CASES = {f"n{order}": order for order in range(2, 8)}
ORDERS = {"smoke": (2,), "small": (2, 3, 4), "paper": range(2, 8), "large": range(2, 8)}
STEPS = {"smoke": 2, "small": 5, "paper": rod.STEPS, "large": rod.STEPS}
RATES = (
    ("operations of the operator r', its factors with them", "flop_rate_with_geometry", "GFLOP/s"),
    ("bytes of the operator r'", "bandwidth", "GB/s"),
    ("operations of the local solves z", "flop_rate_fine", "GFLOP/s"),
    ("bytes of the local solves z", "bandwidth_fine", "GB/s"),
)
POWER_SECONDS = {"smoke": 0.02, "small": 0.5, "paper": 1.5, "large": 1.5}
CORRECTIONS = (
    "The K-cycle takes its two steps once. Table 1's two-scale takes them thrice, which saves no iteration here: the "
    "mass of a time step makes the coarse system easy, and once is as good as an exact solve."
)
BALANCE = 2e-4  # heat against what the source gave, in single precision


def cells(scale):
    """Return every order by every device; of what is beside them, but for Jacobi's, the largest and the smallest."""
    orders = ORDERS[scale]
    extra = {orders[0], orders[-1]}
    return [
        Cell(f"n{order}", method, METHODS[method][0], {"steps": STEPS[scale], "order": order}, (rod.MESH,))
        for method in METHODS
        for order in orders
        if method in EVERY_ORDER or order in extra
    ]


def opened(cell, run):
    """Return the device of a cell; of OpenCL's devices, the one of the wanted kind."""
    kind = METHODS[cell.method][1]
    if kind is None:
        return run.device
    from kernels.device import Unavailable, open_device, opencl

    try:
        usual = open_device("opencl")
        return usual if usual.is_gpu == (kind == "GPU") else opencl.open_device(kind)
    except Unavailable as missing:
        run.skip(missing.reason, missing.remedy)


def measure(cell, run):
    """Time the steps, and the two costly kernels by themselves; check the balance of heat and the operator."""
    from kernels.device.power import Power

    mesh, order, steps = run.dataset(rod.MESH), cell.parameters["order"], STEPS[run.scale]
    device, options = opened(cell, run), METHODS[cell.method][2]
    products.need(run, device, mesh, order, overlaps=options.get("preconditioner") != "jacobi")
    pool = device.xp.get_default_memory_pool() if device.backend == "cuda" else None
    gc.collect()  # arrays that cells before left in cycles, which would be freed while this one is counted
    before = pool.used_bytes() if pool else 0
    problem = rod.heat(device, mesh, order, **options)
    solver, iterations = problem.solver, []
    supplied = rod.supplied(problem, steps)

    def whole():
        problem.reset()
        iterations[:] = [problem.advance().iterations for _ in range(steps)]

    def unbalanced():
        return abs(problem.heat() - supplied) / supplied

    timed = {"device": device, "max_seconds": products.SECONDS[run.scale]}
    summary = run.time("wall", whole, check=unbalanced, tolerance=BALANCE, capture=False, **timed)
    run.value("nodes", problem.nodes, "count")
    run.value("iterations", float(np.mean(iterations)), "count")
    run.value("step", summary.median / steps, "s")
    if pool:
        run.value("device_memory", (pool.used_bytes() - before) / 1e6, "MB")
    coefficients = {"kappa": rod.KAPPA, "mass": 1 / rod.STEP}
    if cell.method in OURS:  # the kernels are the same in all
        x, local = products.rates(run, solver.operator, mesh, coefficients, timed)
        if pool:  # beside OpenCL, which has no graphs; checked above
            run.time(
                "local_launched", lambda: solver.operator.apply_local(x, local), work=solver.operator.local_work(),
                capture=False, **timed,
            )  # fmt: skip
        products.fine_rates(run, solver.fine, mesh, coefficients, timed)
    energy = cell.method in NAMES and Power(device).measure(whole, POWER_SECONDS[run.scale])
    if energy:
        run.value("power", energy.watts, "W")
        run.value("energy_per_unknown", 1e9 * energy.joules / (steps * problem.nodes), "nJ")


def tables(results):
    """Return the paper's table, and what is not in it."""
    cases = {case: str(CASES[case]) for case in results.cases}
    steps = STEPS[results.scale]
    columns = [Column("N", "cuda-gpu-plain", "nodes", "million", published="mesh"),
               Column("Device memory", "cuda-gpu-plain", "device_memory", "MB", published="mesh")]  # fmt: skip
    columns += [Column(name, method, "wall", "s", published=printed) for method, (printed, name) in PAPER.items()]
    columns += [Column(name, method, "wall", "s", published=ALONE) for method, name in OURS.items()]
    counted = f"Ours are {steps} steps, the paper's {rod.STEPS}."
    if steps == rod.STEPS:
        counted = f"Both are of {steps} steps."
    notes = [
        "Two-scale preconditioner, single precision, recomputed factors. The paper's: a plain sum of the local solves, "
        "each solve from zero to 1e-6 of its right-hand side. Source, path and tolerance are not printed: "
        "`experiments/remacle2016/rod.py` has ours.",
        CORRECTIONS,
        "Ours: local solves weighted, each solve to 1e-6 of the residual that the solution before leaves, from what a "
        "parabola through the changes of the last three steps leads one to expect; under Steps are the same from the "
        "solution before, named unguessed.",
        f"{counted} The rod is a stand-in for the paper's, with as many hexahedra at the paper's scale.",
    ]
    if any(results.backends(method, "wall") for method in ("opencl-gpu", "opencl-gpu-plain")):
        notes.append(STARTED_BY_HOST)
    paper = paper_table(results, "Table 4: heat equation, wall time", columns, row="n", cases=cases, notes=notes)
    rates = []
    for kernel, metric, unit in RATES:
        columns = [Column(name, printed, metric, unit) for printed, name in PAPER.values()]
        title = f"Table 4: {kernel}"
        counts = [products.BYTES if unit == "GB/s" else products.OPERATIONS]
        counts += [products.WITH_GEOMETRY] * metric.endswith("with_geometry")
        rates.append(paper_table(results, title, columns, row="n", cases=cases, notes=counts))
    rows = []
    for row in results.done[results.done["metric"] == "step"].to_dict("records"):
        found = {metric: results.value(row["case"], row["method"], metric, row["backend"])
                 for metric in ("nodes", "iterations", "power", "energy_per_unknown")}  # fmt: skip
        rows.append({
            "n": CASES[row["case"]], "Method": row["method"], "A step [ms]": 1e3 * row["value"],
            "Iterations a step": found["iterations"],
            "Unknowns · iterations a second [10⁹]": found["nodes"] * found["iterations"] / row["value"] / 1e9,
            "Power [W]": found["power"], "Energy a step and unknown [nJ]": found["energy_per_unknown"],
        })  # fmt: skip
    notes = ["Methods named after a preconditioner have that one in place of the two-scale; the unguessed start each "
             "solve from the solution before.",
             "Power of the whole card or processor, where its counter can be read."]  # fmt: skip
    steps = trimmed(Table("Steps", pandas.DataFrame(rows), notes), 2)
    return with_ours([paper, *rates, steps, _faster(results), _launches(results)])


def _faster(results):
    """Return by order how Jacobi's preconditioner stands to the two scales: where it is faster, and where that ends."""
    rows = []
    for case, order in CASES.items():
        for one, other in PAIRS.items():
            times = [point(results, case, method, "wall", "s") for method in (one, other)]  # of which a step is a part
            counts = [results.value(case, method, "iterations") for method in (one, other)]
            if all(times):
                verdict = of_intervals(times[1], times[0], THRESHOLD).verdict
                rows.append({
                    "n": order, "Jacobi's": one, "Two scales": other, "Iterations, Jacobi's": counts[0],
                    "Iterations, two scales": counts[1],
                    "Time over that of two scales": quotient_text(quotient(*times)),
                    "Faster": {FASTER: one, SLOWER: other}.get(verdict, verdict),
                })  # fmt: skip
    notes = ["An iteration of Jacobi's is the operator and vectors alone. In parentheses: the interval, which decides."]
    return Table("Jacobi's preconditioner against the two scales, a step", pandas.DataFrame(rows), notes)


def _launches(results):
    """Return by order what of OpenCL's time over CUDA's the launches by the host explain: CUDA without its graph."""
    rows = []
    for case, order in CASES.items():
        graph, launched, opencl = found = [point(results, case, method, "step", "ms") for method in LAUNCHES]
        if all(found):
            rows.append({
                "n": order, "CUDA, a graph [ms]": number_text(graph, "ms"),
                "CUDA, launched by the host [ms]": number_text(launched, "ms"),
                "OpenCL [ms]": number_text(opencl, "ms"),
                "OpenCL over the graph": quotient_text(quotient(opencl, graph)),
                "Launched over the graph": quotient_text(quotient(launched, graph)),
                "OpenCL over launched": quotient_text(quotient(opencl, launched)),
                "Explained of the factor": quotient_text(_explained(graph, launched, opencl)),
            })  # fmt: skip
    notes = ["If launches by the host are why OpenCL is slower, CUDA without its graph is as slow. Explained: of the "
             "factor's logarithm. In parentheses: the interval."]  # fmt: skip
    return Table("OpenCL's time: launches by the host", pandas.DataFrame(rows), notes)


def _explained(graph, launched, opencl):
    """Return which part of OpenCL's factor launches by the host are, as logarithms, and the ends of its interval.

    None where there may be no factor.
    """
    factor = quotient(opencl, graph)
    if (factor[0] if factor[1] is None else factor[1]) <= 1:
        return None
    spans = {name: [(Interval.of(value), Interval(*(value if end is None else end for end in reach)))]
             for name, (value, *reach) in {"graph": graph, "launched": launched, "opencl": opencl}.items()}  # fmt: skip

    def part(names):
        base, *others = (names[name][0].low for name in spans)
        own, whole = (math.log(each / base) for each in others)
        return own / whole

    value = part({name: [exact] for name, [(exact, _)] in spans.items()})
    lows, highs = ends(part, spans)
    return value, *(
        value + sign * math.hypot(*(end - value for end in each)) for sign, each in ((-1, lows), (1, highs))
    )


def plot(results):
    """Draw the time of a step against unknowns, ours and the paper's."""
    made, axes = figure(PAGE, 3.6)
    printed, series, published = results.published, {}, {}
    nodes = {case: next(filter(None, (results.value(case, method, "nodes") for method in METHODS)), None)
             for case in results.cases}  # fmt: skip
    theirs = {}  # each of the paper's once, beside its own or else beside ours
    for method, (name, _) in PAPER.items():
        theirs[method if results.backends(method, "step") else name] = name
    for method in NAMES:
        found = {case: point(results, case, method, "step", "ms") for case in results.cases}
        if not any(found.values()):
            continue  # nothing to compare with, and no line that tells what the open marks are of
        series[method] = [(nodes[case], *(at or (np.nan,))) for case, at in found.items() if nodes[case]]
        name = theirs.get(method, ALONE)
        pairs = [(printed.get(case, "mesh", "nodes"), printed.get(case, name, "wall")) for case in printed.cases]
        published[method] = [(n.value, 1e3 * wall.value / rod.STEPS) for n, wall in pairs if n and wall]
    lines(axes[0], series, x="Unknowns", y="Wall time of a step [ms]", names=NAMES, published=published, log_x=True,
          log_y=True)  # fmt: skip
    caption(made, results, "the rod is a stand-in for the paper's")
    return made
