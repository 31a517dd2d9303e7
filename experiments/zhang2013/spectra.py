"""A system scaled by its diagonal, and bounds of its spectrum: what solvers of one mesh share."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from experiments.zhang2013.systems import System
from kernels import polynomial, spmv
from repro.keeping import kept


@dataclass(frozen=True)
class Prepared:
    """A system with what is made of it once."""

    system: System

    @property
    @kept()
    def scaled(self) -> polynomial.Scaled:
        """The matrix scaled by its diagonal, on the device."""
        return polynomial.scaled(self.system.device, self.system.matrix)

    def spectrum(self, bound: str = "lanczos") -> polynomial.Bounds:
        """Return bounds of the scaled matrix's spectrum.

        Parameters
        ----------
        bound : {'lanczos', 'row-sum'}
            Both ends by a few Lanczos steps; or above by the largest row sum, below by steps until the smallest
            eigenvalue is found.
        """
        return self._lanczos if bound == "lanczos" else self._row_sum

    @property
    @kept()
    def _lanczos(self) -> polynomial.Bounds:
        packed = spmv.pack("sell", self.system.device, self.scaled.csr)
        return polynomial.bounds(self.system.device, packed.multiply, packed.shape[0], row_sum=self.scaled.row_sum)

    @property
    @kept()
    def _row_sum(self) -> polynomial.Bounds:
        packed = spmv.pack("sell", self.system.device, self.scaled.csr)
        steps = 3 * math.isqrt(packed.shape[0])
        found = polynomial.bounds(self.system.device, packed.multiply, packed.shape[0], steps=steps)
        return replace(found, upper=self.scaled.row_sum)


@kept(id)  # of a system that the one made of it keeps
def prepared(system: System) -> Prepared:
    """Return what is made of a system; the last one is kept."""
    return Prepared(system)
