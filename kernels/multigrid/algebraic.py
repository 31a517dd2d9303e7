"""Algebraic multigrid of ``kernels.amg`` on the finest matrix alone, in the call shape of `Multigrid`."""

from __future__ import annotations

import numpy as np

from kernels import amg
from kernels.multigrid.solver import Outcome


class Algebraic:
    """Conjugate gradients with smoothed aggregation; the unit rows of the boundary are eliminated.

    Parameters
    ----------
    device : kernels.device.Device
    grids : sequence of Grid
        Of which the last is used.
    **options
        Of `kernels.amg.Solver`.
    """

    def __init__(self, device, grids, **options):
        xp, grid = device.xp, grids[-1]
        self.device, self._start = device, grid.start
        self._free = xp.nonzero(xp.diff(grid.matrix.indptr) > 1)[0]
        rows = grid.matrix[self._free]
        self._rhs = grid.rhs[self._free] - rows @ grid.start
        self._solver = amg.Solver(device, rows[:, self._free].tocsr(), **options)
        self._x = None

    def solve(self, tolerance: float = 1e-8, max_iterations: int = 1000) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one."""
        self._x, found = self._solver.solve(self._rhs, tolerance, max_iterations, verify=False)
        return Outcome(found.status, found.iterations, np.array([1.0, found.residual]))

    @property
    def solution(self):
        """The solution of the last solve, an array of the device."""
        made = self._start.copy()
        made[self._free] += self._x
        return self.device.array(made)
