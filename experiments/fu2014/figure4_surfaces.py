"""Surfaces of the Heart and Brain meshes, lit and shaded.

Drawn from the meshes themselves. Published anatomies that are there come before the meshes to be compared with them.
The surface's area is measured, and the volume within it, which must equal the elements' volume.

No equation: the volume is Σ x·n/3 over the surface's triangles, by the divergence theorem.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the mesh's pattern times ones.
"""

from __future__ import annotations

import numpy as np
import pandas

import datasets
from datasets import topology
from experiments import counted, rendering, sections
from experiments import labels as names
from experiments.fu2014 import cases as meshes
from experiments.fu2014 import labels
from repro import Cell
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.1, "small": 0.2, "paper": 2, "large": 10}

MUSCLE, GREY_MATTER = (0.80, 0.36, 0.32), (0.88, 0.72, 0.66)
COLOURS = {"biventricular": MUSCLE, "heart": MUSCLE, "cortex": GREY_MATTER, "brain": GREY_MATTER}
# Azimuth and elevation in degrees.
VIEWS = {"biventricular": (-60, 22), "heart": (-60, 22), "cortex": (-48, 32), "brain": (-48, 32)}
PIXELS = 1000
FACTS = {"boundary_faces": "Boundary faces", "area": "Area", "volume": "Volume within"}
LENGTHS = (
    "Stand-ins are 4 wide, as the paper's cubes are, since it does not say how large its domains are; lengths of "
    "published anatomies are about centimetres."
)


def cells(scale):
    """Return a cell for each mesh, and one for what a kernel counts in it."""
    return counted.beside(Cell(case=mesh, method="surface", data=(f"fu2014/{mesh}",)) for mesh in COLOURS)


def measure(cell, run):
    """Record the surface's size; refuse one that does not enclose the elements' volume."""
    if cell.backend != "host":
        return counted.of_mesh(run)
    mesh = run.dataset(cell.data[0])
    faces = topology.boundary_faces(mesh.cells, len(mesh.points))
    area, volume = sections.enclosed(mesh.points, faces)
    expected = mesh.facts()["volume"]
    gap = abs(volume - expected) / expected
    run.check(gap, 1e-10, "volume within the surface")
    run.value("boundary_faces", len(faces), "count")
    run.value("area", area)
    run.value("volume", volume, error=gap)


def tables(results):
    """Return the sizes of the surfaces."""
    shown = labels(results)
    sized = [case for case in shown if results.value(case, "surface", "area") is not None]
    rows = {"Mesh": [shown[case] for case in sized]}
    for metric, heading in FACTS.items():
        rows[heading] = [results.value(case, "surface", metric) for case in sized]
    sizes = Table("Exterior surfaces", pandas.DataFrame(rows), [LENGTHS])
    return meshes.told(results, [sizes, *counted.tables(results, shown)])


def plot(results):
    """Draw each surface, in the order of the tables; nothing where none was measured."""
    shown = [case for case in COLOURS if results.value(case, "surface", "area") is not None]
    if not shown:
        return None
    made, panels = figure(PAGE, 3.3 if len(shown) < 3 else 2.2, panels=len(shown))
    with style():
        for axes, case in zip(panels, shown, strict=True):
            axes.imshow(drawn(case, results))
            axes.set_axis_off()
            axes.set_anchor("S")
            axes.set_title(labels(results)[case], y=-0.06)
    stands_in = any(names.stands_in(results, f"fu2014/{case}") for case in shown)
    caption(made, results, "stand-ins for the paper's geometries, which are not public" if stands_in else "")
    return made


def drawn(case, results):
    """Return the picture of a mesh's surface."""
    name = f"fu2014/{case}"
    mesh = datasets.load(name, results.scale, results.overrides.get(name))
    faces = topology.boundary_faces(mesh.cells, len(mesh.points))
    surface = rendering.Surface(
        mesh.points, faces, np.array(COLOURS[case]), rendering.vertex_normals(mesh.points, faces)
    )
    return rendering.picture([surface], rendering.view(*VIEWS[case]), PIXELS)
