"""Times of conjugate gradients by polynomial and order on the CPU, on the quadrilateral mesh.

The cells are those of Table 3. The paper's CPU column is one thread of compiled loops over CSR in double precision.
"""

from __future__ import annotations

from experiments.zhang2013 import LOADS, stated
from experiments.zhang2013.solves import CRITERION
from experiments.zhang2013.table3_iterations import ORDERS, TITLES, cells, draw, measure
from repro.plots import COLUMN, PAGE, caption, figure
from repro.tables import Column, paper_table, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
MINUTES = {"smoke": 0.5, "small": 1.5, "paper": 15, "large": 60}


def tables(results):
    """Return Table 4, and the same on the best device."""
    best = results.best_device_backend(metric="solve")
    found = []
    for title, backend, paper in (
        ("Table 4: times on the CPU", "host", ""),
        (f"Table 4's solves with SBELL in mixed precision, on {best}", best, "CPU"),
    ):
        if backend is not None:
            columns = [Column(f"Order = {order}", f"order-{order}", "solve", "s", backend=backend, paper=paper)
                       for order in ORDERS]  # fmt: skip
            found.append(paper_table(results, title, columns, cases=TITLES, row="Polynomial", notes=notes(results)))
    return with_ours(found)


def notes(results):
    """Return what holds for both tables, with Jacobi's time beside."""
    jacobi = results.value("jacobi", "order-0", "solve", "host")
    paper = stated("jacobi-time")
    text = [f"Jacobi's preconditioner takes {jacobi:.3g} s on the host, {paper} s in the paper."] if jacobi else []
    return [*text, CRITERION, LOADS]


def plot(results):
    """Draw the time over the order, on the CPU, the paper's beside, and on the best device, each where measured."""
    measured = results.backends(metric="solve")
    shown = {"host": "Time on the CPU [s]"} if "host" in measured or not measured else {}
    if measured and measured[0] != "host":
        shown[measured[0]] = f"Mixed SBELL on {measured[0]} [s]"
    made, axes = figure(PAGE if len(shown) > 1 else COLUMN, 2.6, panels=len(shown))
    for panel, (backend, text) in zip(axes, shown.items(), strict=True):
        draw(panel, results, "solve", text, backend=backend, with_paper=backend == "host")
    caption(made, results)
    return made
