"""Non-zeros per row in the matrix of the smallest heart: a histogram.

The number of entries in a row decides what a format stores in vain, and how even the work of threads is.

No equation: the length of row i is the number of nodes that share an element with node i, itself among them.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the matrix's pattern times ones.
"""

from __future__ import annotations

import numpy as np
import pandas

from experiments import counted
from experiments.wong2015 import stated
from experiments.wong2015.matrices import data as datasets_of
from experiments.wong2015.matrices import marks, named, system
from repro import Cell
from repro.show.plots import COLUMN, caption, colour, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.1, "small": 0.1, "paper": 0.1, "large": 0.3}
CASE = "heart-3k"


def cells(scale):
    """Return the matrix's cell, and the cells in which a kernel counts its non-zeros."""
    return counted.beside([Cell(CASE, "matrix", data=datasets_of(CASE))])


def measure(cell, run):
    """Count the rows of each length."""
    matrix = system(run).matrix
    if cell.backend != "host":
        return counted.of_matrix(run, matrix, matrix.nnz)
    counts = np.bincount(np.diff(matrix.indptr))
    run.check(abs(int(counts.sum()) - matrix.shape[0]), 0, "rows")
    run.check(abs(int(counts @ np.arange(counts.size)) - matrix.nnz), 0, "non-zeros")
    for length in np.flatnonzero(counts):
        run.value("rows_of_length", counts[length], "count", length=int(length))
    lengths = np.repeat(np.arange(counts.size), counts)
    for metric, value in (("rows", lengths.size), ("row_length_min", lengths.min()), ("row_length_max", lengths.max()),
                          ("row_length_median", np.median(lengths)), ("row_length_mean", lengths.mean())):  # fmt: skip
        run.value(metric, value, "count")


def histogram(results) -> dict[int, float]:
    """Return the number of rows by their length."""
    rows = results.done[results.done["metric"] == "rows_of_length"]
    return {int(length): value for length, value in zip(rows["p_length"], rows["value"])} if len(rows) else {}


def tables(results):
    """Return the histogram, and what the paper says of it."""
    found = histogram(results)
    facts = [(text, results.value(CASE, "matrix", metric), statement and stated(statement))
             for text, metric, statement in (
                 ("rows", "rows", "heart-3k-rows"), ("shortest row", "row_length_min", "heart-3k-row-length-min"),
                 ("longest row", "row_length_max", "heart-3k-row-length-max"), ("median", "row_length_median", ""),
                 ("mean", "row_length_mean", ""))]  # fmt: skip
    short = Table("In short", pandas.DataFrame([(what, ours, paper or None) for what, ours, paper in facts],
                                               columns=["", "ours", "paper"]))  # fmt: skip
    return [
        Table(f"Figure 4: rows of {named(results).get(CASE, CASE)} by their number of non-zeros",
              pandas.DataFrame({"Non-zeros": [str(length) for length in found], "Rows": list(found.values())}),
              marks(results)),
        *[short] * any(ours is not None for _, ours, _ in facts),
        *counted.tables(results, named(results)),
    ]  # fmt: skip


def plot(results):
    """Draw the histogram with the median and the mean; nothing where the host did not count."""
    found = histogram(results)
    if not found:
        return None
    made, (axes,) = figure(COLUMN, 2.6)
    with style():
        axes.bar(list(found), list(found.values()), 0.85, color=colour("cusp-csr"), edgecolor="black", linewidth=0.4)
        for metric, look in (("median", "--"), ("mean", ":")):
            value = results.value(CASE, "matrix", f"row_length_{metric}")
            if value is not None:
                axes.axvline(value, ls=look, color="black", lw=1, label=f"{metric} {value:.3g}")
        axes.set_xlabel("Non-zeros in a row")
        axes.set_ylabel("Rows")
        axes.set_title(named(results).get(CASE, ""))
        axes.legend(loc="upper right")
    caption(made, results, "; ".join(marks(results)))
    return made
