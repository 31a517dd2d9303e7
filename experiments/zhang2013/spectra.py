"""A system scaled by its diagonal, and bounds of its spectrum: what solvers of one mesh share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from baselines.polynomial_cg import loops
from experiments.zhang2013.systems import System
from kernels import polynomial, spmv
from kernels.polynomial.lanczos import STEPS
from repro.keeping import kept

MANY_STEPS = 100
MOST_ITERATIONS = 50_000


@dataclass(frozen=True)
class Prepared:
    """A system with what is made of it once."""

    system: System

    @property
    @kept()
    def scaled(self) -> polynomial.Scaled:
        """The matrix scaled by its diagonal, on the device."""
        return polynomial.scaled(self.system.device, self.system.matrix)

    def spectrum(self, bound: str = "lanczos", steps: int = STEPS) -> polynomial.Bounds:
        """Return bounds of the scaled matrix's spectrum.

        Parameters
        ----------
        bound : {'safeguard', 'lanczos', 'row-sum'}
            The paper's: above the largest Ritz value of a few Lanczos steps and the length of their remainder, as its
            reference 26 has it. Both ends by the steps' residuals, which is tight. Or above by the largest row sum, as
            Gershgorin has it, and below by steps until the smallest eigenvalue is found.
        steps : int
            Of Lanczos; the last kind takes its own.
        """
        if bound == "row-sum":
            return self._row_sum
        found = self._lanczos(steps)
        return found.safeguarded if bound == "safeguard" else found

    @kept()
    def _lanczos(self, steps: int) -> polynomial.Bounds:
        return self._bounds(steps, row_sum=self.scaled.row_sum)

    @property
    @kept()
    def _row_sum(self) -> polynomial.Bounds:
        found = self._bounds(3 * math.isqrt(self.scaled.csr.shape[0]))
        return replace(found, upper=self.scaled.row_sum)

    @property
    @kept()
    def largest(self) -> float:
        """The largest eigenvalue, by as many steps as it takes to five digits."""
        return self._bounds(MANY_STEPS).largest_ritz

    @kept()
    def whole(self, name: str | None, order: int, spectrum: polynomial.Bounds | None, tolerance: float) -> tuple:
        """Return compiled loops on all threads, how their solve ended, and x; fewer threads are held to the loops."""
        solver = loops.Solver(self.system.host, polynomial.fitted(name, order, spectrum) if name else None)
        solver.load(self.system.host_rhs)
        return solver, solver.run(tolerance, MOST_ITERATIONS), solver.solution()

    def _bounds(self, steps: int, **options) -> polynomial.Bounds:
        packed = spmv.pack("sell", self.system.device, self.scaled.csr)
        return polynomial.bounds(self.system.device, packed.multiply, packed.shape[0], steps=steps, **options)


@kept(id)  # of a system that the one made of it keeps
def prepared(system: System) -> Prepared:
    """Return what is made of a system; the last one is kept."""
    return Prepared(system)
