"""The paper's problems on its meshes: every level's matrices, in any numbering, where a back end wants them."""

from __future__ import annotations

import dataclasses
import functools
import weakref

import numpy as np

from datasets.geveler2011 import hierarchy, number
from kernels import device as devices
from kernels import multigrid
from repro.keeping import kept

DEGREES = {"q1": 1, "q2": 2}
# Steps and damping of the paper's smoother, and steps of the others (section 4.2); `strong` are polynomials of a degree
# from which on cycles do not depend on the level.
SMOOTHING = {
    "circle": {
        "jacobi": {"steps": 4, "damping": 0.7},
        "chebyshev": {"steps": 4},
        "spai": {"steps": 2},
        "strong": {"steps": 4},
    },
    "blood": {
        "jacobi": {"steps": 64, "damping": 0.5},
        "chebyshev": {"steps": 16},
        "spai": {"steps": 16},
        "strong": {"steps": 24},
    },
}
SMOOTHING["cube"] = SMOOTHING["circle"]
TOLERANCE = 1e-8  # of the defect's norm; the paper does not print its own


class Problem:
    """-Δu = f on a mesh refined to a level, in one element, on the host or on a device.

    Parameters
    ----------
    mesh : datasets.mesh.Mesh
    element : {'q1', 'q2'}
    level : int
    xp, sparse : modules
        NumPy and SciPy's sparse matrices, or CuPy's.
    device : kernels.device.Device, optional
        A processor that refines, assembles and permutes in compiled code.
    """

    def __init__(self, mesh, element: str, level: int, xp, sparse, device=None):
        self.xp, self.degree, self.device = xp, DEGREES[element], device
        edges = device and functools.partial(multigrid.numbered_edges, device)
        found = hierarchy(mesh, level, xp, edges=edges)
        self.spaces = [found.space(i, self.degree) for i in range(1, level + 1)]
        self.grids = multigrid.grids(self.spaces, found.source, found.dirichlet, xp, sparse, True, device)

    @kept()
    def numbered(self, numbering: str) -> list[multigrid.Grid]:
        """Return all levels in a numbering; the last one is kept."""
        orders = [number(numbering, space, level, self.xp) for level, space in enumerate(self.spaces, 1)]
        return multigrid.renumbered(self.grids, orders, self.xp, self.device)


# An unknown, in two and three dimensions, at the peak: every level's matrices, before and after numbering.
BYTES = {"q1": {2: 1300, 3: 4000}, "q2": {2: 2600, 3: 11000}}


def of_run(run, element: str, level: int) -> Problem:
    """Return the problem of a cell, once there is memory for it."""
    mesh = run.dataset(run.cell.data[0])
    need(run, mesh, element, level)
    return problem(mesh, element, level, None if run.cell.backend == "host" else run.device)


def need(run, mesh, element: str, level: int) -> None:
    """Ask for the memory of a hierarchy."""
    dimension = mesh.points.shape[1]
    unknowns = len(mesh.cells) * 2 ** (dimension * (level - 1 + (element == "q2")))
    needed = BYTES[element][dimension] * unknowns
    run.need("the hierarchy", **{"host" if run.cell.backend == "host" else "device": needed})


def problem(mesh, element: str, level: int, device=None) -> Problem:
    """Return a problem; the last one is kept, since cells of a level follow one another."""
    return _problem(mesh, element, level, *set_up_by(device))


def set_up_by(device):
    """Return what sets up for a device, or for the host: modules of arrays and sparse matrices, and a processor."""
    xp, sparse = (np, None) if device is None or device.xp is np else (device.xp, device.sparse)
    return xp, sparse, _processor() if xp is np else None


def _processor():
    """Return the C back end, which sets up for every cell of the processor; None where there is no compiler."""
    try:
        return devices.open_device("openmp")
    except devices.Unavailable:
        return None


@kept(lambda mesh, element, level, xp, sparse, device: (mesh.digest(), mesh.title, element, level, xp.__name__))
def _problem(mesh, element: str, level: int, xp, sparse, device) -> Problem:
    return Problem(mesh, element, level, xp, sparse, device)


def on_host(array):
    """Return an array or a matrix of CuPy as one of NumPy or SciPy; others as they are."""
    return array.get() if hasattr(array, "get") else array


def general(grids, rng):
    """Return the same levels with a random right-hand side, which is 0 on the boundary, and a start of 0."""
    finest, rhs = grids[-1], grids[-1].rhs.copy()
    random = rng.standard_normal(len(rhs)) * (np.diff(on_host(finest.matrix.indptr)) > 1)
    if hasattr(rhs, "set"):
        rhs.set(random)
    else:
        rhs[:] = random
    return [*grids[:-1], dataclasses.replace(finest, rhs=rhs, start=0 * finest.start)]


class _Same:
    """Equal for the same object alone, which may go meanwhile."""

    def __init__(self, thing):
        self.of = weakref.ref(thing)

    def __eq__(self, other):
        return self.of() is not None and self.of() is other.of()


def defect(grid, u) -> float:
    """Return ‖b - A u‖ over its value at the start, by products of SciPy; u is an array of NumPy."""
    rhs, first = _beginning(grid)
    return float(np.linalg.norm(rhs - matrix_on_host(grid) @ u) / first)


@kept(_Same)
def _beginning(grid):
    """Return b and ‖b - A u‖ of the start, on the host: a solution is compared with them before and after timing."""
    rhs, start = on_host(grid.rhs), on_host(grid.start)
    return rhs, np.linalg.norm(rhs - matrix_on_host(grid) @ start)


def matrix_on_host(grid):
    """Return A on the host; the last copy is kept, which takes longer than a product."""
    return _copied(grid.matrix) if hasattr(grid.matrix, "get") else grid.matrix


@kept(_Same)
def _copied(matrix):
    return matrix.get()


__all__ = [
    "SMOOTHING",
    "TOLERANCE",
    "Problem",
    "defect",
    "general",
    "matrix_on_host",
    "of_run",
    "on_host",
    "problem",
    "set_up_by",
]
