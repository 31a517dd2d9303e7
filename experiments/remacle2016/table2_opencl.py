"""The operator through OpenCL: operations and bytes a second of stored and recomputed factors.

The two kernels that take most of the time, on mesh 2: r is the operator's product to element vectors, r' the same with
factors of the geometry that are computed where they are needed, z the local solves of the preconditioner. The same
source by the C back end is beside it: without a GPU, OpenCL is there only with a processor's driver.

Equation 8: r = Dᵀ(m κ G D u) + m c u in each element, where D differentiates along each direction.
Timed, in `remacle2016/products.py`: `run.time("local", lambda: operator.apply_local(x, local))` for r and r', and
`run.time("fine", lambda: fine.solve_local(x, parts))` for z, which is equation 11.
"""

from __future__ import annotations

from dataclasses import replace

from experiments.remacle2016 import bp5, products, rivals, solves
from repro.show.plots import PAGE, bars, caption, figure, style
from repro.show.tables import trimmed, with_ours

MINUTES = {"smoke": 0.7, "small": 4, "paper": 20, "large": 40}
__all__ = ["MINUTES", "cells", "measure", "plot", "tables"]
ON_CORES = "openmp"
R = {"stored": "r, factors stored", "trilinear": "r', recomputed"}
Z = {"local-solves": "z, local solves"}
SOLVES = {
    "plain-stored": "solve by r", "plain-trilinear": "solve by r'", "solve-stored": "ours by r",
    "solve-trilinear": "ours by r'",
}  # fmt: skip
# Metric, unit, quantity, methods, the paper's names of those, and its metric.
PANELS = (
    ("flop_rate", "GFLOP/s", "Rate of operations", R, None, None),
    ("bandwidth", "GB/s", "Bandwidth", R, None, None),
    ("flop_rate_fine", "GFLOP/s", "Rate of operations of z", Z, {"local-solves": "fine"}, "flop_rate"),
    ("bandwidth_fine", "GB/s", "Bandwidth of z", Z, {"local-solves": "fine"}, "bandwidth"),
    ("wall", "s", "A solve", SOLVES, {"plain-stored": "stored", "plain-trilinear": "trilinear"}, None),
)


def cells(scale):
    """Return every order by every kernel, the solver, and BP5, through OpenCL and by the C back end."""
    return every(scale, ("opencl", "openmp"))


def every(scale, backends):
    """Return all cells of Tables 2 and 3 on some back ends, libraries beside them."""
    return [cell for part in (products, solves, bp5, rivals) for cell in part.cells(scale, backends)]


def measure(cell, run):
    """Measure a kernel, the solver, or BP5."""
    parts = {method: part for part in (bp5, solves, rivals) for method in part.METHODS}
    parts.get(cell.method, products).measure(cell, run)


def tables(results):
    """Return the paper's table, and all kernels."""
    return shown(results, "Table 2", "the operator through OpenCL", "opencl")


def shown(results, name, title, backend):
    """Return the paper's tables of its back end, the same of the C back end, and every kernel and BP5 on both."""
    paper, beyond = [], [trimmed(table, 4) for table in bp5.tables(results)]
    on_cores = f"{name}'s columns by the C back end on a processor"
    for each, text in ((backend, f"{name}: {title}"), (ON_CORES, on_cores)):
        *found, kernels = products.tables(results, text, each, *solves.columns(each))
        paper += found
    return with_ours([*paper, kernels, *solves.tables(results), *rivals.tables(results), *beyond])


def plot(results):
    """Draw operations and bytes a second by order, and solves, ours and the paper's, and BP5."""
    return drawn(results, "opencl")


def drawn(results, backend):
    """Draw operations and bytes a second of r, r' and z by order, solves, and BP5 by size; None of what has no value.

    They are of the C back end where the other has nothing.
    """
    backend = backend if backend in results.backends() else ON_CORES
    is_z = results.frame["metric"].isin([metric for metric, _, _, methods, *_ in PANELS if methods is Z])
    named = results.frame["method"].mask(is_z, *Z)  # they are measured by a solver whose solves look otherwise
    results = replace(results, frame=results.frame.assign(method=named))
    panels = [each for each in PANELS if any(backend in results.backends(method, each[0]) for method in each[3])]
    has_bp5 = bool(results.backends(bp5.METHOD, "iteration_rate"))
    if not panels and not has_bp5:
        return None
    count = len(panels) + has_bp5
    shape = (2, 3) if count > 3 else (1, count)
    made, _ = figure(PAGE, 2.6 * shape[0])
    made.clear()
    with style():
        axes = made.subplots(*shape, squeeze=False).ravel()
    cases = {case: str(products.CASES[case]) for case in results.cases if case in products.CASES}
    for axis in axes[len(panels) : len(axes) - has_bp5]:
        axis.set_axis_off()
    for axis, (metric, unit, quantity, methods, theirs, printed) in zip(axes, panels, strict=False):
        bars(axis, results, metric, methods, unit=unit, quantity=quantity, cases=cases, backend=backend,
             published=theirs, published_metric=printed)  # fmt: skip
        axis.set_xlabel("Order n")
    if has_bp5:
        bp5.drawn(axes[-1], results, backend)
    of_solves = [metric == "wall" for metric, *_ in panels]
    told = ["operations and bytes as the paper counts them"] * (not all(of_solves))
    told += ["solves to the residual of our Table 1"] * any(of_solves)
    caption(made, results, "; ".join(told))
    return made
