"""The paper's V-cycle out of SciPy's products and NumPy's vector operations, on one thread."""

from __future__ import annotations

from baselines.multigrid.cycle import Cycle


class SciPyCycle(Cycle):
    """CSR by SciPy; every operation goes through memory."""

    def prepare(self):
        self.restrictors = [None if g.prolongator is None else g.prolongator.T.tocsr() for g in self.grids]

    def relax(self, level, x, b):
        return x + self.damping * self.inverse_diagonals[level] * (b - self.grids[level].matrix @ x)

    def defect(self, level, x, b):
        return b - self.grids[level].matrix @ x

    def restrict(self, level, d):
        return self.restrictors[level] @ d

    def prolong(self, level, c, x):
        return x + self.grids[level].prolongator @ c
