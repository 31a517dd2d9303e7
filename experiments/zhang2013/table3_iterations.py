"""Iterations of conjugate gradients by polynomial and order, on the quadrilateral mesh.

On a device the polynomial is applied in single precision to SBELL, the outer iteration is in double; on the host all is
in double precision, with CSR.
"""

from __future__ import annotations

import pandas

from experiments.zhang2013 import DEVICES, LOADS, stated
from experiments.zhang2013.solves import CRITERION, measure, solve_cell
from repro.show.panels import alike
from repro.show.plots import PAGE, caption, figure, lines, point
from repro.show.tables import Column, Table, device_notes, paper_table, with_ours

__all__ = ["cells", "draw", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.5, "small": 1.5, "paper": 15, "large": 60}
TITLES = {"neumann": "Neumann", "least-squares": "L-S", "chebyshev": "Chebyshev"}
ORDERS = (2, 3, 4, 5, 6)
BOUNDS = {"-row-sum": "row-sum", "": "lanczos"}  # of the spectrum, by the ending of a method's name
NOTES = {
    "-row-sum": (
        "Table 3: iterations on the quadrilateral mesh, with the bounds that the published numbers imply",
        "The largest row sum, 1.4 times the largest eigenvalue, bounds the spectrum above; the min-max polynomial's "
        "lower end is the smallest eigenvalue.",
    ),
    "": (
        "The same with tighter bounds",
        "Bounds of the spectrum from 20 Lanczos steps; the min-max polynomial takes their smallest Ritz value as the "
        "lower end, the others 0.",
    ),
}


def cells(scale):
    """Return each polynomial of each order, and none, on every back end and on one thread of the host."""
    found = []
    for name, order in [("jacobi", 0), *((name, order) for name in TITLES for order in ORDERS)]:
        chosen = {"polynomial": "" if name == "jacobi" else name, "order": order}
        for suffix, bound in BOUNDS.items() if order else [("", "lanczos")]:
            found += [solve_cell(name, f"order-{order}{suffix}", backend, "quad", form="sbell", precision="mixed",
                                 bound=bound, **chosen) for backend in DEVICES]  # fmt: skip
        found.append(solve_cell(name, f"order-{order}", "host", "quad", threads=1, **chosen))
    return found


def tables(results):
    """Return Table 3 by bounds of our own and by the paper's, and what every device takes."""
    shown = []
    for suffix, (title, note) in NOTES.items():
        columns = [Column(f"Order = {order}", f"order-{order}{suffix}", "iterations", "count",
                          published=f"order-{order}") for order in ORDERS]  # fmt: skip
        notes = [note, *_jacobi(results), CRITERION, LOADS]
        shown.append(paper_table(results, title, columns, cases=TITLES, row="Polynomial", notes=notes))
    rows = []
    for row in results.done[results.done["metric"] == "iterations"].to_dict("records"):
        key = row["case"], row["method"]
        products, seconds = (results.value(*key, metric, row["backend"]) for metric in ("products", "solve"))
        order, _, bound = row["method"].removeprefix("order-").partition("-")
        rows.append({"Polynomial": TITLES.get(row["case"], "Jacobi"), "Order": int(order), "Bound": bound or "Lanczos",
                     "Back end": row["backend"], "Iterations": int(row["value"]), "Products": int(products),
                     "Time [ms]": 1e3 * seconds})  # fmt: skip
    notes = ["Jacobi is the scaling alone, of order 0. Products are those with the matrix.",
             *device_notes(results, "solve")]  # fmt: skip
    return with_ours([*shown, Table("All back ends", pandas.DataFrame(rows), notes)])


def _jacobi(results):
    count, paper = results.value("jacobi", "order-0", "iterations"), stated("jacobi-iterations")
    return [] if count is None else [f"Jacobi's preconditioner takes {count:,.0f} iterations, {paper} in the paper."]


def plot(results):
    """Draw iterations over the order with either kind of bounds, the paper's beside the first."""
    made, axes = figure(PAGE, 2.6, panels=2)
    for panel, (suffix, text) in zip(axes, {"-row-sum": "row sum", "": "Lanczos"}.items()):
        draw(panel, results, "iterations", f"Iterations (bound: {text})", suffix, with_paper=bool(suffix))
    alike(axes)
    caption(made, results)
    return made


def draw(axes, results, metric, text, suffix="", backend=None, with_paper=True):
    """Draw a metric of the three polynomials over the order, the paper's beside."""
    series, published = {}, {}
    for name in TITLES:
        unit = "s" if metric == "solve" else "count"
        found = {order: point(results, name, f"order-{order}{suffix}", metric, unit, backend) for order in ORDERS}
        series[name] = [(order, *each) for order, each in found.items() if each is not None]
        numbers = {order: results.published.value(name, f"order-{order}", metric) for order in ORDERS}
        published[name] = [(order, value) for order, value in numbers.items() if value is not None]
    lines(axes, series, x="Order of the polynomial", y=text, names=TITLES, published=published if with_paper else None,
          log_y=True, whole_x=True, scale=results.scale)  # fmt: skip
