"""The paper's V-cycle on the host, whatever computes its products."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """How a solve ended; as of ``kernels.multigrid``."""

    status: str
    cycles: int
    history: np.ndarray = field(repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def rate(self) -> float:
        """Mean factor by which a cycle reduced the defect."""
        if not self.cycles or not self.history[0] > 0:
            return 0.0
        return float((self.history[-1] / self.history[0]) ** (1 / self.cycles))


class Cycle:
    """V-cycles with damped Jacobi, and conjugate gradients with Jacobi on the coarsest level.

    Subclasses supply `prepare`, `relax`, `defect`, `restrict` and `prolong`.

    Parameters
    ----------
    grids : sequence of levels
        The coarsest first, with SciPy's ``matrix``, ``prolongator`` and arrays ``rhs``, ``start``.
    steps : int
    damping : float
    coarse_tolerance : float
    """

    def __init__(self, grids, steps: int = 4, damping: float = 0.7, coarse_tolerance: float = 1e-2):
        self.grids, self.steps, self.damping, self.coarse_tolerance = list(grids), steps, damping, coarse_tolerance
        self.inverse_diagonals = [1 / grid.matrix.diagonal() for grid in grids]
        self.prepare()
        self.solution = None

    def prepare(self) -> None:
        """Bring the matrices into the form that products want."""

    def relax(self, level: int, x, b):
        """Return x + ω D⁻¹ (b - A x)."""
        raise NotImplementedError

    def defect(self, level: int, x, b):
        """Return b - A x."""
        raise NotImplementedError

    def restrict(self, level: int, d):
        """Return Pᵀ d."""
        raise NotImplementedError

    def prolong(self, level: int, c, x):
        """Return x + P c."""
        raise NotImplementedError

    def solve(self, tolerance: float = 1e-8, max_cycles: int = 100) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one."""
        top, finest = len(self.grids) - 1, self.grids[-1]
        x, b = finest.start.copy(), finest.rhs
        history = [_norm(self.defect(top, x, b))]
        while history[-1] > tolerance * history[0] and len(history) <= max_cycles:
            x = self._descend(top, x, b)
            history.append(_norm(self.defect(top, x, b)))
        self.solution = x
        done = history[-1] <= tolerance * history[0]
        return Outcome("converged" if done else "cycle limit", len(history) - 1, np.array(history))

    def _descend(self, level: int, x, b):
        if level == 0:
            return self._coarsest(b)
        steps = self.steps
        if x is None:
            x, steps = self.damping * self.inverse_diagonals[level] * b, steps - 1
        for _ in range(steps):
            x = self.relax(level, x, b)
        x = self.prolong(level, self._descend(level - 1, None, self.restrict(level, self.defect(level, x, b))), x)
        for _ in range(self.steps):
            x = self.relax(level, x, b)
        return x

    def _coarsest(self, b):
        matrix, inverse = self.grids[0].matrix, self.inverse_diagonals[0]
        x, r, p, rz_before = np.zeros_like(b), b.copy(), np.zeros_like(b), 0.0
        limit = self.coarse_tolerance * np.linalg.norm(b)
        while np.linalg.norm(r) > limit:
            z = inverse * r
            rz = r @ z
            p = z + (rz / rz_before if rz_before else 0.0) * p
            q = matrix @ p
            alpha = rz / (p @ q)
            x += alpha * p
            r -= alpha * q
            rz_before = rz
        return x


def _norm(d) -> float:
    """Return ‖d‖ on this thread: NumPy's own is a library's, which wakes all threads for a long vector."""
    return math.sqrt(np.einsum("i,i->", d, d))
