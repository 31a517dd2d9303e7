"""The paper's V-cycle on the host, whatever computes its products: the very steps of ``kernels.multigrid``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """Outcome of a solve; as of ``kernels.multigrid``."""

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


class Vectors:
    """Vectors that a level works on, made once: memory that is touched the first time costs as much as a product."""

    def __init__(self, n: int):
        self.b, self.x, self.spare, self.defect = np.zeros((4, n))

    def swap(self) -> None:
        """Make what was written last the iterate."""
        self.x, self.spare = self.spare, self.x


class Cycle:
    """V-cycles with damped Jacobi, and conjugate gradients with Jacobi on the coarsest level.

    The first step of a cycle uses the defect that its test has computed; below the finest level it is one from zero.
    Subclasses supply `prepare`, `scale`, `update`, `relax`, `find_defect`, `restrict`, `prolong` and `norm`.

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
        self.vectors = [Vectors(grid.matrix.shape[0]) for grid in grids]
        self.prepare()

    def prepare(self) -> None:
        """Bring the matrices into the form that products want."""

    def scale(self, level: int, b, out) -> None:
        """Set out = ω D⁻¹ b."""
        raise NotImplementedError

    def update(self, level: int, x, d, out) -> None:
        """Set out = x + ω D⁻¹ d."""
        raise NotImplementedError

    def relax(self, level: int, x, b, out) -> None:
        """Set out = x + ω D⁻¹ (b - A x)."""
        raise NotImplementedError

    def find_defect(self, level: int, x, b, out) -> None:
        """Set out = b - A x."""
        raise NotImplementedError

    def restrict(self, level: int, d, out) -> None:
        """Set out = Pᵀ d."""
        raise NotImplementedError

    def prolong(self, level: int, c, x) -> None:
        """Add P c to x."""
        raise NotImplementedError

    def norm(self, d) -> float:
        """Return ‖d‖ on this thread: NumPy's own is a library's, which wakes all threads for a long vector."""
        return math.sqrt(np.einsum("i,i->", d, d))

    @property
    def solution(self):
        """The finest level's iterate."""
        return self.vectors[-1].x

    def solve(self, tolerance: float = 1e-8, max_cycles: int = 100) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one."""
        finest = self.vectors[-1]
        finest.x[:], finest.b[:] = self.grids[-1].start, self.grids[-1].rhs
        history = [self._measured()]
        while history[-1] > tolerance * history[0] and len(history) <= max_cycles:
            history.append(self.go_on())
        done = history[-1] <= tolerance * history[0]
        return Outcome("converged" if done else "cycle limit", len(history) - 1, np.array(history))

    def go_on(self, cycles: int = 1) -> float:
        """Take so many cycles more, whatever the defect is, and return its norm after them."""
        top, finest, norm = len(self.grids) - 1, self.vectors[-1], 0.0
        for _ in range(cycles):
            self.update(top, finest.x, finest.defect, finest.spare)
            finest.swap()
            self._descend(top)
            norm = self._measured()
        return norm

    def _measured(self) -> float:
        finest = self.vectors[-1]
        self.find_defect(len(self.grids) - 1, finest.x, finest.b, finest.defect)
        return self.norm(finest.defect)

    def _descend(self, level: int) -> None:
        """Go on after the first step before the coarse correction."""
        own, below = self.vectors[level], self.vectors[level - 1]
        self._relax(level, self.steps - 1)
        self.find_defect(level, own.x, own.b, own.defect)
        self.restrict(level, own.defect, below.b)
        if level == 1:
            below.x[:] = self._coarsest(below.b)
        else:
            self.scale(level - 1, below.b, below.x)
            self._descend(level - 1)
        self.prolong(level, below.x, own.x)
        self._relax(level, self.steps)

    def _relax(self, level: int, steps: int) -> None:
        own = self.vectors[level]
        for _ in range(steps):
            self.relax(level, own.x, own.b, own.spare)
            own.swap()

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
