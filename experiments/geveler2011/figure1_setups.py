"""The two set-ups: geometry and coarse mesh of CIRCLE and BLOOD, and what the numberings make of a matrix.

The coarse meshes are drawn and counted; every level refines them. The sparsity pictures are of CIRCLE's Q1 matrix on
level 4.

Equation, section 4.2: -Δu = 1 on CIRCLE, -Δu = 0 on BLOOD, with u given on the boundary.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the mesh's pattern times ones.
"""

from __future__ import annotations

import numpy as np

import datasets
from datasets.geveler2011 import hierarchy, number
from experiments import counted
from experiments.geveler2011 import NUMBERINGS, TITLES, label
from kernels import multigrid
from kernels.multigrid import locality
from repro import Cell
from repro.show.plots import PAGE, caption, style
from repro.show.tables import Table, trimmed, with_ours

MINUTES = {"smoke": 0.1, "small": 0.1, "paper": 0.1, "large": 0.1}

MESHES = ("circle", "blood")
PICTURE = 4  # the level whose matrix is shown
FACTS = {"nodes": "Vertices", "elements": "Elements", "boundary_faces": "Boundary edges",
         "angle_min": "Least angle [°]", "angle_max": "Largest angle [°]", "area": "Area"}  # fmt: skip


def cells(scale):
    """Return two cells for each coarse mesh, one of a kernel's count, and one for each numbering that is shown."""
    found = counted.beside(Cell(mesh, "mesh", data=(f"geveler2011/{mesh}",)) for mesh in MESHES)
    return found + [Cell("circle", numbering, data=("geveler2011/circle",)) for numbering in NUMBERINGS]


def measure(cell, run):
    """Record facts of a mesh, or the bandwidth of a numbering, whose matrix must have the rows of the natural one."""
    if cell.backend != "host":
        return counted.of_mesh(run)
    mesh = run.dataset(cell.data[0])
    if cell.method == "mesh":
        facts = mesh.facts()
        for fact in FACTS:
            run.value(fact, facts[fact], "degree" if "angle" in fact else "" if fact == "area" else "count")
        run.check(abs(facts["nonzeros_euler"] - facts["nonzeros_full"]), 0, "non-zeros by Euler's formula")
        return
    matrix = _matrix(mesh, cell.method)
    run.value("bandwidth", locality.bandwidth(matrix), "count")
    run.value("nonzeros", matrix.nnz, "count")


def _matrix(mesh, numbering):
    """Return CIRCLE's matrix on the level that is shown, in a numbering."""
    found = hierarchy(mesh, PICTURE)
    space = found.space(PICTURE, 1)
    made = multigrid.grids([space], found.source, found.dirichlet)
    return multigrid.renumbered(made, [number(numbering, space, PICTURE)])[0].matrix


def tables(results):
    """Return what was counted."""
    import pandas

    rows = []
    for mesh in MESHES:
        values = {heading: results.value(mesh, "mesh", fact) for fact, heading in FACTS.items()}
        counts = ("Vertices", "Elements", "Boundary edges")
        values |= {name: int(values[name]) for name in counts if values[name] is not None}
        rows.append({"Mesh": label(mesh, results), **values})
    found = [{"Numbering": TITLES[n], "Columns": results.value("circle", n, "bandwidth")} for n in NUMBERINGS]
    notes = [f"Of CIRCLE's Q1 matrix on level {PICTURE}."]
    distance = "Largest distance of an entry from the diagonal"
    return with_ours([
        trimmed(Table("Figure 1: coarse meshes", pandas.DataFrame(rows, dtype=object))),
        trimmed(Table(distance, pandas.DataFrame(found, dtype=object), notes)),
        *counted.tables(results, {mesh: label(mesh, results) for mesh in MESHES}),
    ])  # fmt: skip


def plot(results):
    """Draw CIRCLE's geometry, both coarse meshes with a refinement behind them, and the numberings' patterns."""
    from matplotlib.figure import Figure

    with style():
        made = Figure(figsize=(PAGE, 4.3), layout="constrained")
        above, below = made.subfigures(2, 1, height_ratios=(1.45, 1))
        axes = above.subplots(1, 3, width_ratios=(1, 1, 1.75))
        circle, blood = (
            datasets.load(f"geveler2011/{m}", results.scale, results.overrides.get(f"geveler2011/{m}")) for m in MESHES
        )
        _draw_boundary(axes[0], circle, "(a) geometry of CIRCLE")
        _draw_mesh(axes[1], circle, f"(b) {label('circle', results)}, level 1")
        _draw_mesh(axes[2], blood, f"(c) {label('blood', results)}, level 1")
        below.suptitle(f"(d) Q1 of {label('circle', results)}, level {PICTURE}: the matrix by numbering", fontsize=7)
        for axis, numbering in zip(below.subplots(1, len(NUMBERINGS)), NUMBERINGS, strict=True):
            matrix = _matrix(circle, numbering).tocoo()
            axis.plot(matrix.col, matrix.row, ",", color="black", rasterized=True)
            axis.set(xlim=(-0.5, matrix.shape[1] - 0.5), ylim=(matrix.shape[0] - 0.5, -0.5), xticks=[], yticks=[],
                     aspect="equal")  # fmt: skip
            axis.set_title(TITLES[numbering], fontsize=7)
            axis.grid(False)
            axis.spines[:].set_visible(True)
    caption(made, results, "grey: the mesh refined twice")
    return made


def _edges(level):
    """Return the two ends of every element's sides, as lines to draw."""
    corners = level.points[level.cells]
    return [corners[:, [a, b]] for a, b in ((0, 1), (1, 3), (3, 2), (2, 0))]


def _draw_mesh(axis, mesh, title):
    from matplotlib.collections import LineCollection

    levels = hierarchy(mesh, 3).levels
    for level, colour, width in ((levels[2], "#b5b5b5", 0.25), (levels[0], "black", 0.6)):
        for sides in _edges(level):  # thousands of fine ones: as pixels, which make a tenth of the file
            axis.add_collection(LineCollection(list(sides), colors=colour, linewidths=width,
                                               rasterized=level is levels[2]))  # fmt: skip
    _finish(axis, title)


def _closed_curves(level):
    """Return the boundary's closed curves, each as its points: sides drawn one by one show their ends as dots."""
    sides = np.concatenate([level.cells[:, [a, b]] for a, b in ((0, 1), (1, 3), (3, 2), (2, 0))])  # all one way round
    after, curves = dict(sides[level.boundary[sides].all(axis=1)].tolist()), []
    while after:
        curve = [next(iter(after))]
        while curve[-1] in after:
            curve.append(after.pop(curve[-1]))
        curves.append(level.points[curve[:-1]])
    return curves


def _draw_boundary(axis, mesh, title):
    from matplotlib.collections import PolyCollection

    curves = _closed_curves(hierarchy(mesh, 5).levels[-1])
    axis.add_collection(PolyCollection(curves, facecolors="none", edgecolors="black", linewidths=0.9))
    axis.text(0, 0, "Γ2: u = 1", ha="center", va="center", fontsize=7)
    axis.text(0, 0.75, "-Δu = 1", ha="center", va="center", fontsize=7)
    axis.text(0, -0.9, "Γ1: u = 0", ha="center", va="center", fontsize=7)
    _finish(axis, title)


def _finish(axis, title):
    axis.autoscale_view()
    axis.set_aspect("equal")
    axis.set_axis_off()
    axis.set_title(title, fontsize=7)
