"""What the time goes into on the device: tasks of the assembly, of the solver, and all products with matrices.

Beside it a wave of excitation crosses the ventricles, drawn and animated.
"""

from __future__ import annotations

import numpy as np
import pandas

from baselines.monodomain import residual as residuals
from experiments.wong2015 import DEVICES, HEARTS, dataset, heart, labels, stated, wave
from experiments.wong2015.figure15_speedup import BEST, SECONDS, device_cell
from kernels.monodomain import Model
from repro import Cell, environment
from repro.plots import PAGE, caption, figure, style
from repro.results import is_missing
from repro.tables import Table

MINUTES = {"smoke": 0.4, "small": 1.5, "paper": 2, "large": 5}

FORMS = (BEST, "cusparse_csr")  # the paper's own, and what it took for these shares
CROSSING = "wave"
ASSEMBLY = {"elements": "elements", "sums": "sums (as a product)", "control": "waiting for the host"}
SOLVER = {"products": "products", "vectors": "all else of CG", "begin": "beginning and end"}
ALL = {"multiplying": "products and sums", "rest": "the rest"}
COLOURS = ("#0072B2", "#009E73", "#CC79A7")
FRAMES, PIXELS, MOVING = 4, 700, 420


def cells(scale):
    """Return the tasks of every heart on every back end, and a wave."""
    hearts = ("heart-5m",) if scale == "large" else HEARTS
    found = []
    for case in hearts:
        for backend in DEVICES:
            forms = FORMS if backend == "cuda" else FORMS[:1]
            if scale != "large":  # where assembling for comparison would take an hour
                found += [device_cell(case, form, backend) for form in forms]
            if backend != "opencl" or case == hearts[0]:  # one processor's back end is enough for waves
                found.append(Cell(case, CROSSING, backend, data=(dataset(case),)))
    return found


def measure(cell, run):
    """Follow a wave, or time each task of a step apart."""
    if cell.method == CROSSING:
        _follow(run)
    else:
        _tasks(run)


def _follow(run):
    mesh, fibres = heart.of_run(run)
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
    run.value("crossing", float(found["seconds"]), "s", error=error)


def _tasks(run):
    who = heart.OnDevice(run)
    who()
    beating, device, limit = who.heart, run.device, 0.3 * SECONDS[run.scale]
    x = device.array(run.rng.uniform(-1, 1, beating.nodes))
    y = device.zeros(beating.nodes, "float64")
    independent = heart.Assembled(run)

    def assembly():
        beating.matrix.multiply(x, y)
        return independent.error(device.to_host(x), device.to_host(y), device.to_host(beating.residual))

    def solved():
        return beating.solver.true_residual(beating.residual, y)

    who.start()
    beating.assembly_part()
    parts = {"elements": (beating.elements_part, beating.elements_work()),
             "sums": (beating.sums_part, beating.sums_work()),
             "product": (lambda: beating.matrix.multiply(x, y), beating.matrix.least_work()),
             "begin": (beating.begin_part, None)}  # fmt: skip
    for name, (part, work) in parts.items():
        run.time(name, part, check=assembly, tolerance=1e-11, work=work, max_seconds=limit)
    run.time("solve", lambda: beating.solver.enqueue(beating.residual, y, 1e-6, 5000), check=solved, tolerance=1e-5,
             max_seconds=limit, capture=False)  # fmt: skip
    for name, seconds in who.parts.items():
        run.value(f"part_{name}", seconds / who.steps, "s")
    run.value("newton_iterations", who.newton / who.steps, "count")
    run.value("linear_iterations", who.linear / who.steps, "count")
    run.value("padding", beating.plan.padding, "x")
    run.value("nodes", beating.nodes, "count")


def tasks(results, case, form, backend):
    """Return the seconds of a step by task, in the three ways of the paper; None where they were not measured."""

    def of(metric):
        return results.value(case, form, metric, backend)

    if of("part_solver") is None:
        return None
    newton, linear = of("newton_iterations"), of("linear_iterations")
    elements, sums = (newton + 1) * of("elements"), (newton + 1) * of("sums")
    products, begin = linear * of("product"), (newton + 1) * of("begin")
    control = of("part_control") + of("part_update")
    total = of("part_assembly") + of("part_solver") + control
    return {
        "assembly": {"elements": elements, "sums": sums, "control": control},
        "solver": {"products": products, "vectors": max(0.0, of("part_solver") - products - begin), "begin": begin},
        "all": {"multiplying": sums + products, "rest": max(0.0, total - sums - products)},
    }


def tables(results):
    """Return the tasks in the three ways of the paper, their share of the bound, and the wave."""
    rows, bounds, waves, names = [], [], [], labels(results)
    for case, name in names.items():
        for form in FORMS:
            for backend in results.backends(form, "part_solver"):
                found = tasks(results, case, form, backend)
                if found is None:
                    continue
                row, bound = {"Heart": name, "Format": form, "Back end": backend}, {}
                for title, group in (("assembly", ASSEMBLY), ("solver", SOLVER), ("all", ALL)):
                    total = sum(found[title].values())
                    row |= {f"{title}: {text} [%]": 100 * found[title][task] / total for task, text in group.items()}
                rows.append(row)
                for metric in ("elements", "sums", "product"):
                    one = results.row(case, form, metric, backend)
                    bound |= {f"{metric} [µs]": 1e6 * one["value"], f"{metric}, of bound [%]": _percent(one)}
                bounds.append({"Heart": name, "Format": form, "Back end": backend, **bound})
        for backend in results.backends(CROSSING, "crossing"):
            of = {m: results.value(case, CROSSING, m, backend) for m in WAVE}
            if of["crossing"] is not None:
                waves.append({"Heart": name, "Back end": backend, **{text: of[m] for m, text in WAVE.items()}})
    notes = [
        f"Of the steps of Figure 15. {heart.SETTING} {heart.START}",
        f"Published: products take up to {stated('spmv-share-of-solver')} % of the solver's time, and "
        f"{stated('spmv-share-of-all')} % of all.",
        "Elements write where the sums read, so nothing prepares the sums. Waiting is what the host takes to read how "
        "the iterations stand, and the update that ends a step. Without padding the sums move 8 bytes a contribution.",
    ]
    crossing = [
        f"From the septum's base; a node is activated when its potential rises through 0.5. {heart.CONSTANTS}",
        "The time to compute is of the whole wave, frames and host included.",
    ]
    return [
        Table("Figure 3: shares of tasks", pandas.DataFrame(rows), notes),
        Table("Tasks and their bounds", pandas.DataFrame(bounds)),
        Table("A wave crosses the ventricles", pandas.DataFrame(waves), crossing),
    ]


def _percent(row):
    fraction = row["bound_fraction"]
    return None if is_missing(fraction) else 100 * fraction


WAVE = {
    "nodes": "Nodes", "reached": "Reached [%]", "median_activation": "Median activation [ms]",
    "last_activation": "Last activation [ms]", "steps": "Steps", "newton_iterations": "Newton iterations a step",
    "linear_iterations": "Linear iterations a step", "crossing": "Time to compute [s]",
}  # fmt: skip


def plot(results):
    """Draw the shares of tasks in the paper's three ways, and the wave below them."""
    made = figure(PAGE, 5.0)[0]
    made.clear()
    upper, lower, scale = made.subfigures(3, 1, height_ratios=(1.25, 0.9, 0.17))
    backend = results.best_device_backend(metric="part_solver")
    found = {name: tasks(results, case, FORMS[0], backend) for case, name in labels(results).items()}
    found = {name.split(" (")[0].removeprefix("Heart "): each for name, each in found.items() if each}
    titles = {"assembly": ("Assembly", ASSEMBLY), "solver": ("Solver", SOLVER), "all": ("Both", ALL)}
    with style():
        for axes, (what, (title, group)) in zip(upper.subplots(1, 3), titles.items(), strict=True):
            below = np.zeros(len(found))
            for colour, (task, text) in zip(COLOURS, group.items(), strict=False):
                share = np.array([100 * each[what][task] / sum(each[what].values()) for each in found.values()])
                axes.bar(range(len(found)), share, 0.7, bottom=below, color=colour, edgecolor="black", linewidth=0.4,
                         label=text)  # fmt: skip
                below += share
            axes.set_xticks(range(len(found)), list(found))
            axes.tick_params(axis="x", length=0)
            axes.set_ylim(0, 100)
            axes.set_xlabel("Nodes of the heart")
            axes.set_ylabel(f"{title}: share of its time [%]")
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), fontsize=6, borderaxespad=0)
        shown = _shown(results)
        for axes, frame in zip(lower.subplots(1, FRAMES), _frames(results, shown, FRAMES, PIXELS, 0.85), strict=False):
            axes.imshow(frame[1])
            axes.set_axis_off()
            axes.set_title(f"{frame[0]:.0f} ms", fontsize=7, y=-0.12)
        if shown:
            wave.legend(scale.add_axes((0.42, 0.72, 0.2, 0.16)))
    caption(made, results, f"potential on {labels(results)[shown]}" if shown else "")
    return made


def _shown(results):
    """The largest heart that a wave has crossed."""
    sizes = {case: results.value(case, CROSSING, "nodes") for case in results.cases}
    sizes = {case: nodes for case, nodes in sizes.items() if nodes}
    return max(sizes, key=sizes.get, default=None)


def _frames(results, case, count, pixels, until=1.0):
    """Yield time and picture of so many frames, evenly over what the wave takes to cross, or that share of it."""
    if case is None:
        return
    place = case, results.scale, results.overrides.get(dataset(case))
    backend = results.best_device_backend(CROSSING, "crossing")
    found = wave.crossing(lambda: environment.device(backend), *place)
    crossed = min(len(found["times"]) - 1, int(np.searchsorted(found["times"], until * found["activation"].max())))
    for frame in np.unique(np.linspace(1, crossed, count).round().astype(int)):
        yield found["times"][frame], wave.picture(*place, found, frame, pixels)


def extras(results):
    """Return the wave as a moving picture, and its frames side by side."""
    case = _shown(results)
    if case is None:
        return {}
    pictures = list(_frames(results, case, 30, MOVING))
    return {".wave.gif": wave.moving([picture for _, picture in pictures]),
            ".wave.png": wave.sheet(pictures, labels(results)[case])}  # fmt: skip
