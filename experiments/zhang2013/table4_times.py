"""Times of conjugate gradients by polynomial and order on the CPU, on the quadrilateral mesh.

The cells are those of Table 3. The paper's CPU column is one thread of compiled loops over CSR in double precision.
"""

from __future__ import annotations

from experiments.zhang2013 import LOADS, stated, table3_iterations
from experiments.zhang2013.solves import CRITERION
from experiments.zhang2013.table3_iterations import ORDERS, TITLES, cells, draw, measure
from repro.show.panels import alike
from repro.show.plots import COLUMN, PAGE, caption, figure
from repro.show.tables import Column, paper_table, with_ours

__all__ = ["cells", "measure", "plot", "tables"]
ROW_SUM = next(suffix for suffix, bound in table3_iterations.BOUNDS.items() if bound == "row-sum")
MINUTES = {"smoke": 0.5, "small": 1.5, "paper": 15, "large": 60}


def tables(results):
    """Return Table 4, and the same on the best device, by either bound of the spectrum."""
    best = results.best_device_backend(metric="solve")
    on_best = f"Table 4's solves with SBELL in mixed precision, on {best}"
    found = []
    for title, backend, paper, suffix in (
        ("Table 4: times on the CPU", "host", "", ""),
        (on_best, best, "CPU", ""),
        (f"{on_best}, with the bounds that the published iterations imply", best, "CPU", ROW_SUM),
    ):
        if backend is not None:
            columns = [Column(f"Order = {order}", f"order-{order}{suffix}", "solve", "s", published=f"order-{order}",
                              backend=backend, paper=paper) for order in ORDERS]  # fmt: skip
            told = [table3_iterations.NOTES[suffix][1], *notes(results)]
            found.append(paper_table(results, title, columns, cases=TITLES, row="Polynomial", notes=told))
    return with_ours(found)


def notes(results):
    """Return what holds for all tables, with Jacobi's time beside."""
    jacobi = results.value("jacobi", "order-0", "solve", "host")
    paper = stated("jacobi-time")
    text = [f"Jacobi's preconditioner takes {jacobi:.3g} s on the host, {paper} s in the paper."] if jacobi else []
    return [*text, CRITERION, LOADS]


def plot(results):
    """Draw the time over the order, on the CPU, the paper's beside, and on the best device by either bound."""
    measured = results.backends(metric="solve")
    shown = [("host", "", "Time on the CPU [s]")] if "host" in measured or not measured else []
    if measured and measured[0] != "host":
        shown += [(measured[0], suffix, f"Mixed SBELL on {measured[0]} [s]") for suffix in ("", ROW_SUM)]
    made, axes = figure(PAGE if len(shown) > 1 else COLUMN, 2.6, panels=len(shown))
    for panel, (backend, suffix, text) in zip(axes, shown, strict=True):
        draw(panel, results, "solve", text, suffix, backend, with_paper=backend == "host")
        panel.set_title("Bound: largest row sum" if suffix else "Bound: Lanczos")
    if len(shown) > 1:
        alike(axes[-2:])  # the device's
    caption(made, results)
    return made
