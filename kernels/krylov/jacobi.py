"""Conjugate gradients with Jacobi's preconditioner taken into their kernels (wong2015's solver).

Where vectors are short, launches are what an iteration takes: a preconditioner of its own adds two to the five of the
product, the direction, the curvature, the advance and the check, and on an H200 each takes as long whatever it does.
Notes: docs/notes/krylov.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kernels.krylov import conjugate_gradient
from kernels.krylov.conjugate_gradient import ConjugateGradient
from repro import Work

SOURCE = Path(__file__).with_name("jacobi.c")
BUILDS = [(SOURCE, block, defines) for _, block, defines in conjugate_gradient.BUILDS]


class JacobiConjugateGradient(ConjugateGradient):
    """A solver of A x = b for symmetric positive definite A; see `ConjugateGradient`.

    Parameters
    ----------
    device : kernels.device.Device
    multiply : callable
    inverse : (n,) device array of `dtype`
        Of A's diagonal; what it holds when a solve begins counts.
    graph, dtype
        As there.
    """

    _source = SOURCE

    def __init__(self, device, multiply: Callable, inverse, graph: bool | None = None, dtype: str = "float64"):
        super().__init__(device, multiply, int(inverse.size), graph=graph, dtype=dtype)
        self._inverse = inverse

    def begin(self, b, tolerance: float = 1e-8, max_iterations: int = 10000) -> None:
        super().begin(b, tolerance, max_iterations)
        self._kernels.weigh(self._blocks, self.n, self._chunk, self._inverse, self._r, self._rz)

    def iterate(self, handle: int = 0) -> None:
        kernels, blocks, size = self._kernels, self._blocks, (self.n, self._chunk)
        state = self._scalars, self._counters
        kernels.scaled_direction(blocks, *size, blocks, self._rz, self._inverse, self._r, self._p, *state)
        self.multiply(self._p, self._q)
        kernels.curvature(blocks, *size, blocks, self._p, self._q, self._curvature)
        kernels.scaled_advance(blocks, *size, blocks, self._curvature, self._inverse, self._p, self._q, self._x,
                               self._r, *state, self._rr, self._rz)  # fmt: skip
        kernels.check(1, handle, blocks, self._rr, blocks, self._curvature, *state, self._history)

    def vector_work(self) -> Work:
        # p: r, the diagonal, p and p; p.Ap: both; x and r: read and written, p, Ap and the diagonal.
        vectors, flops = 4 + 2 + 7, 3 + 6 + 9
        return Work(bytes=self.dtype.itemsize * vectors * self.n, flops=flops * self.n, precision=self.dtype.name)
