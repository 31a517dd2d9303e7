"""The meshes: nodes, elements, valence, non-zeros and quality.

Non-zeros are counted in the pattern and derived again by Euler's formula from nodes, elements and boundary; the two
must agree.
"""

from __future__ import annotations

import pandas

from experiments import counted
from experiments.fu2014 import EVERY, chosen, labels
from repro import Cell
from repro.show.plots import PAGE, caption, colour, figure, paper_label, style
from repro.show.tables import Column, Table, paper_table

MINUTES = {"smoke": 0.1, "small": 0.3, "paper": 3, "large": 10}

FACTS = {
    "nodes": "nodes", "elements": "elements", "valence_min": "valence_min", "valence_max": "valence_max",
    "nonzeros": "nonzeros_full", "nonzeros_upper": "nonzeros_upper", "nonzeros_euler": "nonzeros_euler",
    "boundary_faces": "boundary_faces", "dihedral_min": "dihedral_min", "radius_ratio_mean": "radius_ratio_mean",
}  # fmt: skip
UNITS = {"dihedral_min": "degree", "radius_ratio_mean": ""}


def cells(scale):
    """Return a cell for each mesh, and one for what a kernel counts in it."""
    return counted.beside(Cell(case=mesh, method="mesh", data=(f"fu2014/{mesh}",)) for mesh in EVERY)


def measure(cell, run):
    """Record the facts of a mesh; refuse it when Euler's formula gives other non-zeros than the pattern."""
    if cell.backend != "host":
        return counted.of_mesh(run)
    facts = run.dataset(cell.data[0]).facts()
    gap = abs(facts["nonzeros_euler"] - facts["nonzeros_full"]) / facts["nonzeros_full"]
    run.check(gap, 0, "non-zeros by Euler's formula")
    for metric, fact in FACTS.items():
        run.value(metric, facts[fact], UNITS.get(metric, "count"), error=gap if metric == "nonzeros_euler" else None)


def tables(results):
    """Return Table 1, and what a solver would want to know of the meshes besides."""
    paper = paper_table(
        results,
        "Table 1: the meshes",
        [
            Column("Nodes", "mesh", "nodes", "count"),
            Column("Elements", "mesh", "elements", "count"),
            Column("Min valence", "mesh", "valence_min", "count"),
            Column("Max valence", "mesh", "valence_max", "count"),
            Column("Non-zeros", "mesh", "nonzeros", "million"),
        ],
        cases=labels(results),
        notes=["Non-zeros are those of the whole matrix: nodes + 2 edges.", *chosen(results)],
    )
    more = {
        "By Euler": "nonzeros_euler", "Upper half": "nonzeros_upper", "Boundary faces": "boundary_faces",
        "Least dihedral angle [°]": "dihedral_min", "Mean radius ratio": "radius_ratio_mean",
    }  # fmt: skip
    rows = {"Mesh": list(labels(results).values())}
    for heading, metric in more.items():
        values = [results.value(case, "mesh", metric) for case in labels(results)]
        rows[heading] = [int(value) if value is not None and metric not in UNITS else value for value in values]
    quality = Table("Non-zeros and quality", pandas.DataFrame(rows))
    return [paper, quality, *counted.tables(results, labels(results))]


def plot(results):
    """Draw non-zeros, measured and published, and the quality of the elements."""
    made, axes = figure(PAGE, panels=2)
    with style():
        _draw(*axes, results)
    caption(made, results)
    return made


def _draw(left, right, results):
    names = labels(results)
    for i, case in enumerate(names):
        ours, paper = results.value(case, "mesh", "nonzeros"), results.published.get(case, "mesh", "nonzeros")
        if ours is not None:
            left.bar(i, ours / 1e6, 0.6, color=colour(case), edgecolor="black", linewidth=0.4)
            right.bar(i, results.value(case, "mesh", "dihedral_min"), 0.6, color=colour(case), edgecolor="black",
                      linewidth=0.4)  # fmt: skip
        if paper is not None and results.scale == "paper":  # other scales have meshes of other sizes
            left.plot(i, paper.value, "o", mfc="white", mec="black", label="" if i else paper_label(results.scale))
    left.set_ylabel("Non-zeros [million]")
    right.set_ylabel("Least dihedral angle [°]")
    if left.lines:
        left.legend(loc="upper left")
    for axes in (left, right):
        axes.set_xticks(range(len(names)), [name.replace(" ", "\n", 1) for name in names.values()])
        axes.tick_params(axis="x", length=0)
