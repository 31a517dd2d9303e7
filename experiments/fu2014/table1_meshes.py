"""The meshes: nodes, elements, valence, non-zeros and quality.

The five meshes of tetrahedra are made anew, and counted. Non-zeros are counted in the pattern of the matrix and derived
again by Euler's formula from nodes, elements and boundary; the two must agree. Each back end counts them by a product.

Equation 4: A = S + λM has an entry A_ij where some element has both nodes.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the pattern times ones.
"""

from __future__ import annotations

import pandas

from experiments import counted
from experiments.fu2014 import EVERY, cases, chosen, labels
from repro import Cell
from repro.show.panels import groups
from repro.show.plots import PAGE, caption, colour, figure, paper_label, style
from repro.show.tables import Column, Table, paper_table, trimmed

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
    quality = trimmed(Table("Non-zeros and quality", pandas.DataFrame(rows, dtype=object)))
    return cases.told(results, [paper, quality, *counted.tables(results, labels(results))])


def plot(results):
    """Draw non-zeros, as the host or a kernel counts them, and published, and the quality of the elements."""
    names = labels(results)
    nonzeros = {case: _nonzeros(results, case) for case in names}
    angles = {case: results.value(case, "mesh", "dihedral_min") for case in names}
    found = {"Non-zeros [million]": nonzeros, "Least dihedral angle [°]": angles}
    found = {text: values for text, values in found.items() if set(values.values()) - {None}}
    if not found:
        return None
    made, panels = figure(PAGE, 2.6, panels=len(found))
    with style():
        for axes, (text, values) in zip(panels, found.items(), strict=True):
            _draw(axes, results, values, text, with_paper=values is nonzeros and results.scale == "paper")
    caption(made, results)
    return made


def _nonzeros(results, case):
    """Return the non-zeros in millions."""
    found = results.value(case, "mesh", "nonzeros") or results.value(case, "mesh", "counted")
    return found and found / 1e6


def _draw(axes, results, values, text, with_paper):
    """Draw a bar for each mesh, and the paper's non-zeros: other scales have meshes of other sizes."""
    names = labels(results)
    for i, case in enumerate(names):
        if values[case] is not None:
            axes.bar(i, values[case], 0.6, color=colour(case), edgecolor="black", linewidth=0.4)
        paper = results.published.get(case, "mesh", "nonzeros") if with_paper else None
        if paper is not None:
            axes.plot(i, paper.value, "o", mfc="none", mec="black", label="" if i else paper_label(results.scale))
    axes.set_ylabel(text)
    if axes.lines:
        axes.legend(loc="upper left")
    groups(axes, [name.replace(" ", "\n", 1) for name in names.values()])
    axes.tick_params(axis="x", length=0)
