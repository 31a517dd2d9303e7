"""PyAMG's classical algebraic multigrid on the finest matrix alone: what one would run without the mesh's levels."""

from __future__ import annotations

import numpy as np

from baselines.multigrid.cycle import Outcome

LIBRARIES = ("pyamg",)
# By absolute values, as PyAMG has it by itself, the positive entries of stretched elements count as strong.
STRENGTH = ("classical", {"theta": 0.25, "norm": "min"})


class ClassicalAmg:
    """Conjugate gradients with a V-cycle of Ruge and Stüben's, PyAMG's own settings otherwise; it has no threads.

    The unit rows of the boundary are eliminated, so that the matrix is symmetric.

    Parameters
    ----------
    grids : sequence of levels
        Of which the last is used.
    """

    def __init__(self, grids):
        import pyamg

        grid = grids[-1]
        self.free = np.flatnonzero(np.diff(grid.matrix.indptr) > 1)
        matrix = grid.matrix[self.free]
        self.rhs = grid.rhs[self.free] - matrix @ grid.start
        self.start = grid.start
        self.hierarchy = pyamg.ruge_stuben_solver(matrix[:, self.free].tocsr(), strength=STRENGTH)
        self.solution = None

    def solve(self, tolerance: float = 1e-8, max_cycles: int = 100) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one."""
        history: list[float] = []
        x = self.hierarchy.solve(self.rhs, tol=tolerance, maxiter=max_cycles, residuals=history, accel="cg")
        self.solution = self.start.copy()
        self.solution[self.free] += x
        done = history[-1] <= tolerance * history[0]
        return Outcome("converged" if done else "cycle limit", len(history) - 1, np.array(history))
