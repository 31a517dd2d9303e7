"""The solver alone on the device, for an assembly on the host: values go over, the correction comes back."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

from kernels import spmv
from kernels.krylov.jacobi import JacobiConjugateGradient
from kernels.monodomain.heart import BLOCK, PROCESSOR_BLOCK, SOURCE, defines
from kernels.monodomain.places import packed_places


class Hybrid:
    """Jacobi-preconditioned conjugate gradients on a device, for matrices of a pattern that come from the host.

    Parameters
    ----------
    device : kernels.device.Device
    format : str, optional
        One of kernels.spmv.FORMATS.
    pack : callable, optional
        Takes the place of `format`; see `kernels.monodomain.Heart`.
    """

    def __init__(self, device, *, format: str = "sell", pack: Callable | None = None):
        self.device = device
        self._pack = pack or (lambda csr: spmv.pack(format, device, csr))
        self._block = BLOCK if device.is_gpu else PROCESSOR_BLOCK
        self._kernels = device.build(SOURCE, block=self._block, defines=defines("float64"))

    def __call__(self, row_offsets: np.ndarray, columns: np.ndarray) -> Callable:
        """Set up for a pattern of int32 row offsets and columns, and return what solves systems of it.

        Returns
        -------
        callable
            From values, right-hand side, tolerance and most iterations to solution and iterations, -1 when they were
            not enough.
        """
        device, xp, n, count = self.device, self.device.xp, len(row_offsets) - 1, columns.size
        pattern = SimpleNamespace(
            nodes=n, nonzeros=count, row_offsets=xp.asarray(row_offsets), column_indices=xp.asarray(columns)
        )
        matrix, places = packed_places(self._pack, pattern, device)
        diagonal = device.array(places[np.flatnonzero(columns == np.repeat(np.arange(n), np.diff(row_offsets)))])
        places, inverse, x = device.array(places), device.zeros(n, np.float64), device.zeros(n, np.float64)
        kernels, packed = self._kernels, matrix.arrays["values"]
        rows, entries = (-(-size // self._block) for size in (n, count))
        solver = JacobiConjugateGradient(device, matrix.multiply, inverse)

        def solve(values, rhs, tolerance, most):
            kernels.refill(entries, count, places, device.array(values), packed)
            kernels.invert(rows, n, diagonal, packed, inverse)
            outcome = solver.solve(device.array(rhs), x, tolerance, most)
            return np.array(device.to_host(x)), outcome.iterations if outcome.converged else -1

        return solve
