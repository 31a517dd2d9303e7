"""The matrices: non-zeros, rows, bytes and row lengths, and how near they come to the paper's.

Public matrices, stand-ins of the ones that are not here, and hearts. The counts in them tell how near they come.

No equation: a non-zero counts 20 bytes, for its value, its column and its entry of x.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the matrix's pattern times ones.
"""

from __future__ import annotations

from experiments import counted
from experiments.wong2015 import fidelity
from experiments.wong2015.matrices import NOTE, cases, data, marks, named, stand_in, system
from experiments.wong2015.products import BYTES
from repro import Cell
from repro.show.panels import logarithmic
from repro.show.plots import PAGE, caption, colour, figure, paper_label, style
from repro.show.tables import Column, paper_table, with_ours

MINUTES = {"smoke": 0.1, "small": 0.5, "paper": 1, "large": 3}
COLOUR = colour("cusp-csr")


def cells(scale):
    """Return a cell for each matrix, and one for what a kernel counts in it."""
    return counted.beside(Cell(case, "matrix", data=data(case)) for case in cases(scale, anatomy=True))


def measure(cell, run):
    """Count in the matrix, and check that it is one: sorted columns without duplicates, finite values."""
    matrix = system(run).matrix
    if cell.backend != "host":
        return counted.of_matrix(run, matrix, matrix.nnz)
    lengths = matrix.indptr[1:] - matrix.indptr[:-1]
    run.check(0 if matrix.has_canonical_format else 1, 0, "columns sorted, none twice")
    run.check(abs(int(lengths.sum()) - matrix.nnz), 0, "row lengths by non-zeros")
    for name, value in fidelity.facts(matrix).items():
        run.value(name, value, fidelity.FACTS[name])
    beside = stand_in(run)
    if beside is not None:
        for name, value in fidelity.facts(beside.matrix).items():
            run.value(fidelity.BESIDE + name, value, fidelity.FACTS[name])
    run.value("bytes", BYTES * matrix.nnz, "B")
    run.value("row_length_mean", matrix.nnz / matrix.shape[0], "count")


def tables(results):
    """Return Table 2."""
    columns = [
        Column("nz", "matrix", "nonzeros", "count"), Column("nrows", "matrix", "rows", "count"),
        Column("bytes", "matrix", "bytes", "B"), Column("minrow", "matrix", "row_length_min", "count"),
        Column("maxrow", "matrix", "row_length_max", "count"), Column("nz/nrows", "matrix", "row_length_mean", "count"),
    ]  # fmt: skip
    notes = [
        "Bytes are 20 a non-zero. The paper rounds mean row lengths up. Our minrow is of rows with non-zeros.",
        *marks(results),
        NOTE,
    ]
    names = named(results)
    paper = paper_table(results, "Table 2: the matrices", columns, cases=names, row="Matrix", notes=notes)
    return with_ours([paper, *fidelity.table(results), *counted.tables(results, names)])


def plot(results):
    """Draw non-zeros, and the row lengths from the shortest to the longest with their mean, beside the published.

    Nothing where the host counted no matrix.
    """
    names = {case: name for case, name in named(results).items() if results.value(case, "matrix", "nonzeros")}
    if not names:
        return None
    made, (left, right) = figure(PAGE, 3.6, panels=2)
    with style():
        _draw(left, right, results, names)
    caption(made, results, "; ".join(marks(results)))
    return made


def _draw(left, right, results, names):
    for i, case in enumerate(names):
        ours = {metric: results.value(case, "matrix", metric)
                for metric in ("nonzeros", "row_length_min", "row_length_mean", "row_length_max")}  # fmt: skip
        left.barh(i, 1e-6 * ours["nonzeros"], 0.6, color=COLOUR, edgecolor="black", linewidth=0.4)
        right.hlines(i, ours["row_length_min"], ours["row_length_max"], color=COLOUR, lw=3)
        right.plot(ours["row_length_mean"], i, "|", color="black", ms=8, label="" if i else "mean")
        for axes, metric, factor in ((left, "nonzeros", 1e-6), (right, "row_length_min", 1),
                                     (right, "row_length_max", 1)):  # fmt: skip
            paper = results.published.get(case, "matrix", metric)
            if paper is not None:
                first = axes is left or metric == "row_length_min"
                axes.plot(factor * paper.value, i, "o", mfc="none", mec="black", ls="none", ms=4,
                          label="" if i or not first else paper_label(results.scale))  # fmt: skip
    left.set_xlabel("Non-zeros [million]")
    right.set_xlabel("Row length, shortest to longest")
    logarithmic(right, "x")
    left.set_yticks(range(len(names)), names.values())
    right.set_yticks(range(len(names)), [""] * len(names))
    for axes in (left, right):
        axes.set_ylim(max(1, len(names)) - 0.4, -0.6)
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=2, borderaxespad=0)
