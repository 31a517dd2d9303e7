"""The paper's V-cycle out of SciPy's products and NumPy's vector operations, on one thread."""

from __future__ import annotations

import numpy as np

from baselines.multigrid.cycle import Cycle


class SciPyCycle(Cycle):
    """CSR by SciPy; every operation goes through memory."""

    def prepare(self):
        self.restrictors = [None if g.prolongator is None else g.prolongator.T.tocsr() for g in self.grids]

    def scale(self, level, b, out):
        np.multiply(self.damping * self.inverse_diagonals[level], b, out=out)

    def update(self, level, x, d, out):
        self.scale(level, d, out)
        out += x

    def relax(self, level, x, b, out):
        self.update(level, x, b - self.grids[level].matrix @ x, out)

    def find_defect(self, level, x, b, out):
        np.subtract(b, self.grids[level].matrix @ x, out=out)

    def restrict(self, level, d, out):
        out[:] = self.restrictors[level] @ d

    def prolong(self, level, c, x):
        x += self.grids[level].prolongator @ c
