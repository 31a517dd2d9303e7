"""AMGCL's smoothed aggregation with sparse approximate inverses, where `pyamgcl` is installed.

Its settings are its own but for one: it solves directly at 500 rows, as our hierarchies on processors do, and not at
3000. Set-up and solve together then take less on every mesh that was tried, none of them in a table of fu2014's. Notes:
docs/notes/amg.md.
"""

from __future__ import annotations

import importlib

from baselines import AMGCL_REMEDY
from baselines.solvers.rival import Rival, openmp_threads
from repro import Skip

LIBRARIES = ("pyamgcl",)
TITLE = "AMGCL, smoothed aggregation, relaxation by a sparse approximate inverse (SPAI-0), CG, OpenMP"
PRECONDITIONER = {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0", "coarse_enough": 500}


class Amgcl(Rival):
    """AMGCL's hierarchy and conjugate gradients, threaded by OpenMP."""

    def __init__(self, library, *system):
        super().__init__(*system)
        self._library, self.threads = library, openmp_threads()
        self._hierarchy = None

    def set_up(self):
        self._hierarchy = self._library.amg(self.near, PRECONDITIONER)

    def solve(self):
        settings = {"type": "cg", "tol": self.tolerance, "maxiter": self.max_iterations}
        solver = self._library.solver(self._hierarchy, settings)
        self.x = solver(self.matrix, self.rhs)
        self.iterations = int(solver.iters)
        self._ended(solver.error <= self.tolerance, f"AMGCL's residual is {solver.error:.3g}")


def prepare(matrix, rhs, tolerance, max_iterations, near=None):
    """Return the rival for a system; see `Rival` and `baselines.solvers.prepare`."""
    try:
        library = importlib.import_module("pyamgcl")
    except ImportError as missing:
        raise Skip(f"AMGCL is not installed: {missing}", AMGCL_REMEDY) from None
    return Amgcl(library, matrix, rhs, tolerance, max_iterations, near)
