"""The heat equation on the rod over devices and threading systems: one kernel source for all of them.

The paper's rows are the two-scale preconditioner in single precision with recomputed factors. Beside them, on the first
GPU or else through OpenMP: solves that start from the solution before, the local solves alone, and Jacobi's
preconditioner.
"""

from __future__ import annotations

import gc

import numpy as np
import pandas

from experiments.notes import STARTED_BY_HOST
from experiments.remacle2016 import products, rod
from repro import Cell
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.tables import Column, Table, paper_table, trimmed, with_ours

MINUTES = {"smoke": 0.3, "small": 1.5, "paper": 12, "large": 12}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]

# Back end, kind of its device, preconditioner, how many steps' changes the first guess is extrapolated from.
METHODS = {
    "cuda-gpu": ("cuda", None, "two-scale", 3),
    "opencl-gpu": ("opencl", "GPU", "two-scale", 3),
    "openmp-cpu": ("openmp", None, "two-scale", 3),
    "opencl-cpu": ("opencl", "CPU", "two-scale", 3),
    "cuda-unguessed": ("cuda", None, "two-scale", 0),
    "cuda-fine-only": ("cuda", None, "fine-only", 3),
    "cuda-jacobi": ("cuda", None, "jacobi", 3),
    "openmp-unguessed": ("openmp", None, "two-scale", 0),
    "openmp-fine-only": ("openmp", None, "fine-only", 3),
    "openmp-jacobi": ("openmp", None, "jacobi", 3),
}
PAPER = {
    "cuda-gpu": "CUDA (GPU)", "opencl-gpu": "OpenCL (GPU)", "openmp-cpu": "OpenMP (CPU)", "opencl-cpu": "OpenCL (CPU)",
}  # fmt: skip
ORDERS = {"smoke": (2,), "small": (2, 3, 4), "paper": range(2, 8), "large": range(2, 8)}
STEPS = {"smoke": 2, "small": 5, "paper": rod.STEPS, "large": rod.STEPS}
RATES = (
    ("operations of the operator r', its factors with them", "flop_rate_with_geometry", "GFLOP/s"),
    ("bytes of the operator r'", "bandwidth", "GB/s"),
    ("operations of the local solves z", "flop_rate_fine", "GFLOP/s"),
    ("bytes of the local solves z", "bandwidth_fine", "GB/s"),
)
POWER_SECONDS = {"smoke": 0.02, "small": 0.5, "paper": 1.5, "large": 1.5}
BALANCE = 2e-4  # heat against what the source gave, in single precision


def cells(scale):
    """Return every order by every device; the largest of what is beside the paper's rows, and the smallest."""
    orders = ORDERS[scale]
    extra = {orders[0], orders[-1]}
    return [
        Cell(f"n{order}", method, METHODS[method][0], {"steps": STEPS[scale]}, (rod.MESH,))
        for method in METHODS
        for order in orders
        if method in PAPER or order in extra
    ]


def opened(cell, run):
    """Return the device of a cell: of OpenCL's, that of the wanted kind."""
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

    mesh, order, steps = run.dataset(rod.MESH), int(cell.case[1:]), STEPS[run.scale]
    device = opened(cell, run)
    products.need(run, device, mesh, order, overlaps=METHODS[cell.method][2] != "jacobi")
    pool = device.xp.get_default_memory_pool() if device.backend == "cuda" else None
    gc.collect()  # arrays that cells before left in cycles, which would be freed while this one is counted
    before = pool.used_bytes() if pool else 0
    problem = rod.heat(device, mesh, order, preconditioner=METHODS[cell.method][2], remembered=METHODS[cell.method][3])
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
    products.rates(run, solver.operator, mesh, coefficients, timed)
    if solver.fine is not None:
        products.fine_rates(run, solver.fine, mesh, coefficients, timed)
    energy = Power(device).measure(whole, POWER_SECONDS[run.scale])
    if energy:
        run.value("power", energy.watts, "W")
        run.value("energy_per_unknown", 1e9 * energy.joules / (steps * problem.nodes), "nJ")


def tables(results):
    """Return the paper's table, and what is not in it."""
    cases = {case: case[1:] for case in results.cases}
    steps = STEPS[results.scale]
    columns = [Column("N", "cuda-gpu", "nodes", "million", published="mesh"),
               Column("Device memory", "cuda-gpu", "device_memory", "MB", published="mesh")]  # fmt: skip
    columns += [Column(name, method, "wall", "s") for method, name in PAPER.items()]
    notes = [
        "Two-scale preconditioner, its local solves weighted; single precision, recomputed factors. Source, path and "
        "tolerance of the solves (1e-6) are not printed: `experiments/remacle2016/rod.py` has ours.",
        "Each solve starts from what a parabola through the changes of the last three steps leads one to expect; under "
        "Steps are the same from the solution before, named unguessed.",
        f"Ours are {steps} steps, the paper's {rod.STEPS}. The rod is a stand-in for the paper's, with as many "
        "hexahedra at the paper's scale.",
    ]
    if results.backends("opencl-gpu", "wall"):
        notes.append(STARTED_BY_HOST)
    paper = paper_table(results, "Table 4: heat equation, wall time", columns, row="n", cases=cases, notes=notes)
    rates = []
    for kernel, metric, unit in RATES:
        columns = [Column(name, method, metric, unit) for method, name in PAPER.items()]
        title = f"Table 4: {kernel}"
        rates.append(paper_table(results, title, columns, row="n", cases=cases, notes=["By the paper's counts."]))
    rows = []
    for row in results.done[results.done["metric"] == "step"].to_dict("records"):
        found = {metric: results.value(row["case"], row["method"], metric, row["backend"])
                 for metric in ("nodes", "iterations", "power", "energy_per_unknown")}  # fmt: skip
        rows.append({
            "n": int(row["case"][1:]), "Method": row["method"], "A step [ms]": 1e3 * row["value"],
            "Iterations a step": found["iterations"],
            "Unknowns · iterations a second [10⁹]": found["nodes"] * found["iterations"] / row["value"] / 1e9,
            "Power [W]": found["power"], "Energy a step and unknown [nJ]": found["energy_per_unknown"],
        })  # fmt: skip
    notes = ["Methods named after a preconditioner have that one in place of the two-scale; the unguessed start each "
             "solve from the solution before.",
             "Power of the whole card or processor, where its counter can be read."]  # fmt: skip
    return with_ours([paper, *rates, trimmed(Table("Steps", pandas.DataFrame(rows), notes), 2)])


def plot(results):
    """Draw the time of a step against unknowns, ours and the paper's."""
    made, axes = figure(PAGE, 3.0)
    printed, series, published = results.published, {}, {}
    nodes = {case: next(filter(None, (results.value(case, method, "nodes") for method in METHODS)), None)
             for case in results.cases}  # fmt: skip
    for method in PAPER:
        found = {case: point(results, case, method, "step", "ms") for case in results.cases}
        if not any(found.values()):
            continue  # nothing to compare with, and no line that tells what the open marks are of
        series[method] = [(nodes[case], *(at or (np.nan,))) for case, at in found.items() if nodes[case]]
        pairs = [(printed.get(case, "mesh", "nodes"), printed.get(case, method, "wall")) for case in printed.cases]
        published[method] = [(n.value, 1e3 * wall.value / rod.STEPS) for n, wall in pairs if n and wall]
    lines(axes[0], series, x="Unknowns", y="Wall time of a step [ms]", names=PAPER, published=published, log_x=True,
          log_y=True)  # fmt: skip
    caption(made, results, "the rod is a stand-in for the paper's")
    return made
