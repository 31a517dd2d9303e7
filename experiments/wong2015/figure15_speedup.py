"""The finite element heart: a step's time, and speed-ups over PETSc on one core, of whole runs and of their solver.

A run is some steps of backward Euler from a front half-way, each by Newton's method, whose systems are solved by
conjugate gradients (section 2). Assembly and solver are on the device, on one core, or by PETSc on several.

Equations 1 to 3: φ' = div(D·∇φ) + f^φ(φ, r) and r' = f^r(φ, r), with the potential φ and the recovery r.
Timed: `run.time("run", who)`, where `who` is the heart of whoever computes it.
"""

from __future__ import annotations

import pandas

import datasets
from experiments.wong2015 import DEVICES, HEARTS, dataset, heart, labels, power, stated
from experiments.wong2015.rows import node_counts
from repro import Cell
from repro.show.panels import alike
from repro.show.plots import COLUMN, PAGE, caption, figure, lines, point
from repro.show.quotients import quotient, quotient_text
from repro.show.tables import Table, trimmed

MINUTES = {"smoke": 0.5, "small": 1.5, "paper": 5, "large": 5}

# The paper's curves, and their replacements here: our formats, and one library.
WHOLE = "ellwarp-whole"
FORMATS = {
    "ellwarp": "ELL-WARP K1", WHOLE: "ELL-WARP K1, solve in one kernel", "ellwarp2": "ELL-WARP K2",
    "csr_vector": "CSR, threads a row by the mean", "csr_merge": "merge-path CSR", "cusparse_csr": "cuSPARSE CSR",
}  # fmt: skip
RIVALS, BEST = ("cusparse_csr",), "ellwarp"
HYBRID = "-host-assembly"
PETSC = {"petsc-jacobi": "jacobi", "petsc-bjacobi": "bjacobi"}
TITLES = {"petsc-jacobi": "Jacobi", "petsc-bjacobi": "block Jacobi"}
PROCESSES, MORE = (1, 2, 3, 4), (8, 16)  # the paper's, and more for today's processors
IN_TABLES = (1, 2, 3)  # processes, where more than the paper's were measured: eight methods can be told apart
FEWER = {"smoke": (1, 2), "small": (1, 2)}  # starting them takes longer than such runs
REFERENCE, ONE_CORE, ANOTHER = "petsc-bjacobi-1", "numba", "torchcor"
ANOTHER_SCHEME = (
    "TorchCor takes the reaction explicitly and conduction by Crank and Nicolson's rule, without Newton's method."
)
CORES = "Processors"  # a panel
SECONDS = {"smoke": 0.02, "small": 0.5, "paper": 0.6, "large": 1.0}


def cells(scale):
    """Return each heart by the loops on one core, by PETSc, and on every back end."""
    if scale == "large":  # where the largest would take a processor's cores minutes a step
        on_cores = [device_cell(case, BEST, "openmp") for case in HEARTS]
        return [*(device_cell(case, BEST, "cuda") for case in (*HEARTS, "heart-5m")), *on_cores]
    found = []
    for case in HEARTS:
        found.append(Cell(case, ONE_CORE, "host", data=(dataset(case),)))
        for method, name in PETSC.items():
            found += [
                Cell(case, f"{method}-{n}", "host", {"processes": n, "preconditioner": name}, (dataset(case),), cores=n)
                for n in FEWER.get(scale, PROCESSES + MORE)
            ]
        for backend in DEVICES:
            found += [device_cell(case, form, backend) for form in (FORMATS if backend == "cuda" else (BEST,))]
        found += [device_cell(case, form, "cuda", HYBRID) for form in FORMATS if form != WHOLE]
        found.append(Cell(case, ANOTHER, "cuda", data=(dataset(case),)))
    return found


def device_cell(case, form, backend, suffix=""):
    """Return the cell of a measured run on a device, with the assembly on the host for that suffix."""
    how = {"rival" if form in RIVALS else "form": form} | ({"assembly": "host"} if suffix else {})
    how = {"form": BEST, "whole": True} if form == WHOLE else how
    return Cell(case, form + suffix, backend, how, (dataset(case),), uses=("cores",) if suffix else ())


def measure(cell, run):
    """Time a measured run, of some steps from a front half-way, after checking its result.

    The time of a step is recorded, and where it goes, for the programs that tell.
    """
    if cell.method == ANOTHER:
        who = heart.WithTorchCor(run)
    elif "processes" in cell.parameters:
        who = heart.WithPetsc(run)
    elif cell.backend == "host":
        who = heart.OnOneCore(run)
    else:
        who = heart.OnDevice(run)
    try:
        summary = run.time(
            "run", who, check=getattr(who, "gap", lambda: heart.error(run, who)), device=who.clock,
            tolerance=heart.WAVES_APART if cell.method == ANOTHER else heart.TOLERANCE,
            capture=False, max_seconds=SECONDS[run.scale],
        )  # fmt: skip
        run.value("step", summary.median / who.steps, "s")
        for name, seconds in who.parts(summary.median).items():
            run.value(name, seconds / who.steps, "s")
        run.value("nodes", len(heart.of_run(run)[0].points), "count")
        run.value("newton_iterations", who.newton / who.steps, "count")
        run.value("linear_iterations", who.linear / who.steps, "count")
        power.record(run, who)
    finally:
        who.close()


def tables(results):
    """Return the speed-ups as in the figure, and the times behind them."""
    names, rows, times = labels(results), [], []
    for title, methods in methods_by_group().items():
        for method, text in methods.items():
            for backend in results.backends(method, "step"):
                row = {"Computed by": title, "Method": text if backend in ("host", "cuda") else f"{text}, {backend}"}
                gains = {name: found and quotient_text(found) for case, name in names.items()
                         for found in [speedup(results, case, method, backend)]}  # fmt: skip
                rows += [row | gains] if any(gains.values()) else []
    for row in results.done[results.done["metric"] == "step"].to_dict("records"):
        place, backend = (row["case"], row["method"]), row["backend"]
        newton, linear = (results.value(*place, f"{kind}_iterations", backend) for kind in ("newton", "linear"))
        times.append({"Heart": names[row["case"]], "Method": row["method"], "Back end": backend,
                      "A step [ms]": 1e3 * row["value"], "Newton iterations": newton, "Linear iterations": linear,
                      "Error": results.row(*place, "run", backend)["error"]})  # fmt: skip
    notes = [
        f"Speed-ups are over PETSc on one process with block Jacobi{'' if rows else ', which was not measured'}. "
        f"{'In parentheses: the interval. ' * bool(rows)}"
        f"{heart.SETTING} {heart.START}",
        f"Published, of a GPU: {stated('fe-speedup-low')} to {stated('fe-speedup-high')}, and "
        f"{stated('fe-solver-speedup-low')} to {stated('fe-solver-speedup-high')} with assembly on one core.",
        f"{heart.CONSTANTS} {heart.ON_PROCESSORS}",
        "Formats are compared with an iteration's kernels as a graph, on processors with a solve as one launch. "
        "On a GPU K1's rows also let one kernel do a solve.",
        *[ANOTHER_SCHEME] * bool(results.backends(ANOTHER, "step")),
        *_over_one_core(results, names),
    ]
    steps = "Means over the steps of a measured run."
    return [
        *[Table("Figure 15: speed-up", pandas.DataFrame(rows), notes)] * bool(rows),
        Table("A step of time", pandas.DataFrame(times), [steps, *([] if rows else notes)]),
        *_hybrids_per_watt(results, names),
    ]


def _hybrids_per_watt(results, names):
    """Return the speed-ups per watt with the assembly on one core, which the paper tells of, and has in no figure."""
    rows, over = [], f"petsc-bjacobi-{PROCESSES[-1]}"
    for case, name in names.items():
        for form, text in FORMATS.items():
            found = [_per_watt(results, case, form + HYBRID, over, watts) for watts in ("tdp", "tdp_most")]
            if all(found):
                rows.append({"Heart": name, "Method": text, "By the CPU's least watts": quotient_text(found[0]),
                             "By its most": quotient_text(found[1])})  # fmt: skip
    notes = [
        f"Over PETSc with block Jacobi on {PROCESSES[-1]} processes, by thermal design power. With both devices at "
        "work the larger of their powers counts, as in the paper. In parentheses: the interval.",
        f"Published: up to {stated('solver-power-effectiveness')} % with K1 and K2, and less than once with any.",
    ]
    title = "Speed-up per watt, assembly on one core"
    return [trimmed(Table(title, pandas.DataFrame(rows), notes), 3)] if rows else []


def _per_watt(results, case, method, over, watts):
    """Return how many times as effective as PETSc's a hybrid's step is, with the interval; None where a part lacks."""
    sides = (over, "host"), (method, "cuda")
    found = quotient(*(point(results, case, who, "step", "s", back) for who, back in sides))
    cores, card = (results.value(case, who, watts, back) for who, back in sides)
    if found is None or not cores or not card:
        return None
    return tuple(None if each is None else each * cores / max(cores, card) for each in found)


def _over_one_core(results, names):
    """Say how much faster than the loops on one core the paper's format is on the device."""
    device, found = results.best_device_backend(metric="step"), []
    for case in names:
        name = datasets.entry(dataset(case)).short_title
        if gain := speedup(results, case, BEST, device, (ONE_CORE, "host")):
            found.append(f"{name} {quotient_text(gain)}")
    return [f"{FORMATS[BEST]} on {device} over the loops on one core: {', '.join(found)} times."] if found else []


def methods_by_group():
    """Return the methods with their names, by what the figure shows together."""
    petsc = {
        f"{method}-{n}": f"PETSc, {TITLES[method]}, {n} process{'es' if n > 1 else ''}"
        for method in PETSC for n in PROCESSES + MORE
    }  # fmt: skip
    hybrid = {form + HYBRID: text for form, text in FORMATS.items() if form != WHOLE}
    return {
        "GPU, assembly on one core": hybrid,
        "Device": FORMATS,
        "PETSc": petsc,
        "One core": {ONE_CORE: "Numba loops"},
        "Another code on the GPU": {ANOTHER: "TorchCor, another scheme"},
    }


def speedup(results, case, method, backend=None, reference=(REFERENCE, "host")):
    """Return how many times as fast a method's step is as another's, with the ends of the interval; None without both.

    That other is PETSc's on one process with block Jacobi, which is once as fast as itself.
    """
    if (method, backend) == reference:
        return (1.0, None, None) if results.value(case, method, "step", backend) else None
    return quotient(point(results, case, reference[0], "step", "s", reference[1]),
                    point(results, case, method, "step", "s", backend))  # fmt: skip


def plot(results):
    """Draw the solver alone on the GPU, all of it there, and all on processors: ours and PETSc on several processes."""
    device = results.best_device_backend(metric="step")
    left_out, note = in_tables(results)
    petsc = [method for method in methods_by_group()["PETSc"] if method not in (REFERENCE, *left_out)]
    shown = {
        "Solver on the GPU, assembly on one core": {form: points(results, form + HYBRID, "cuda") for form in FORMATS},
        f"All on {device}": {form: points(results, form, device) for form in (*FORMATS, ANOTHER)},
        CORES: {form: points(results, form, "openmp") for form in FORMATS if device != "openmp"}
        | {method: points(results, method, "host") for method in (*petsc, ONE_CORE)},
    }
    shown = {title: series for title, series in shown.items() if any(series.values())}
    quantity = "Speed-up over PETSc, block Jacobi, one process"
    if not shown:  # PETSc was not measured
        everything = {form: steps(results, form, device) for form in (*FORMATS, ANOTHER)}
        quantity, shown = "A step [ms]", {f"All on {device}": everything}
    if not any(any(series.values()) for series in shown.values()):
        return None
    made, panels = figure(PAGE if len(shown) > 1 else COLUMN, 3.4, panels=len(shown))
    names = {method: text for group in methods_by_group().values() for method, text in group.items()}
    on_cores = names | {form: f"{text}, OpenMP, all cores" for form, text in FORMATS.items()}
    for axes, (title, series) in zip(panels, shown.items(), strict=True):
        series = {method: found for method, found in series.items() if found}
        lines(axes, series, x="Nodes", y=quantity if axes is panels[0] else "",
              names=on_cores if title == CORES else names, log_y=True,
              categories=[node_counts(results).get(case, case) for case in results.cases])  # fmt: skip
        axes.tick_params(axis="x", labelsize=6)
        axes.set_title(title, fontsize=7, loc="left")
    alike(panels)
    caption(made, results, note)
    return made


def in_tables(results):
    """Return the methods of PETSc that pictures leave to the tables, and what a caption says of it."""
    if not any(results.backends(f"{method}-{n}", "step") for method in PETSC for n in MORE):
        return [], ""
    fewer = [f"{method}-{n}" for method in PETSC for n in IN_TABLES]
    return fewer, f"PETSc on {IN_TABLES[0]} to {IN_TABLES[-1]} processes in the tables alone"


def points(results, method, backend):
    """Return place and speed-up of every heart that a method has computed, with the ends of the speed-up's interval."""
    found = ((place, speedup(results, case, method, backend)) for place, case in enumerate(results.cases))
    return [(place, *each) for place, each in found if each]


def steps(results, method, backend):
    """Return place and the milliseconds of a step of every heart that a method has computed, with their interval."""
    found = enumerate(point(results, case, method, "step", "ms", backend) for case in results.cases)
    return [(place, *each) for place, each in found if each]
