"""Time to solve and iterations of all solvers on all meshes.

A system is solved to ‖r‖/‖b‖ < 1e-8 with b = 1 by conjugate gradients, plain or with a V-cycle for each iteration
(section 5.1); a product of SciPy's checks the residual. Tables 3 and 6 show more of the same measurements.

Equation 4: A u = b, with A = S + λM and λ = 1.
Timed, in `fu2014/solvers.py`: `run.time("solve", solver.solve)`, on what `run.time("setup", solver.set_up)` has made.
"""

from __future__ import annotations

import pandas

from baselines import solvers as rivals
from experiments.fu2014 import EVERY, chosen, labels, products, solvers
from experiments.fu2014 import cases as meshes
from experiments.fu2014.problems import helmholtz_matrix
from experiments.fu2014.processor import against_all
from experiments.fu2014.solver_tables import HEADINGS, S1, S2, S3, STANDS_IN, columns, everything, of_caption, threads
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.tables import Table, paper_table, trimmed
from repro.units import is_missing, significant

MINUTES = {"smoke": 1, "small": 2, "paper": 12, "large": 60}

ON_DEVICES = dict.fromkeys(
    ("patch-pcgamg", "jacobi-pcgamg", "jacobi-tuned", "cg", "patch-mis-alike", "jacobi-patch-alike"), solvers.DEVICES
) | dict.fromkeys(("jacobi-tuned-sell", "jacobi-merged"), ("cuda",))  # fmt: skip
ON_HOST = dict.fromkeys(("hypre-pcgamg", "hypre-pcgamg-all", "hypre-extended", "hypre-cg", "pyamg-sa", "pyamg-rs",
                         "amgcl", "numba-cg"), ("host",))  # fmt: skip
METHODS = ON_DEVICES | ON_HOST | solvers.ON_GPU
# Each relaxation on the paper's aggregates, and on aggregates of an independent set alone.
ALIKE = ("patch-mis-alike", "jacobi-patch-alike")
PAIRS = {"patches": ("patch-pcgamg", ALIKE[0]), "Jacobi": (ALIKE[1], "jacobi-tuned")}
# From the stand-in for CUSP to the paper's solver; each step but the last changes what it says, and nothing else.
STEPS = {
    "jacobi-pcgamg": "CUSP's weights", "jacobi-tuned": "weights by the rule", "jacobi-tuned-sell": "matrices in SELL",
    "jacobi-merged": "residual and correction in the products' kernels",
    "jacobi-patch-alike": "the paper's aggregates, in HYB and apart again",
    "patch-pcgamg": "relaxation on patches, its weights",
}  # fmt: skip
WIDE = 5.0  # per cent of a set-up's median: half of an interval from there on is told
DRAWN = (
    "patch-pcgamg", "jacobi-pcgamg", "amgx-pmis", "amgx-aggressive", "hypre-pcgamg", "amgcl", "pyamg-sa", "cg",
    "hypre-cg",
)  # fmt: skip


def cells(scale):
    """Return every mesh by every solver on every back end that it has."""
    return solvers.cells({mesh: (f"fu2014/{mesh}",) for mesh in EVERY}, METHODS)


def measure(cell, run):
    """Time set-up and solve, count iterations, and check the true residual; or time a product of Table 6."""
    if cell.backend != "host":
        run.device  # noqa: B018 - a back end that is not there skips the cell before its mesh is built
    if cell.method in products.METHODS:
        products.measure(cell, run)
    else:
        solvers.measure(run, helmholtz_matrix(run.dataset(cell.data[0])))


def tables(results):
    """Return the paper's times, its iterations, what relaxation and aggregates bring, and all solvers."""
    names = labels(results)
    time = dict(zip(HEADINGS, columns("solve", "ms", HEADINGS), strict=True))
    order = [
        time["patch-pcgamg"],
        time["hypre-pcgamg"],
        S1,
        time["jacobi-pcgamg"],
        S2,
        time["cg"],
        time["hypre-cg"],
        S3,
    ]
    notes = [
        f"{STANDS_IN}; CG stands in for CUSP-CG.",
        *threads(results, "solve"),
    ]
    every = meshes.every(results)
    return meshes.told(results, [
        paper_table(results, "Table 5: time to solve", order, cases=every, notes=notes),
        paper_table(
            results, "Table 5: iterations", columns("iterations", "count", HEADINGS), cases=every, notes=chosen(results)
        ),
        trimmed(_pairs(results, names), 2),
        trimmed(_steps(results, names), 2),
        *_against_the_processor(results),
        *_beyond(results, names),
        *_same_card(results, names),
        everything(results, names),
    ])  # fmt: skip


def _against_the_processor(results):
    """The speed-up of a solve over every multigrid solver that the processor has."""
    apart = solvers.WITHOUT_SET_UP
    rivals = {method: (method, "host") for method in ON_HOST if method not in apart}
    rivals |= {f"{method}, openmp": (method, "openmp") for method in DRAWN[:2]}
    notes = ["The paper's speed-up is over `hypre-pcgamg`, on one thread. The smallest ratio of a row is over the "
             "fastest of these. The table of all solvers has their threads."]  # fmt: skip
    backend = next(iter(results.backends("patch-pcgamg", "solve")), None)
    ours, title = ("patch-pcgamg", backend), "The paper's solver against all multigrid solvers of the processor"
    return against_all(results, title, "solve", ours, rivals, notes)


def _beyond(results, names):
    """The iterations to a smaller tolerance, and the share of the finest matrix that is inside of patches."""
    rows = []
    for row in results.done[results.done["metric"] == "iterations_tight"].to_dict("records"):
        place = row["case"], row["method"]
        count, inside = (results.value(*place, name, row["backend"]) for name in ("iterations", "fraction_inside"))
        rows.append({
            "Mesh": names[row["case"]], "Method": row["method"], "Back end": row["backend"],
            f"To {solvers.TOLERANCE:g}": None if count is None else int(count),
            f"To {solvers.SMALLER:g}": int(row["value"]),
            "Inside of patches [%]": None if inside is None else 100 * inside,
        })  # fmt: skip
    notes = ["Iterations to two tolerances. Inside of patches: of the entries of the finest matrix but its diagonal."]
    title = "Iterations to a smaller tolerance"
    return [trimmed(Table(title, pandas.DataFrame(rows, dtype=object), notes), 3)] if rows else []


def _same_card(results, names):
    """Set-up and solve together, beside libraries on the same GPU: of AmgX's configurations the best."""
    rows = []
    for case, name in names.items():
        sums = {
            method: _together(results, case, method) for method in ("patch-pcgamg", "jacobi-pcgamg", *solvers.ON_GPU)
        }
        known = {method: sums[method] for method in rivals.AMGX if sums[method] is not None}
        if not known and sums["cudss"] is None:
            continue
        best = min(known, key=known.get) if known else None
        row = {"Mesh": name, "patchPCGAMG [ms]": sums["patch-pcgamg"], "jacobiPCGAMG [ms]": sums["jacobi-pcgamg"]}
        row |= {"AmgX [ms]": known.get(best), "its configuration": best and f"`{best}`", "cuDSS [ms]": sums["cudss"]}
        rows.append(row)
    title = "Set-up and a later solve, on the same GPU"
    notes = ["The sum of a set-up and of a later solve: a first one takes longer, and Figure 6 measures both together.",
             "AmgX: of its configurations that with the least sum, in double precision throughout. Ours: the paper's "
             "solver and the stand-in for CUSP, whose preconditioners are in single precision; not the fastest of all "
             "that we have.", *_spread(results, DRAWN[:2], "cuda")]  # fmt: skip
    return [trimmed(Table(title, pandas.DataFrame(rows, dtype=object), notes), 1)] if rows else []


def _spread(results, methods, backend=None):
    """A note of how far the intervals of the set-ups that a table shows reach; none where they are narrow.

    `backend`: of all of them; by itself each method has its best.
    """
    rows = [results.row(case, method, "setup", backend) for case in results.cases for method in methods]
    timed = [row for row in rows if row and row["value"] > 0 and not is_missing(row["ci_low"])]
    if max((50 * (row["ci_high"] - row["ci_low"]) / row["value"] for row in timed), default=0) < WIDE:
        return []
    below, above = (max(100 * abs(row[end] / row["value"] - 1) for row in timed) for end in ("ci_low", "ci_high"))
    return [f"The intervals of these set-ups reach up to {significant(below, 2)} % below their median and "
            f"{significant(above, 2)} % above. Smaller differences, also of their sums, decide nothing."]  # fmt: skip


def _together(results, case, method):
    times = [results.value(case, method, metric, "cuda") for metric in ("setup", "solve")]
    return None if None in times else 1e3 * sum(times)


def _pairs(results, names):
    """Each relaxation on each set of aggregates."""
    rows = []
    for case, name in names.items():
        for relaxation, methods in PAIRS.items():
            row = {"Mesh": name, "Relaxation": relaxation}
            for aggregates, method in zip(("the paper's aggregates", "MIS aggregates"), methods, strict=True):
                iterations, time = (results.value(case, method, metric) for metric in ("iterations", "solve"))
                row[f"Iterations, {aggregates}"] = None if iterations is None else int(iterations)
                row[f"ms, {aggregates}"] = None if time is None else 1e3 * time
            rows.append(row)
    notes = ["Along a row only the aggregates change. Down a column the relaxation changes, and with it both weights "
             "and the kernels: Jacobi's have their matrices in HYB."]  # fmt: skip
    return Table("Effects of relaxation and of aggregates", pandas.DataFrame(rows, dtype=object), notes)


def _steps(results, names):
    """From the stand-in for CUSP to the paper's solver, by the changes that each line names."""
    rows = []
    for case, name in names.items():
        for method, change in STEPS.items():
            row = {"Mesh": name, "Change": change}
            for metric, heading in (("iterations", "Iterations"), ("setup", "Set-up [ms]"), ("solve", "Solve [ms]")):
                value = results.value(case, method, metric)
                row[heading] = value if value is None or metric == "iterations" else 1e3 * value
            rows.append(row)
    notes = ["The rule: of the weights tried, the least within 1 % of the fewest iterations on meshes of other tables.",
             "The last line changes the relaxation with its weight, the prolongator's weight and the kernels at once.",
             *["In the line before it, of the paper's aggregates, SELL and the merged kernels are taken back."]
             * bool(results.backends("jacobi-merged")),
             *_spread(results, list(STEPS))]  # fmt: skip
    return Table("From CUSP's solver to the paper's", pandas.DataFrame(rows, dtype=object), notes)


def plot(results):
    """Draw time to solve, and iterations."""
    made, panels = figure(PAGE, 3.0, panels=2)
    ticks = meshes.ticks(results)
    published = solvers.published(results, DRAWN)
    for axes, metric, unit, quantity in (
        (panels[0], "solve", "ms", "Time to solve"), (panels[1], "iterations", "count", "Iterations"),
    ):  # fmt: skip
        bars(axes, results, metric, DRAWN, unit=unit, quantity=quantity, cases=ticks, published=published)
    caption(made, results, of_caption(results, DRAWN))
    return made
