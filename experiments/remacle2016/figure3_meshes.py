"""The three meshes of the cube, lit and shaded, and how distorted their elements are.

The meshes of Table 1, of elements that are cubes, nearly cubes and strongly distorted.

No equation: an element's scaled Jacobian is 1 where its edges stand upright on each other, and 0 where it is flat.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the mesh's pattern times ones.
"""

from __future__ import annotations

import numpy as np
import pandas

import datasets
from datasets import connectivity
from datasets.cells import cell_type
from experiments import counted, rendering
from experiments.remacle2016 import MESHES, label
from repro import Cell
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.1, "small": 0.2, "paper": 0.3}

ELEMENTS = 8  # along an edge: the coarse meshes
FACTS = {"nodes": "Nodes", "elements": "Elements", "scaled_jacobian_min": "Least scaled Jacobian",
         "scaled_jacobian_mean": "Mean scaled Jacobian"}  # fmt: skip
COLOUR, VIEW, PIXELS = (0.62, 0.74, 0.86), (-58, 26), 900


def cells(scale):
    """Return a cell for each mesh, and one for what a kernel counts in it."""
    found = [Cell(case=mesh, method="mesh", data=(f"remacle2016/{mesh}-{ELEMENTS}",)) for mesh in MESHES]
    return counted.beside(found)


def measure(cell, run):
    """Record the facts of a mesh; refuse it when Euler's formula gives other couplings than the elements."""
    if cell.backend != "host":
        return counted.of_mesh(run)
    facts = run.dataset(cell.data[0]).facts()
    run.check(abs(facts["nonzeros_euler"] - facts["nonzeros_full"]), 0, "couplings by Euler's formula")
    for fact in FACTS:
        run.value(fact, facts[fact], "" if "jacobian" in fact else "count")


def tables(results):
    """Return counts and shapes of the meshes."""
    known = [case for case in results.cases if results.value(case, "mesh", "elements") is not None]
    rows = {"Mesh": [label(case, ELEMENTS, results) for case in known]}
    for fact, heading in FACTS.items():
        found = [results.value(case, "mesh", fact) for case in known]
        rows[heading] = [int(v) if v is not None and "jacobian" not in fact else v for v in found]
    notes = ["The paper does not print the distortions: `datasets/remacle2016/_cubes.py` has those that are used here.",
             "Scaled Jacobian: the least of an element's corners; 1 is a box, 0 flat."]  # fmt: skip
    names = {case: label(case, ELEMENTS, results) for case in results.cases}
    return [Table("Figure 3: the three meshes", pandas.DataFrame(rows), notes), *counted.tables(results, names)]


def plot(results):
    """Draw the meshes side by side, in the paper's order."""
    shown = [case for case in MESHES if results.value(case, "mesh", "elements") is not None]
    if not shown:
        return None
    made, panels = figure(PAGE, 2.7, panels=len(shown))
    with style():
        for axes, case in zip(panels, shown, strict=True):
            axes.imshow(drawn(case, results))
            axes.set_axis_off()
            axes.set_title(label(case, ELEMENTS, results), y=-0.08)
    caption(made, results, "distortions of meshes 2 and 3 are our own")
    return made


def drawn(case, results):
    """Return the picture of a mesh's surface: each quadrilateral by itself, as two triangles lit like one patch."""
    name = f"remacle2016/{case}-{ELEMENTS}"
    mesh = datasets.load(name, results.scale, results.overrides.get(name))
    sides = connectivity.boundary_facets(mesh.cells, len(mesh.points), cell_type(mesh.cell_type))
    corners = mesh.points[sides]  # [quadrilateral, corner, coordinate]
    normals = np.cross(np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    own = np.arange(sides.size).reshape(sides.shape)
    faces = np.concatenate([own[:, [0, 1, 2]], own[:, [0, 2, 3]]])
    lines = np.repeat([[True, False, True], [True, True, False]], len(sides), axis=0)  # but the side of the diagonal
    surface = rendering.Surface(
        corners.reshape(-1, 3), faces, np.array(COLOUR), normals=normals.reshape(-1, 3), edges=lines
    )
    return rendering.picture([surface], rendering.view(*VIEW), PIXELS)
