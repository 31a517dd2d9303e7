"""Conjugate gradients with Jacobi's preconditioner taken into their kernels (wong2015's solver).

Where vectors are short, launches are what an iteration takes: a preconditioner of its own adds two to the five of the
product, the direction, the curvature, the advance and the check, and on an H200 each takes as long whatever it does.
There a cluster of blocks does all but the product in one. Notes: docs/notes/krylov.md.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kernels.krylov import conjugate_gradient, whole
from kernels.krylov.conjugate_gradient import ConjugateGradient
from repro import Work

SOURCE, REST = Path(__file__).with_name("jacobi.c"), Path(__file__).with_name("rest.c")
CLUSTER, CLUSTER_BLOCK = 8, 512  # blocks that CUDA launches together, and their threads
ENTRIES = 16  # of each vector, at most, that a thread has in registers
MOST = CLUSTER * CLUSTER_BLOCK * ENTRIES
UNROLLED, FEW = 4, 200_000  # iterations between two decisions to go on, which take microseconds, and of what systems
FIRST_CLUSTERS = 90  # the compute capability, times ten, that has clusters
BUILDS = [(SOURCE, block, defines) for _, block, defines in conjugate_gradient.BUILDS]
BUILDS += [(REST, block, {**defines, "CLUSTER": CLUSTER, "ENTRIES": ENTRIES}) for block, (_, _, defines) in
           zip((CLUSTER_BLOCK, CLUSTER_BLOCK, 32, 32), conjugate_gradient.BUILDS, strict=True)]  # fmt: skip


def has_clusters(device) -> bool:
    """Return whether blocks of a device can read and write one another's shared memory."""
    return device.backend == "cuda" and int(device.details["compute capability"]) >= FIRST_CLUSTERS


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
    together : bool, optional
        Whether one kernel does all of an iteration but the product: by default on GPUs with clusters of blocks, for up
        to `MOST` unknowns.
    matrix : packed matrix, optional
        The matrix of `multiply`; where `whole.solver` takes it, one kernel does all iterations.
    """

    _source = SOURCE

    def __init__(
        self, device, multiply: Callable, inverse, graph: bool | None = None, dtype: str = "float64",
        together: bool | None = None, matrix=None,
    ):  # fmt: skip
        at_once = whole.solver(device, matrix, inverse) if together is None else None
        super().__init__(device, multiply, int(inverse.size), graph=graph, dtype=dtype, whole=at_once)
        self._inverse, self._unrolled = inverse, UNROLLED if self.n <= FEW else 1
        if at_once:
            self.together = False
            return
        self.together = self.n <= MOST and has_clusters(device) if together is None else together
        if self.together:
            block, (_, _, defines) = CLUSTER_BLOCK if device.is_gpu else 32, conjugate_gradient.build(device, dtype)
            entries = 1 << max(0, (-(-self.n // (CLUSTER * CLUSTER_BLOCK)) - 1).bit_length())
            self._rest = device.build(REST, block, {**defines, "CLUSTER": CLUSTER, "ENTRIES": entries}).rest

    def begin(self, b, tolerance: float = 1e-8, max_iterations: int = 10000) -> None:
        super().begin(b, tolerance, max_iterations)
        if self._whole:
            return
        self._kernels.weigh(self._blocks, self.n, self._chunk, self._inverse, self._r, self._rz)
        if self.together:
            self._direct()

    def _direct(self):
        blocks, state = self._blocks, (self._scalars, self._counters)
        self._kernels.scaled_direction(blocks, self.n, self._chunk, blocks, self._rz, self._inverse, self._r, self._p,
                                       *state)  # fmt: skip

    def iterate(self, handle: int = 0) -> None:
        kernels, blocks, size = self._kernels, self._blocks, (self.n, self._chunk)
        state = self._scalars, self._counters
        if self.together:
            self.multiply(self._p, self._q)
            self._rest(CLUSTER if self.device.backend == "cuda" else 1, handle, self.n, self._inverse, self._p, self._q,
                       self._x, self._r, *state, self._history)  # fmt: skip
            return
        self._direct()
        self.multiply(self._p, self._q)
        kernels.curvature(blocks, *size, blocks, self._p, self._q, self._curvature)
        kernels.scaled_advance(blocks, *size, blocks, self._curvature, self._inverse, self._p, self._q, self._x,
                               self._r, *state, self._rr, self._rz)  # fmt: skip
        kernels.check(1, handle, blocks, self._rr, blocks, self._curvature, *state, self._history)

    def vector_work(self) -> Work:
        """As `ConjugateGradient.vector_work`, of separate kernels; the one that does all at once moves less."""
        # p: r, the diagonal, p and p; p.Ap: both; x and r: read and written, p, Ap and the diagonal.
        vectors, flops = 4 + 2 + 7, 3 + 6 + 9
        return Work(bytes=self.dtype.itemsize * vectors * self.n, flops=flops * self.n, precision=self.dtype.name)
