"""PyAMG's classical algebraic multigrid on the finest matrix alone."""

from __future__ import annotations

import numpy as np

from baselines.multigrid.algebraic import interior
from baselines.multigrid.cycle import Outcome

LIBRARIES = ("pyamg",)
# By absolute values, as PyAMG has it by itself, the positive entries of stretched elements count as strong.
STRENGTH = ("classical", {"theta": 0.25, "norm": "min"})


class ClassicalAmg:
    """Conjugate gradients with a V-cycle of Ruge and Stüben's, PyAMG's own settings otherwise; it has no threads.

    Parameters
    ----------
    grids : sequence of levels
        Of which the last is used.
    """

    def __init__(self, grids):
        import pyamg

        matrix, self.rhs, self.free = interior(grids[-1])
        self.start = grids[-1].start
        self.hierarchy = pyamg.ruge_stuben_solver(matrix, strength=STRENGTH)
        self.solution = None

    def solve(self, tolerance: float = 1e-8, max_cycles: int = 100) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one."""
        history: list[float] = []
        x = self.hierarchy.solve(self.rhs, tol=tolerance, maxiter=max_cycles, residuals=history, accel="cg")
        self.solution = self.start.copy()
        self.solution[self.free] += x
        done = history[-1] <= tolerance * history[0]
        return Outcome("converged" if done else "cycle limit", len(history) - 1, np.array(history))
