"""Shares of tasks in the time on the device, and a wave of excitation that crosses the ventricles.

The tasks are of the assembly, of the solver, and all products with matrices, each timed apart. The wave is drawn and
animated; beside it is the slab of a benchmark.

Equations 1 to 3: φ' = div(D·∇φ) + f^φ(φ, r) and r' = f^r(φ, r), with the potential φ and the recovery r.
Timed, in `wong2015/tasks.py`: `run.time(name, part)` for each task, and for the solver
`run.time("solve", lambda: beating.solver.enqueue(beating.residual, y, 1e-6, 5000))`.
"""

from __future__ import annotations

import numpy as np
import pandas

from baselines.monodomain import residual as residuals
from experiments.wong2015 import DEVICES, HEARTS, dataset, heart, labels, slab, stated, tasks, wave
from experiments.wong2015.figure15_speedup import BEST, SECONDS, device_cell
from experiments.wong2015.figure15_speedup import FORMATS as TITLES  # apart: what measures has no use for them
from experiments.wong2015.rows import node_counts
from kernels.monodomain import Model
from repro import Cell, Skip, environment
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.4, "small": 1.5, "paper": 3, "large": 5}

FORMS = (BEST, "cusparse_csr")  # the paper's own, and what it took for these shares
CROSSING = "wave"
FRAMES, PIXELS, MOVING = 4, 700, 420


def cells(scale):
    """Return the tasks of every heart on every back end, a wave, and the slab."""
    if scale == "large":  # where assembling for comparison would take an hour, and a wave on a processor's cores two
        return [_wave("heart-5m", "cuda"), _wave(HEARTS[0], "openmp"), *slab.cells(scale)]
    found = []
    for case in HEARTS:
        for backend in DEVICES:
            forms = FORMS if backend == "cuda" else FORMS[:1]
            found += [device_cell(case, form, backend) for form in forms]
            if backend != "opencl" or case == HEARTS[0]:  # one processor's back end is enough for waves
                found.append(_wave(case, backend))
    return found + slab.cells(scale)


def _wave(case, backend):
    return Cell(case, CROSSING, backend, data=(dataset(case),))


def measure(cell, run):
    """Follow a wave, or time each task of a step apart."""
    if cell.method == CROSSING:
        _follow(run)
    elif cell.case.startswith("slab"):
        slab.measure(run)
    else:
        tasks.measure(run, 0.3 * SECONDS[run.scale])


def _follow(run):
    mesh, fibres = heart.fitting(run)
    place = run.cell.case, run.scale, run.overrides.get(dataset(run.cell.case))
    found = wave.crossing(lambda: run.device, *place, fresh=True)
    before = found["last_phi"], found["last_recovery"]
    error = residuals.residual(mesh.points, mesh.cells, fibres, Model(), heart.DT, *before, found["last_found"])
    run.check(error, heart.TOLERANCE, "residual of the last step")
    reached = found["activation"] >= 0
    if wave.steps(run.scale) == wave.STEPS:
        run.check(1 - reached.mean(), 1e-3, "nodes that the wave does not reach")
    run.value("nodes", len(mesh.points), "count")
    run.value("reached", 100 * reached.mean(), "%")
    run.value("last_activation", found["activation"].max(), "ms")
    run.value("median_activation", float(np.median(found["activation"][reached])), "ms")
    run.value("steps", len(found["newton"]), "count")
    run.value("newton_iterations", found["newton"].mean(), "count")
    run.value("linear_iterations", found["linear"].mean(), "count")
    run.value("linear_tolerance", wave.SOLVED, "")
    run.value("crossing", float(found["seconds"]), "s", error=error)


def tables(results):
    """Return the tasks in the three ways of the paper, their share of the bound, and the wave."""
    rows, bounds, waves, names = [], [], [], labels(results)
    for case, name in names.items():
        for form in FORMS:
            for backend in results.backends(form, "part", name="solver"):
                found = tasks.shares(results, case, form, backend)
                if found:
                    who = {"Heart": name, "Format": form, "Back end": backend}
                    rows.append(who | tasks.percentages(found) | _solver_of_a_step(found))
                    bounds.append(who | tasks.bounds(results, case, form, backend))
        for backend in results.backends(CROSSING, "crossing"):
            of = {m: results.value(case, CROSSING, m, backend) for m in WAVE}
            if of["crossing"] is not None:
                finest = results.value(_shown(results, backend), CROSSING, "median_activation", backend)
                off = {"Median off the finest's [%]": finest and 100 * (of["median_activation"] / finest - 1)}
                waves.append({"Heart": name, "Back end": backend, **{text: of[m] for m, text in WAVE.items()}} | off)
    notes = [
        f"Of the steps of Figure 15. {heart.SETTING} {heart.START}",
        f"Published: products take up to {stated('spmv-share-of-solver')} % of the solver's time, and "
        f"{stated('spmv-share-of-all')} % of all.",
        "Elements write where the sums read, so nothing prepares the sums. The tasks are timed one by one; what a part "
        "of a step takes beyond its tasks is the rest. Waiting is what the host takes to read how "
        "the iterations stand, and the update that ends a step. Without padding the sums move 8 bytes a contribution. "
        f"{heart.ON_PROCESSORS}",
    ]
    crossing = [
        f"From the septum's base; a node is activated when its potential rises through 0.5. {heart.CONSTANTS}",
        "The time to compute is of the whole wave, frames and host included. From "
        f"{wave.SINGLE:,} nodes on linear solves are in single precision; residuals never are.",
    ]
    found = [
        (Table("Figure 3: shares of tasks", pandas.DataFrame(rows), notes), rows),
        (Table("Tasks and their bounds", pandas.DataFrame(bounds)), bounds),
        (Table("A wave crosses the ventricles", pandas.DataFrame(waves), crossing), waves),
    ]
    return [table for table, lines in found if lines] + slab.table(results)


WAVE = {
    "nodes": "Nodes", "reached": "Reached [%]", "median_activation": "Median activation [ms]",
    "last_activation": "Last activation [ms]", "steps": "Steps", "newton_iterations": "Newton iterations a step",
    "linear_iterations": "Linear iterations a step", "linear_tolerance": "Linear tolerance",
    "crossing": "Time to compute [s]",
}  # fmt: skip


def _solver_of_a_step(found):
    """Return the solver's share of a step in percent, by the name of its column."""
    solver, step = (sum(found[part].values()) for part in ("solver", "all"))
    return {"solver, of a step [%]": 100 * solver / step}


def plot(results):
    """Draw the shares of tasks in the paper's three ways, with each format, and the wave below them."""
    backend, names = results.best_device_backend(metric="part"), labels(results)
    found = {form: _by_nodes(results, form, backend) for form in FORMS}
    found = {form: each for form, each in found.items() if each}
    made, shown = figure(PAGE, 2.3 + 2.7 * len(found))[0], _shown(results)
    made.clear()
    *upper, lower, scale = made.subfigures(len(found) + 2, 1, height_ratios=(*[1.25] * len(found), 0.9, 0.17))
    with style():
        for part, (form, each) in zip(upper, found.items(), strict=True):
            part.suptitle(f"Shares with {TITLES[form]}", fontsize=7, x=0.01, ha="left")
            tasks.draw(part, each)
        for axes, (when, image) in zip(lower.subplots(1, FRAMES), _frames(results, shown, FRAMES, PIXELS, 0.85),
                                       strict=False):  # fmt: skip
            axes.imshow(image)
            axes.set_title(f"{when:.0f} ms", fontsize=7, y=-0.12)
        for axes in lower.axes:
            axes.set_axis_off()
        if shown:
            wave.legend(scale.add_axes((0.42, 0.72, 0.2, 0.16)))
    size = node_counts(results)[shown].replace(" ", "\N{NO-BREAK SPACE}") if shown else ""
    told = ["shares in the paper with cuSPARSE"] * bool(found)
    if shown:
        told.append(f"potential on {names[shown]}, {size} nodes")
    caption(made, results, "; ".join(told))
    return made


def _by_nodes(results, form, backend):
    """Return the tasks of every heart that a format has computed, by the hearts' numbers of nodes."""
    found = {nodes: tasks.shares(results, case, form, backend) for case, nodes in node_counts(results).items()}
    return {nodes: each for nodes, each in found.items() if each}


def _shown(results, backend=None):
    """The largest heart that a wave has crossed, on any back end or on one."""
    rows = results.done[(results.done["method"] == CROSSING) & (results.done["metric"] == "nodes")]
    if backend is not None:
        rows = rows[rows["backend"] == backend]
    return None if rows.empty else rows.loc[rows["value"].idxmax(), "case"]


def _frames(results, case, count, pixels, until=1.0):
    """Yield time and picture of so many frames, evenly over what the wave takes to cross, or that share of it."""
    if case is None:
        return
    place = case, results.scale, results.overrides.get(dataset(case))
    backend = next(each for each in DEVICES if results.value(case, CROSSING, "crossing", each) is not None)

    def opened():
        """The wave's own device; where it is not here the processor, whose wave is the same."""
        try:
            return environment.device(backend)
        except Skip:
            if results.scale == "large":
                raise
            return environment.device("openmp")

    found = wave.crossing(opened, *place)
    crossed = min(len(found["times"]) - 1, int(np.searchsorted(found["times"], until * found["activation"].max())))
    chosen = np.unique(np.linspace(1, crossed, count).round().astype(int))
    yield from zip(found["times"][chosen], wave.pictures(found, chosen, pixels), strict=True)


def extras(results):
    """Return the wave as a moving picture, and its frames side by side."""
    case = _shown(results)
    if case is None:
        return {}
    pictures = list(_frames(results, case, 30, MOVING))
    device = next(row["device"] for each in DEVICES if (row := results.row(case, CROSSING, "crossing", each)))
    place = f"{results.artefact}, scale {results.scale}", f"machine {results.machine} · {device}"
    title = "\n".join((labels(results)[case], *place))  # short lines, beside the scale of colours
    return {".wave.gif": wave.moving([picture for _, picture in pictures]),
            ".wave.png": wave.sheet(pictures, title)}  # fmt: skip
