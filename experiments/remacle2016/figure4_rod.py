"""Temperature on the rod after 70 steps, lit and shaded, with the mesh on the right part as in the paper.

The problem is Table 4's. The paper does not say of which order its picture is; ours is of order 2, and the picture is
drawn from a solution made anew where it is drawn.

Equation 1: cu - ∇·(κ∇u) = s, with c = 1/Δt and s = u_old/Δt + Q/(ρ c_p).
Timed: nothing; the heat in the rod must be what the source gave.
"""

from __future__ import annotations

import numpy as np
import pandas

import datasets
from experiments import rendering
from experiments.remacle2016 import products, rod
from repro import Cell
from repro.show.plots import PAGE, caption, figure, style
from repro.show.tables import Table

MINUTES = {"smoke": 0.2, "small": 0.6, "paper": 1}

ORDER, PRECONDITIONER = 2, "jacobi"
BALANCE = 2e-4  # heat against what the source gave, in single precision
VIEW, PIXELS, COLOURS = (-62, 34), 1200, "YlOrRd"
EVEN = 0.6  # share of even light: colours are read off the bar
MESHED = 2.6  # lines of the mesh are drawn from here on to the right
FACTS = {
    "elements": "Elements", "nodes": "Nodes", "hottest": "Highest rise of temperature [K]",
    "mean": "Mean rise of temperature [K]", "behind": "Distance of the hottest node from the source [m]",
    "balance": "Relative error of the heat against what the source gave",
}  # fmt: skip


def cells(scale):
    """Return a cell a back end."""
    return [Cell("rod", "temperature", backend, data=(rod.MESH,)) for backend in ("cuda", "opencl", "openmp")]


def solved(device, mesh):
    """Return the problem after all steps."""
    problem = rod.heat(device, mesh, ORDER, preconditioner=PRECONDITIONER)
    for _ in range(rod.STEPS):
        problem.advance()
    return problem


def measure(cell, run):
    """Record facts of the temperature; refuse one whose heat is not what the source gave."""
    mesh = run.dataset(rod.MESH)
    products.need(run, run.device, mesh, ORDER, overlaps=False)
    problem = solved(run.device, mesh)
    given = rod.supplied(problem, rod.STEPS)
    gap = abs(problem.heat() - given) / given
    run.check(gap, BALANCE, "heat in the rod")
    temperature, places, _ = on_host(problem)
    hottest = int(temperature.argmax())
    found = {
        "elements": len(mesh.cells), "nodes": problem.nodes, "hottest": temperature[hottest],
        "mean": problem.heat() / mesh.facts()["volume"],
        "behind": np.linalg.norm(places[hottest] - rod.centre(problem.time)), "balance": gap,
    }  # fmt: skip
    for fact, value in found.items():
        run.value(fact, float(value), "count" if fact in ("elements", "nodes") else "")


def on_host(problem):
    """Return temperature, places and the local to global numbers as NumPy arrays."""
    to_host, numbering = problem.device.to_host, problem.solver.numbering
    arrays = (problem.temperature, problem.places, problem.device.array(numbering.table))
    temperature, places, table = (np.asarray(to_host(array)) for array in arrays)
    return temperature.astype("float64"), places.reshape(3, -1).T.astype("float64"), table


def tables(results):
    """Return the facts by back end."""
    backends = results.backends("temperature")
    rows = {"Back end": backends}
    for fact, heading in FACTS.items():
        found = [results.value("rod", "temperature", fact, backend) for backend in backends]
        rows[heading] = [int(each) if fact in ("elements", "nodes") and each is not None else each for each in found]
    notes = [
        "The rod is a stand-in for the paper's, which is not public, with as many hexahedra at the paper's scale.",
        f"Order {ORDER}, single precision, t = {rod.STEP * rod.STEPS:.1f} s; source and path are our own.",
    ]
    return [Table("Figure 4: temperature on the rod", pandas.DataFrame(rows, dtype=object), notes)]


def plot(results):
    """Draw the rod's surface coloured by temperature."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    problem = solved(_device(results), datasets.load(rod.MESH, results.scale, results.overrides.get(rod.MESH)))
    image, top = drawn(problem)
    made, panels = figure(PAGE, 3.6)
    with style():
        panels[0].imshow(image)
        panels[0].set_axis_off()
        bar = made.colorbar(
            ScalarMappable(Normalize(0, top), COLOURS), ax=panels[0], orientation="horizontal", shrink=0.5, aspect=40,
            pad=0.02,
        )  # fmt: skip
        bar.set_label(f"Rise of the surface's temperature [K], t = {problem.time:.1f} s")
    caption(made, results, "the rod is a stand-in for the paper's, the source's path our own")
    return made


def _device(results):
    from kernels.device import BACKENDS, Unavailable, open_device

    wanted, missing = results.best_device_backend("temperature"), []
    for backend in dict.fromkeys([wanted or "openmp", "openmp", *BACKENDS]):
        try:
            return open_device(backend)
        except Unavailable as reason:
            missing.append(reason)
    raise missing[0]


def drawn(problem):
    """Return the picture, boundary faces in ORDER² parts, lines along elements on the right; and its highest value."""
    import matplotlib

    temperature, places, table = on_host(problem)
    on_boundary = np.asarray(problem.device.to_host(problem.device.array(problem.solver.numbering.boundary)))
    top, colours = temperature[on_boundary].max(), matplotlib.colormaps[COLOURS]
    surfaces = []
    for flat in (True, False):  # the ends of the layers meet the sides at an edge: normals of their own
        patches = np.concatenate(
            [table[chosen][:, grid] for axis, chosen, grid in _faces(table, on_boundary) if (axis == 2) == flat]
        )
        around = (patches[:, :-1, :-1], patches[:, :-1, 1:], patches[:, 1:, 1:], patches[:, 1:, :-1])
        quads = np.stack(around, axis=-1).reshape(-1, 4)
        faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
        shade = colours(temperature[quads].mean(axis=1) / top)[:, :3]
        lines = _lines(len(patches), places[quads].mean(axis=1)[:, 0] > MESHED)
        normals = rendering.vertex_normals(places, faces)
        surfaces.append(rendering.Surface(places, faces, np.concatenate([shade, shade]), normals, lines))
    return rendering.picture(surfaces, rendering.view(*VIEW), PIXELS, line=0.12, even=EVEN), top


def _faces(table, on_boundary):
    """Yield, for each side of the element, its axis, the elements with it on the boundary, and its nodes, outward."""
    q = ORDER + 1
    local = np.arange(q**3).reshape(q, q, q)  # [k, j, i]
    for axis in range(3):
        for end in (0, ORDER):
            grid = local.take(end, axis=2 - axis)
            # Of what is left of [k, j, i] the second axis by the first points to +axis for ξ and ζ, to -axis for η.
            if (end == 0) == (axis != 1):
                grid = grid.T
            yield axis, on_boundary[table[:, grid[1, 1]]], grid


def _lines(faces, wanted):
    """Return which sides of the triangles lie on an element's edge, (triangles, 3), where lines are wanted."""
    row, column = np.divmod(np.arange(ORDER * ORDER), ORDER)
    first, last = 0, ORDER - 1
    # Corners of a part: (r, c), (r, c + 1), (r + 1, c + 1), (r + 1, c); a triangle's sides are opposite to its corners.
    none = np.zeros_like(row, dtype=bool)
    one = np.stack([column == last, none, row == first], axis=1)
    two = np.stack([row == last, column == first, none], axis=1)
    return np.concatenate([np.tile(one, (faces, 1)), np.tile(two, (faces, 1))]) & np.tile(wanted, 2)[:, None]
