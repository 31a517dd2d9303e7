"""The matrices: element type, unknowns and non-zeros.

Linear elasticity in the plane and in space, assembled from triangles, quadrilaterals, tetrahedra and hexahedra. Quad
and hex have exactly the published unknowns and non-zeros, by grids of 400 × 400 and 54³ elements.

Equation, section 2.2: K = ∫ Bᵀ D B dΩ, with the strains B of the shape functions and the elasticity D.
Timed: nothing; what is assembled on the host and on the devices is counted and checked.
"""

from __future__ import annotations

from experiments.zhang2013 import DEVICES, LOADS, MESHES, labels
from experiments.zhang2013.systems import system
from repro import Cell
from repro.show.panels import logarithmic
from repro.show.plots import PAGE, caption, colour, figure, paper_label, style
from repro.show.tables import Column, paper_table

ASSEMBLED_BY = ("host", *DEVICES)
MINUTES = {"smoke": 0.1, "small": 0.3, "paper": 3, "large": 10}


def cells(scale):
    """Return a cell for each mesh as every back end assembles it; the host's is by any that is here."""
    return [Cell(mesh, "matrix", backend, data=(f"zhang2013/{mesh}",)) for mesh in MESHES for backend in ASSEMBLED_BY]


def measure(cell, run):
    """Count in the assembled matrix, and check the counts against the mesh and the matrix's symmetry."""
    matrix = system(run).host
    mesh = run.dataset(cell.data[0])
    run.check(abs(matrix.shape[0] - mesh.points.size), 0, "unknowns by nodes")
    size = mesh.points.shape[1]
    run.check(abs(matrix.nnz - size**2 * mesh.facts()["nonzeros_full"]), 0, "non-zeros by the mesh's edges")
    run.check(abs(matrix - matrix.T).max() / abs(matrix).max(), 1e-12, "symmetry")
    lengths = matrix.indptr[1:] - matrix.indptr[:-1]
    run.value("unknowns", matrix.shape[0], "count")
    run.value("nonzeros", matrix.nnz, "count")
    run.value("nonzeros_per_unknown", matrix.nnz / matrix.shape[0])
    run.value("longest_row", lengths.max(), "count")
    run.value("shortest_row", lengths.min(), "count")


def tables(results):
    """Return Table 1."""
    return [
        paper_table(
            results,
            "Table 1: the matrices",
            [
                Column("Unknowns", "matrix", "unknowns", "count"),
                Column("Nonzeros", "matrix", "nonzeros", "count"),
                Column("Nonzeros/unknowns", "matrix", "nonzeros_per_unknown", ""),
                Column("Shortest row", "matrix", "shortest_row", "count"),
                Column("Longest row", "matrix", "longest_row", "count"),
            ],
            cases=labels(results),
            row="Name",
            notes=["Non-zeros are all entries of the pattern; supported unknowns keep their rows.", LOADS],
        )
    ]


def plot(results):
    """Draw unknowns, and non-zeros a row with the shortest and the longest, beside the published."""
    made, axes = figure(PAGE, 2.4, panels=2)
    with style():
        _draw(*axes, results)
    caption(made, results)
    return made


def _draw(left, right, results):
    names = labels(results)
    for i, case in enumerate(names):
        for axes, metric, factor in ((left, "unknowns", 1e-6), (right, "nonzeros_per_unknown", 1)):
            ours, paper = results.value(case, "matrix", metric), results.published.get(case, "matrix", metric)
            if ours is not None:
                if axes is left and results.scale != "paper":  # far from the paper's, which bars would vanish beside
                    axes.plot(i, factor * ours, "s", color=colour(case), mec="black", mew=0.4)
                    axes.set_yscale("log")
                else:
                    axes.bar(i, factor * ours, 0.6, color=colour(case), edgecolor="black", linewidth=0.4)
            if paper is not None:
                axes.plot(i, factor * paper.value, "o", mfc="none", mec="black", ls="none",
                          label="" if i else paper_label(results.scale))  # fmt: skip
        short, long = (results.value(case, "matrix", metric) for metric in ("shortest_row", "longest_row"))
        if short is not None:
            right.vlines(i, short, long, color="black", lw=0.8, label="" if i else "shortest to longest row")
    if left.get_yscale() == "log":
        logarithmic(left, "y")
    left.set_ylabel("Unknowns [million]")
    right.set_ylabel("Non-zeros a row")
    for axes in (left, right):
        axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names.values()])
        axes.tick_params(axis="x", length=0)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1.01), ncols=2, borderaxespad=0)
