"""A system scaled by its diagonal, and bounds of its spectrum: what solvers of one mesh share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property

from experiments.zhang2013.systems import System
from kernels import polynomial, spmv


@dataclass(frozen=True)
class Prepared:
    """A system with what is made of it once."""

    system: System
    _spectra: dict[str, polynomial.Bounds] = field(default_factory=dict)

    @cached_property
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
        if bound not in self._spectra:
            device, scaled = self.system.device, self.scaled
            packed = spmv.pack("sell", device, scaled.csr)
            n = packed.shape[0]
            if bound == "lanczos":
                found = polynomial.bounds(device, packed.multiply, n, row_sum=scaled.row_sum)
            else:
                found = polynomial.bounds(device, packed.multiply, n, steps=3 * math.isqrt(n))
                found = replace(found, upper=scaled.row_sum)
            self._spectra[bound] = found
        return self._spectra[bound]


_kept: list[Prepared] = []


def prepared(system: System) -> Prepared:
    """Return what is made of a system; the last one is kept."""
    if not (_kept and _kept[0].system is system):
        _kept[:] = [Prepared(system)]
    return _kept[0]
