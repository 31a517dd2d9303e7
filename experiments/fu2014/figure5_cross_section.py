"""The Blobs mesh cut open and coloured by region, and the blobs within their box.

Drawn from the mesh itself. The shares of the regions in the volume and in the cut are measured. The paper gives the
share in the volume as about 20 % for the blobs.

No equation: areas and volumes are taken from cut elements and from the surface between the regions.
Timed, in `counted.py`: `run.time("product", lambda: packed.multiply(x, y))`, the mesh's pattern times ones.
"""

from __future__ import annotations

import numpy as np
import pandas

import datasets
from datasets import topology
from experiments import counted, rendering, sections
from experiments import labels as names
from experiments.fu2014 import labels
from repro import Cell
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.1, "small": 0.2, "paper": 2, "large": 10}

NAME = "fu2014/blobs"
OUTSIDE, INSIDE = np.array([0.82, 0.87, 0.93]), np.array([0.93, 0.52, 0.16])
NORMAL, DEPTH = (0.0, -1.0, 0.0), 0.32  # the plane faces the viewer, at this share of the box's depth
VIEW = (-62, 22)  # azimuth and elevation in degrees
PIXELS = 1000
FACTS = {
    "volume": "Volume", "volume_fraction": "Blobs' share of the volume [%]", "cut_area": "Area of the cut",
    "cut_fraction": "Blobs' share of the cut [%]",
}  # fmt: skip


def cells(scale):
    """Return the mesh's cell, and the cells in which a kernel counts its non-zeros."""
    return counted.beside([Cell(case="blobs", method="mesh", data=(NAME,))])


def measure(cell, run):
    """Record volumes and areas; refuse a cut that is not the box's, or blobs of another volume."""
    if cell.backend != "host":
        return counted.of_mesh(run)
    mesh = run.dataset(NAME)
    facts = mesh.facts()
    _, blobs = sections.enclosed(mesh.points, sections.interface(mesh, 1))
    gap = abs(blobs / facts["volume"] - facts["region_shares"]["1"])
    run.check(gap, 1e-10, "volume within the blobs' surface")
    corners, owner, _ = sections.cut(mesh.points, mesh.cells, plane(mesh))
    areas = np.linalg.norm(sections.vector_areas(corners), axis=1)
    # A constant vector's flux through what is left of the box's surface is that through the cut that closes it.
    rest, *_ = sections.behind(mesh.points, topology.boundary_faces(mesh.cells, len(mesh.points)), plane(mesh))
    flux = abs(sections.vector_areas(rest).sum(axis=0) @ NORMAL)
    run.check(abs(areas.sum() - flux) / flux, 1e-5, "area of the cut")
    run.value("volume", facts["volume"])
    run.value("volume_fraction", 100 * blobs / facts["volume"], "%", error=gap)
    run.value("cut_area", areas.sum())
    run.value("cut_fraction", 100 * areas[mesh.regions[owner] == 1].sum() / areas.sum(), "%")


def plane(mesh):
    """Return the height of each point above the plane of the cut."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    return sections.heights(mesh.points, NORMAL, float(np.dot(NORMAL, low + DEPTH * (high - low))))


def tables(results):
    """Return volumes and areas."""
    rows = [{"What": heading, "Ours": results.value("blobs", "mesh", metric)} for metric, heading in FACTS.items()]
    shares = Table(labels(results)["blobs"], pandas.DataFrame(rows), ["The paper gives the blobs as about 20 %."])
    return [shares, *counted.tables(results, labels(results))]


def plot(results):
    """Draw the mesh cut open, and the blobs alone in the box's edges."""
    mesh = datasets.load(NAME, results.scale, results.overrides.get(NAME))
    made, panels = figure(PAGE, 3.6, panels=2)
    title = labels(results)["blobs"]
    with style():
        for axes, image, text in zip(
            panels, (opened(mesh), whole(mesh)), ("cross section", "inner region"), strict=True
        ):
            axes.imshow(image)
            axes.set_axis_off()
            axes.set_anchor("S")
            axes.set_title(f"{title}, {text}", y=-0.06)
    stands_in = names.stands_in(results, NAME)
    caption(made, results, "a stand-in for the paper's geometry, which is not public" if stands_in else "")
    return made


def opened(mesh):
    """Return the picture of what lies behind the plane, the cut coloured by region."""
    height = plane(mesh)
    corners, owner, edges = sections.cut(mesh.points, mesh.cells, height)
    colours = np.where((mesh.regions[owner] == 1)[:, None], INSIDE, OUTSIDE)
    outer = topology.boundary_faces(mesh.cells, len(mesh.points))
    rest, _, sides = sections.behind(mesh.points, outer, height)
    parts = [_loose(corners, colours, edges), _loose(rest, OUTSIDE, sides)]
    return rendering.picture(parts, rendering.view(*VIEW), PIXELS, line=0.1)


def whole(mesh):
    """Return the picture of the blobs' surface in the edges of the box."""
    faces = sections.interface(mesh, 1)
    blobs = rendering.Surface(mesh.points, faces, INSIDE, rendering.vertex_normals(mesh.points, faces))
    ends = np.stack([mesh.points.min(axis=0), mesh.points.max(axis=0)])
    corners = np.array([[ends[i, 0], ends[j, 1], ends[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    pairs = [(a, b) for a in range(8) for b in range(a) if bin(a ^ b).count("1") == 1]
    return rendering.picture([blobs], rendering.view(*VIEW), PIXELS, line=0.3, segments=corners[np.array(pairs)])


def _loose(corners, colours, edges):
    return rendering.Surface(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3), colours, None, edges)
