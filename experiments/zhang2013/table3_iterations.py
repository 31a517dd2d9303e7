"""Iterations of conjugate gradients by polynomial and order, on the quadrilateral mesh.

A x = b is scaled by its diagonal, and preconditioned with a polynomial s of order m: Neumann's series, the s
that makes 1 - λ s(λ) least in a weighted square, or in the maximum, which is Chebyshev's. They need the end of the
spectrum.

All of it in double precision, by three bounds on the spectrum: the paper's, which is the largest Ritz value of a few
Lanczos steps with a safeguard; the largest row sum; and a tight one. Beside that devices apply the polynomial in single
precision, the outer iteration in double.

Equation, section 2.3: z = s(A) r, for Neumann s(A) = ω Σ (1 - ω A)^k over k = 0 to m.
Timed, in `zhang2013/solves.py`: `run.time("solve", solve)`, where `solve` is `solver.run(TOLERANCE, MOST_ITERATIONS)`.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, stated
from experiments.zhang2013.solves import CRITERION, measure, solve_cell
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.results import is_missing
from repro.show.tables import Column, Table, device_notes, paper_table, with_ours

__all__ = ["cells", "draw", "label", "measure", "plot", "tables"]
MINUTES = {"smoke": 1, "small": 3, "paper": 12, "large": 40}
TITLES = {"neumann": "Neumann", "least-squares": "L-S", "chebyshev": "Chebyshev"}
ORDERS = (2, 3, 4, 5, 6)
STEPS = 10  # of Lanczos, where the paper says a small number
SWEPT = (3, 5, 20, 40)  # the same for least squares of order 6
BOUNDS = {"safeguard": "-safeguard", "row-sum": "-row-sum", "lanczos": ""}  # and the endings of methods' names
NOTES = {
    "safeguard": f"The spectrum ends at the largest Ritz value of {STEPS} Lanczos steps and the norm of their "
                 "remainder, as the paper's reference 26 has it; the min-max polynomial's lower end is the smallest "
                 "Ritz value.",
    "row-sum": "The spectrum ends at the largest row sum, 1.4 times the largest eigenvalue; the min-max polynomial's "
               "lower end is the smallest eigenvalue.",
    "lanczos": "Bounds of the spectrum from 20 Lanczos steps and their residuals; the min-max polynomial takes their "
               "smallest Ritz value as the lower end, the others 0.",
}  # fmt: skip
SHORT = {"safeguard": "Lanczos and safeguard", "row-sum": "largest row sum", "lanczos": "tight, by Lanczos"}
TITLED = {bound: text[0].upper() + text[1:] for bound, text in SHORT.items()}
PRECISIONS = {"double": "in double precision", "mixed": "the polynomial in single precision"}


def label(order, bound, precision="double", backend=None):
    """Return a method's name. The host's solves are all in double precision; with the tight bound it is not said."""
    is_plain = precision == "mixed" or (backend == "host" and bound == "lanczos")
    return f"order-{order}{BOUNDS[bound]}" + ("" if is_plain else "-double")


def cells(scale):
    """Return each polynomial of each order, by each bound and in each precision, and none, on every back end."""
    found = [solve_cell("jacobi", "order-0", backend, "quad", polynomial="", order=0, form="sbell", precision="mixed")
             for backend in DEVICES]  # fmt: skip
    found.append(solve_cell("jacobi", "order-0", "host", "quad", polynomial="", order=0, threads=1))
    for bound in BOUNDS:
        for name in TITLES:
            for order in ORDERS:
                found += _cells(name, order, bound, is_short=scale == "small")
    for steps in SWEPT:
        found += [solve_cell("least-squares", f"order-6-safeguard-{steps}-steps", backend, "quad", form="sbell",
                             precision="double", polynomial="least-squares", order=6, bound="safeguard", steps=steps)
                  for backend in DEVICES]  # fmt: skip
    return found


def _cells(name, order, bound, is_short):
    """Return the cells of a column; a short run has mixed precision where it differs, and the host's of one bound."""
    chosen = {"polynomial": name, "order": order, "bound": bound}
    is_papers, differs = bound == "safeguard", bound == "row-sum" and name == "chebyshev"
    if is_papers:
        chosen["steps"] = STEPS
    precisions = PRECISIONS if differs or not is_short else ("double",)
    found = [solve_cell(name, label(order, bound, precision), backend, "quad", form="sbell", precision=precision,
                        **chosen)
             for precision in precisions for backend in DEVICES]  # fmt: skip
    if is_papers or not is_short:
        found.append(solve_cell(name, label(order, bound, "double", "host"), "host", "quad", threads=1, **chosen))
    return found


def tables(results):
    """Return Table 3 by each bound, in double precision and then in mixed, and what every back end takes."""
    shown = []
    for precision, told in PRECISIONS.items():
        for bound in BOUNDS:
            methods = {order: label(order, bound, precision) for order in ORDERS}
            columns = [Column(f"Order = {order}", method, "iterations", "count", published=f"order-{order}")
                       for order, method in methods.items()]  # fmt: skip
            title = f"Table 3: iterations on the quadrilateral mesh, {told}; bound: {SHORT[bound]}"
            notes = [NOTES[bound], *_jacobi(results), CRITERION, LOADS]
            shown.append(paper_table(results, title, columns, cases=TITLES, row="Polynomial", notes=notes))
    return with_ours([*shown, *_steps(results), _every(results)])


def _jacobi(results):
    count, paper = results.value("jacobi", "order-0", "iterations"), stated("jacobi-iterations")
    return [] if count is None else [f"Jacobi's preconditioner takes {count:,.0f} iterations, {paper} in the paper."]


def _steps(results):
    """Return the effect of the number of Lanczos steps, for least squares of order 6."""
    methods = {steps: f"order-6-safeguard-{steps}-steps" for steps in SWEPT} | {STEPS: label(6, "safeguard")}
    rows = []
    for steps, method in sorted(methods.items()):
        bound, count = (results.value("least-squares", method, metric) for metric in ("upper_bound", "iterations"))
        if count is not None:
            rows.append({"Lanczos steps": steps, "Bound over the largest eigenvalue": bound, "Iterations": int(count)})
    return [Table("The paper's bound by steps, least squares of order 6", pandas.DataFrame(rows))] if rows else []


def _every(results):
    rows = []
    for row in results.done[results.done["metric"] == "iterations"].to_dict("records"):
        key = row["case"], row["method"]
        products, seconds, bound = (results.value(*key, metric, row["backend"])
                                    for metric in ("products", "solve", "upper_bound"))  # fmt: skip
        order = row.get("p_order")
        is_double = row["backend"] == "host" or row.get("p_precision") == "double"
        rows.append({"Polynomial": TITLES.get(row["case"], "Jacobi"),
                     "Order": None if is_missing(order) else int(order),
                     "Bound": row.get("p_bound") if row["case"] in TITLES else "", "Over largest": bound,
                     "Precision": "double" if is_double or row["case"] not in TITLES else "mixed",
                     "Back end": row["backend"], "Iterations": int(row["value"]), "Products": int(products),
                     "Time [ms]": 1e3 * seconds})  # fmt: skip
    notes = ["Jacobi is the scaling alone, of order 0. Products are those with the matrix.",
             *device_notes(results, "solve")]  # fmt: skip
    return Table("All back ends", pandas.DataFrame(rows), notes)


def plot(results):
    """Draw iterations over the order by the paper's bound and by the row sum, and what single precision makes of it."""
    made, axes = figure(PAGE, 2.6, panels=3)
    shown = (("safeguard", "double"), ("row-sum", "double"), ("row-sum", "mixed"))
    for panel, (bound, precision) in zip(axes, shown, strict=True):
        draw(panel, results, "iterations", "Iterations", {order: label(order, bound, precision) for order in ORDERS})
        panel.set_title(TITLED[bound] + (", in FP32" if precision == "mixed" else ""))
    alike(axes)
    caption(made, results)
    return made


def draw(axes, results, metric, text, methods, backend=None, with_paper=True):
    """Draw a metric of the three polynomials over the order, whose methods are given, the paper's beside."""
    series, published = {}, {}
    for name in TITLES:
        unit = "s" if metric == "solve" else "count"
        found = {order: point(results, name, method, metric, unit, backend) for order, method in methods.items()}
        series[name] = [(order, *each) for order, each in found.items() if each is not None]
        numbers = {order: results.published.value(name, f"order-{order}", metric) for order in ORDERS}
        published[name] = [(order, value) for order, value in numbers.items() if value is not None]
    lines(axes, series, x="Order of the polynomial", y=text, names=TITLES, published=published if with_paper else None,
          log_y=True, whole_x=True, scale=results.scale)  # fmt: skip
