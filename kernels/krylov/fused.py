"""Conjugate gradients whose sums come with the product and with the preconditioner (zhang2013's solver on a GPU).

The kernels of p·Ap and of r·z read again what the product and the preconditioner's last step have just had in
registers: without them an iteration has two launches less, and four vectors less to read. Notes: docs/notes/krylov.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kernels.krylov.conjugate_gradient import ConjugateGradient
from repro import Work


class FusedConjugateGradient(ConjugateGradient):
    """A solver of A x = b for symmetric positive definite A; see `ConjugateGradient`.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : packed matrix
        With ``measure(x, y, partial)``, which leaves the parts of x·y, x·x and y·y, `parts` numbers each, beside
        ``multiply``: kernels.spmv.sbell.
    precondition : callable, optional
        ``precondition(r, z, partial)`` enqueues z = M⁻¹ r, and the parts of r·z.
    parts : int
        Number of parts that the preconditioner leaves.
    rounded : (n,) float32 device array, optional
        Where the preconditioner finds r in single precision.
    graph : bool, optional
        As there.
    """

    def __init__(
        self, device, matrix, precondition: Callable | None = None, parts: int = 0, rounded=None,
        graph: bool | None = None,
    ):  # fmt: skip
        super().__init__(device, matrix.multiply, matrix.shape[0], precondition, graph)
        self._matrix, self._weighed, self._rounded = matrix, parts, rounded
        self._rz = device.zeros(max(2 * self._blocks, parts), np.float64)
        self._curvature = device.zeros(3 * matrix.parts, np.float64)

    def iterate(self, handle: int = 0) -> None:
        kernels, blocks, size = self._kernels, self._blocks, (self.n, self._chunk)
        state, parts = (self._scalars, self._counters), self._matrix.parts
        rz, weighed = self._rr, blocks
        if self.precondition is not None:
            rz, weighed = self._rz, self._weighed
            self.precondition(self._r, self._z, rz)
        kernels.direction(blocks, *size, weighed, rz, self._z, self._p, *state)
        self._matrix.measure(self._p, self._q, self._curvature)
        kernels.advance(blocks, *size, parts, self._curvature, self._p, self._q, self._x, self._r, *state, self._rr,
                        self._rounded)  # fmt: skip
        kernels.check(1, handle, blocks, self._rr, parts, self._curvature, *state, self._history)

    def vector_work(self) -> Work:
        # p: z, p and p; x and r: read and written, and p and Ap. The sums take what is at hand.
        flops = 2 + 2 + 6 + 6 if self.precondition else 2 + 6 + 6
        return Work(bytes=self.dtype.itemsize * 9 * self.n, flops=flops * self.n, precision=self.dtype.name)
