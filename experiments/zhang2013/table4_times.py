"""Times of conjugate gradients by polynomial and order, on the quadrilateral mesh.

The cells are Table 3's. The paper's times are of its CPU: here one thread of compiled loops over CSR in double
precision.

Equation, section 2.3: z = s(A) r, for Neumann s(A) = ω Σ (1 - ω A)^k over k = 0 to m.
Timed, in `zhang2013/solves.py`: `run.time("solve", solve)`, where `solve` is `solver.run(TOLERANCE, MOST_ITERATIONS)`.
"""

from __future__ import annotations

import itertools

from experiments.zhang2013 import LOADS, stated
from experiments.zhang2013.solves import CRITERION
from experiments.zhang2013.table3_iterations import (
    BOUNDS,
    NOTES,
    ORDERS,
    SHORT,
    TITLED,
    TITLES,
    cells,
    draw,
    label,
    measure,
)
from repro.show.panels import alike
from repro.show.plots import COLUMN, PAGE, caption, figure
from repro.show.results import point
from repro.show.tables import Column, paper_table, with_ours
from repro.units import significant

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 1, "small": 3, "paper": 12, "large": 40}


def tables(results):
    """Return Table 4 by each bound of the spectrum, and the same in mixed precision on the best device."""
    best = results.best_device_backend(metric="solve")
    found = []
    for backend in filter(None, ("host", best)):
        for bound in BOUNDS:
            on_host = backend == "host"
            title = "Table 4: times on the CPU" if on_host else f"Table 4's solves in SBELL and mixed, on {best}"
            methods = {order: label(order, bound, "double" if on_host else "mixed", backend) for order in ORDERS}
            columns = [Column(f"Order = {order}", method, "solve", "s", published=f"order-{order}", backend=backend,
                              paper="" if on_host else "CPU") for order, method in methods.items()]  # fmt: skip
            found.append(paper_table(results, f"{title}; bound: {SHORT[bound]}", columns, cases=TITLES,
                                     row="Polynomial", notes=[NOTES[bound], *notes(results)]))  # fmt: skip
    return with_ours(found)


def notes(results):
    """Return what holds for all tables, with Jacobi's time beside."""
    text = []
    if jacobi := point(results, "jacobi", "order-0", "solve", "s", "host"):
        here, *ends = map(significant, jacobi)
        within = "" if None in jacobi else f" ({' to '.join(ends)})"
        text.append(f"Jacobi's preconditioner takes {here} s{within} on the host, {stated('jacobi-time')} s in the "
                    "paper. Table 5 measures this solve once more.")  # fmt: skip
    return [*text, CRITERION, LOADS]


def _with_orders(results):
    """Return the back ends that solved with a polynomial, and not by Jacobi's preconditioner alone."""
    solved = results.done[(results.done["metric"] == "solve") & (results.done["case"] != "jacobi")]
    return [backend for backend in results.backends(metric="solve") if backend in set(solved["backend"])]


def plot(results):
    """Draw the time over the order, on the CPU by each bound, the paper's beside, and on the best device by its."""
    done = results.done.query("metric == 'solve'")
    solved = {*zip(done["backend"], done["method"], strict=True)}
    wanted = [("host", bound, "double") for bound in BOUNDS]
    wanted += [(backend, "safeguard", "mixed") for backend in _with_orders(results)[:1] if backend != "host"]
    shown = [(backend, bound, {order: label(order, bound, precision, backend) for order in ORDERS})
             for backend, bound, precision in wanted]  # fmt: skip
    is_there = [any((backend, method) in solved for method in methods.values()) for backend, _, methods in shown]
    shown = [*itertools.compress(shown, is_there)] or shown[: len(BOUNDS)]
    made, axes = figure(PAGE if len(shown) > 1 else COLUMN, 2.6, panels=len(shown))
    for panel, (backend, bound, methods) in zip(axes, shown, strict=True):
        on_host = backend == "host"
        text = "Time on the CPU [s]" if on_host else f"Mixed SBELL, {backend} [s]"
        is_alone = len(shown) == 1 and not on_host  # then the paper's stand here, which are of its CPU
        draw(panel, results, "solve", text + ", the paper's on its CPU" * is_alone, methods, backend,
             with_paper=on_host or is_alone)  # fmt: skip
        panel.set_label(backend)  # the caption names it
        panel.set_title(TITLED[bound], fontsize=7)  # four panels are narrow
    of_cpu = [panel for panel, (backend, *_) in zip(axes, shown, strict=True) if backend == "host"]
    if len(of_cpu) > 1:
        alike(of_cpu)
        for panel in of_cpu[1:]:  # the first one's label stands for all, which four panels have no room for
            panel.set_ylabel("")
    caption(made, results)
    return made
