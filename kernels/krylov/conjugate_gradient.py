"""Preconditioned conjugate gradients whose scalars, in double precision, and stopping test stay on the device.

Fu et al. (2014), algorithm 5.1. Under CUDA the whole iteration is a graph that repeats itself until a kernel finds the
residual small enough, so that the host takes no part; elsewhere the host reads one integer an iteration.

On an H200 nearly all warps of direction, curvature and advance wait for their loads: the kernels are so short that the
memory's queues fill and drain as much as they flow. Small systems are bound by launches. Notes: docs/notes/krylov.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kernels.krylov import graph as graphs
from repro import Work

SOURCE = Path(__file__).with_name("conjugate_gradient.c")
STATUSES = ("running", "converged", "iteration limit", "indefinite", "not a number")
ROUNDING = 1e-15  # of a double; eigenvalues whose ratio is less are not told from zero
BLOCK, BLOCKS_PER_UNIT, LEAST_CHUNK = 256, 8, 1024  # on a GPU
SMALLEST_PROCESSOR_CHUNK = 8192
SHAPES = {True: (BLOCK, 1), False: (1, 8)}  # threads a block and lanes on a GPU, and on a processor
BUILDS = [
    (SOURCE, block, {"real": real, "LANES": lanes, "ROUNDING": ROUNDING})
    for block, lanes in SHAPES.values()
    for real in ("double", "float")
]
REAL = {"float64": "double", "float32": "float"}


def build(device, dtype: str = "float64", source: Path = SOURCE) -> tuple:
    """Return what a solver of systems of `dtype` builds, as `Device.build` takes it."""
    block, lanes = SHAPES[device.is_gpu]
    return source, block, {"real": REAL[dtype], "LANES": lanes, "ROUNDING": ROUNDING}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a solve.

    Attributes
    ----------
    status : {'converged', 'iteration limit', 'indefinite', 'not a number'}
        'indefinite' when p·Ap or r·z was not positive, or when A stretches one direction 1e15 times less than another:
        matrix or preconditioner are not positive definite to rounding. Entries whose squares overflow look the same.
        'not a number' when the data or what came of them are not finite.
    iterations : int
    residual : float
        ‖r‖/‖b‖ of the recursive residual; it means nothing with 'not a number'.
    history : (iterations + 1,) array
        The same after 0, 1, 2, ... iterations.
    """

    status: str
    iterations: int
    residual: float
    history: np.ndarray = field(repr=False)

    @property
    def converged(self) -> bool:
        return self.status == "converged"


class ConjugateGradient:
    """A solver of A x = b for symmetric positive definite A, with a symmetric positive definite preconditioner.

    Parameters
    ----------
    device : kernels.device.Device
    multiply : callable
        ``multiply(x, y)`` enqueues y = A x for device arrays of `dtype`, and neither waits nor allocates.
    n : int
        Unknowns.
    precondition : callable, optional
        ``precondition(r, z)`` enqueues z = M⁻¹ r, likewise.
    graph : bool, optional
        Whether CUDA shall repeat the iteration by itself; by default where `graph.missing` finds nothing.
    dtype : {'float64', 'float32'}, optional
        Of the vectors. In single precision rounding in A x keeps the true residual from following the recursive one
        all the way: `true_residual` tells.
    whole : callable, optional
        Result of `kernels.krylov.whole.solver` for the matrix of `multiply`: it does all iterations in one kernel.

    Attributes
    ----------
    loop : {'graph', 'host', 'kernel'}
        Mechanism that repeats the iteration, known after the first solve.
    """

    _source = SOURCE
    _rounded = None  # r in single precision, where a preconditioner takes it so
    _unrolled = 1  # iterations of a graph's body; those after the last change nothing

    def __init__(
        self,
        device,
        multiply: Callable,
        n: int,
        precondition: Callable | None = None,
        graph: bool | None = None,
        dtype: str = "float64",
        whole: Callable | None = None,
    ):
        if n < 1:
            raise ValueError(f"a system of {n} unknowns")
        self.device, self.n, self.multiply, self.precondition = device, int(n), multiply, precondition
        self.dtype = np.dtype(dtype)
        self._kernels = device.build(*build(device, self.dtype.name, self._source))
        self._blocks, self._chunk = _division(device, self.n)
        self._x, self._r, self._p = (device.empty(self.n, self.dtype) for _ in range(3))
        self._q = device.zeros(self.n, self.dtype)
        self._z = self._r if precondition is None else device.zeros(self.n, self.dtype)
        self._rz, self._rr = (device.zeros(2 * self._blocks, np.float64) for _ in range(2))
        self._curvature = device.zeros(3 * self._blocks, np.float64)
        self._scalars = device.zeros(8, np.float64)
        self._counters = device.array(np.array([STATUSES.index("converged"), 0, 0], np.int32))
        self._history = device.zeros(0, np.float64)
        self._graph = device.backend == "cuda" and not graphs.missing() if graph is None else graph
        self._loop: graphs.Loop | None = None
        self._whole, self.loop = whole, "kernel" if whole else ""

    def solve(self, b, x, tolerance: float = 1e-8, max_iterations: int = 10000) -> Outcome:
        """Solve A x = b from x = 0, until ‖r‖ <= tolerance ‖b‖ after an iteration.

        Parameters
        ----------
        b, x : (n,) device arrays of `dtype`
            x is overwritten with the last iterate. Nothing checks their length: shorter ones are read and written
            beyond their end.
        tolerance : float, optional
        max_iterations : int, optional

        Returns
        -------
        Outcome
        """
        self.enqueue(b, x, tolerance, max_iterations)
        return self.outcome()

    def enqueue(self, b, x, tolerance: float = 1e-8, max_iterations: int = 10000) -> None:
        """Enqueue a solve; under a graph the host does not wait, and may do so by `outcome`."""
        self.begin(b, tolerance, max_iterations)
        self.repeat()
        self.finish(x)

    def begin(self, b, tolerance: float = 1e-8, max_iterations: int = 10000) -> None:
        """Enqueue what precedes the first iteration: the first of the three parts of a solve.

        This and `finish` can be captured, once `reserve` has been called; `repeat` cannot.
        """
        if not 0 <= tolerance < np.inf or max_iterations < 0:
            raise ValueError(f"tolerance {tolerance} or max_iterations {max_iterations} is negative or no number")
        self.reserve(max_iterations)
        kernels, blocks = self._kernels, self._blocks
        size, vectors = (self.n, self._chunk), (self._x, self._r, self._p)
        kernels.peak(blocks, *size, b, self._rz)
        kernels.start(blocks, *size, blocks, self._rz, b, *vectors, self._scalars, self._rr, self._rounded)
        kernels.prepare(1, blocks, tolerance, max_iterations, self._rr, self._scalars, self._counters, self._history)

    def repeat(self) -> None:
        """Enqueue iterations until the solve has ended."""
        if self._whole is not None:
            self._whole(self._r, self._x, self._p, self._scalars, self._counters, self._history)
        elif self._loop is not None:
            self._loop()
        else:
            while self.device.to_host(self._counters)[0] == 0:
                self.iterate()

    def finish(self, x) -> None:
        """Enqueue the copy of the last iterate into x."""
        self._kernels.finish(self._blocks, self.n, self._chunk, self._scalars, self._x, x)

    def report(self, first: int, out) -> None:
        """Enqueue ‖b‖, the status's index in `STATUSES` and the iterations into ``out[first : first + 3]``, float64."""
        self._kernels.report(1, first, self._scalars, self._counters, out)

    def outcome(self) -> Outcome:
        """Return how the last solve ended, after it has."""
        status, iterations, _ = (int(value) for value in self.device.to_host(self._counters))
        history = np.array(self.device.to_host(self._history)[: iterations + 1])
        return Outcome(STATUSES[status], iterations, float(history[-1]), history)

    def iterate(self, handle: int = 0) -> None:
        """Enqueue one iteration, which changes nothing once the solve has ended."""
        kernels, blocks, size = self._kernels, self._blocks, (self.n, self._chunk)
        rz = self._rr
        if self.precondition is not None:
            rz = self._rz
            self.precondition(self._r, self._z)
            kernels.product(blocks, *size, self._r, self._z, rz)
        state = self._scalars, self._counters
        kernels.direction(blocks, *size, blocks, rz, self._z, self._p, *state)
        self.multiply(self._p, self._q)
        kernels.curvature(blocks, *size, blocks, self._p, self._q, self._curvature)
        kernels.advance(blocks, *size, blocks, self._curvature, self._p, self._q, self._x, self._r, *state, self._rr,
                        self._rounded)  # fmt: skip
        kernels.check(1, handle, blocks, self._rr, blocks, self._curvature, *state, self._history)

    def true_residual(self, b, x) -> float:
        """Return ‖b - A x‖/‖b‖, computed afresh; 0 when b and the residual are zero.

        Their squares must fit in double precision: ‖b‖ between 1e-150 and 1e150. `solve` needs no such limits.
        """
        return self.residual(b, x, self._q)

    def residual(self, b, x, r) -> float:
        """Write r = b - A x, and return its norm over b's as `true_residual` does; r is another array than b and x."""
        self.multiply(x, r)
        self._kernels.gaps(self._blocks, self.n, self._chunk, self._blocks, b, r, self._rr)
        gap, norm = self.device.to_host(self._rr).reshape(2, -1).sum(axis=1)
        return float(np.sqrt(gap / norm)) if norm > 0 else float(np.sqrt(gap))

    def vector_work(self) -> Work:
        """Return the least bytes and the flops of an iteration's vector operations, without A and M."""
        # r.z: r and z; p: z, p and p; p.Ap: both; x and r: read and written, and p and Ap.
        vectors, flops = (2 + 3 + 2 + 6, 2 + 2 + 6 + 6) if self.precondition else (3 + 2 + 6, 2 + 6 + 6)
        return Work(bytes=self.dtype.itemsize * vectors * self.n, flops=flops * self.n, precision=self.dtype.name)

    def reserve(self, max_iterations: int) -> None:
        """Make room for the history of as many iterations, and record the graph that fills it."""
        if self._history.size <= max_iterations:
            self._history = self.device.zeros(max(max_iterations, 1000) + 1, np.float64)
            self._loop, self.loop = None, "kernel" if self.loop == "kernel" else ""
        if not self.loop:
            self.loop = "host"
            if self._graph:
                self.device.synchronize()
                self._loop, self.loop = graphs.Loop(self._arm, self._body), "graph"

    def _body(self, handle: int) -> None:
        for _ in range(self._unrolled - 1):
            self.iterate()
        self.iterate(handle)

    def _arm(self, handle: int) -> None:
        self._kernels.arm(1, handle, self._counters)


def _division(device, n: int) -> tuple[int, int]:
    """Return the number of blocks and the entries of each."""
    if device.is_gpu:
        unit, most, least = BLOCK, BLOCKS_PER_UNIT * device.compute_units, LEAST_CHUNK
    else:
        unit, most, least = 8, 4 * device.compute_units, SMALLEST_PROCESSOR_CHUNK
    chunk = max(least, -(-n // most))
    chunk = -(-chunk // unit) * unit
    return -(-n // chunk), chunk
