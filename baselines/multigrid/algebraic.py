"""Algebraic multigrid on the finest matrix alone, by the rivals in solving."""

from __future__ import annotations

import numpy as np

from baselines import solvers
from baselines.multigrid.cycle import Outcome


def interior(grid):
    """Return the system without the unit rows of the boundary, so that it is symmetric.

    Returns
    -------
    matrix, rhs, free : CSR matrix and arrays
        ‖rhs‖ is the norm of the start's defect; `free` are the unknowns that are left.
    """
    free = np.flatnonzero(np.diff(grid.matrix.indptr) > 1)
    rows = grid.matrix[free]
    return rows[:, free].tocsr(), grid.rhs[free] - rows @ grid.start, free


class Algebraic:
    """One of `baselines.solvers` in its call shape; the set-up is not part of a solve.

    Parameters
    ----------
    grids : sequence of levels
        Of which the last is used.
    method : str
        One of `baselines.solvers.METHODS`.
    tolerance : float
    """

    def __init__(self, grids, method: str, tolerance: float = 1e-8, max_cycles: int = 1000):
        matrix, rhs, self.free = interior(grids[-1])
        self.start = grids[-1].start
        self.rival = solvers.prepare(method, matrix, rhs, tolerance, max_cycles)
        self.rival.set_up()
        self.solution = None

    @property
    def seconds(self) -> float | None:
        """Sum of the times that a rival in another process has reported; None where the caller's clock is right."""
        return self.rival.seconds

    def solve(self, tolerance: float) -> Outcome:
        """Solve from the start; `tolerance` is what it was made for."""
        self.rival.solve()
        self.solution = self.start.copy()
        self.solution[self.free] += self.rival.x
        return Outcome("converged", self.rival.iterations, np.array([1.0, self.rival.residual()]))
