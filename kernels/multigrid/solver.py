"""The V-cycle over all levels, and its repetition until the defect is small (geveler2011, sections 2.1 and 4.2).

On an H200 the finest level's kernels wait for their loads. On small levels the time of a kernel does not depend on
its bytes, and a cycle has about a hundred: launches bind there. Notes, with what was tried: docs/notes/multigrid.md.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from kernels import spmv
from kernels.krylov import graph as graphs
from kernels.multigrid.direct import DirectTransfer
from kernels.multigrid.level import CoarsestSolver, Level
from kernels.multigrid.operators import Vectors
from kernels.multigrid.small import SmallLevels
from kernels.multigrid.smoothers import SMOOTHERS
from kernels.multigrid.tiles import Tiles, Unsuitable
from repro import Work

STATUSES = ("running", "converged", "cycle limit", "not a number")
WIDER = {"sell16": "sell"}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a solve.

    Attributes
    ----------
    status : {'converged', 'cycle limit', 'not a number'}
    cycles : int
    history : (cycles + 1,) array
        Norms of the defect before and after each cycle.
    """

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


class Multigrid:
    """A V-cycle whose every part is a product with a sparse matrix or a vector operation.

    Parameters
    ----------
    device : kernels.device.Device
    grids : sequence of Grid
        The coarsest first; in any numbering.
    format : str, optional
        One of kernels.spmv.FORMATS, for all matrices; those whose columns 16 bits cannot tell apart are in 32.
    smoother : {'jacobi', 'chebyshev', 'spai'}, optional
    steps : int, optional
        Before and after each coarse correction; at least one.
    coarse_tolerance : float, optional
        Of the conjugate gradients on the coarsest level: two digits.
    transfer : {'matrix', 'direct'}, optional
        'direct' wants `grids` made with ``with_direct``.
    pack : callable, optional
        Takes the place of `format`: from a CSR matrix to what multiplies by it, as a rival's.
    fuse : bool, optional
        Whether products are fused with the vector operations around them, in the formats that have such kernels.
    precision : {'float64', 'mixed'}, optional
        'mixed' computes corrections in single precision, and the defect and the solution in double (section 1 of the
        paper refers to the authors' own work on it).
    small : int, optional
        Unknowns of the largest level that is done in one launch with all below it, by smoothers of steps with D⁻¹.
    tiled : int, optional
        Unknowns of the largest level that is smoothed by tiles, likewise.
    graph : bool, optional
        Whether CUDA shall repeat cycles by itself; by default where it can.
    **options
        The smoother's, as ``damping``.
    """

    def __init__(
        self, device, grids, *, format: str = "ellpack_r", smoother: str = "jacobi", steps: int = 4,
        coarse_tolerance: float = 1e-2, transfer: str = "matrix", pack: Callable | None = None, fuse: bool = True,
        precision: str = "float64", small: int = 0, tiled: int = 0, graph: bool | None = None, **options,
    ):  # fmt: skip
        if smoother not in SMOOTHERS:
            raise ValueError(f"smoother {smoother!r} is none of {', '.join(SMOOTHERS)}")
        if transfer not in ("matrix", "direct"):
            raise ValueError(f"transfer is by 'matrix' or 'direct', not {transfer!r}")
        if precision not in ("float64", "mixed") or (precision == "mixed" and (pack or transfer == "direct")):
            raise ValueError(f"precision {precision!r} is none of float64 and mixed, or mixed with others' products")
        if len(grids) < 2 or steps < 1:
            raise ValueError(f"{len(grids)} levels and {steps} steps: multigrid takes two levels and a step")
        self.device, self.steps = device, steps
        is_mixed = precision == "mixed"
        dtype = "float32" if is_mixed else "float64"
        pack = pack or (lambda csr: _packed(format, device, csr, dtype))
        self.levels = [Level(device, grid, pack, fuse, dtype) for grid in grids]
        self.outer = self.levels[-1]  # where the defect of the problem is computed
        if is_mixed:
            self.outer = Level(device, grids[-1], lambda csr: _packed(format, device, csr), fuse, rounded=dtype)
        self.smoothers = [None] + [
            SMOOTHERS[smoother](level, grid, device.xp, **options)
            for level, grid in zip(self.levels[1:], grids[1:], strict=True)
        ]
        self.prolongators, self.restrictors = [None], [None]
        for grid, below in zip(grids[1:], self.levels[:-1], strict=True):
            if transfer == "matrix":
                made = pack(grid.prolongator), pack(grid.prolongator.T.tocsr())
            else:
                made = (DirectTransfer(device, grid.direct, below.n, restricts) for restricts in (False, True))
            for kept, each in zip((self.prolongators, self.restrictors), made, strict=True):
                kept.append(each)
        self.coarsest = CoarsestSolver(device, self.levels[0], grids[0], coarse_tolerance)
        self._small, self._small_index = self._small_levels(grids, small, coarse_tolerance)
        self._tiles = self._tiled_levels(grids, tiled)
        finest = self.outer
        self._rhs, self._start = device.array(grids[-1].rhs), device.array(grids[-1].start)
        self._vectors = Vectors(device)
        self._low = Vectors(device, "float32") if is_mixed else None
        self._measured = self.levels[-1].b if is_mixed else finest.defect  # of x, as the cycle takes it
        self._partial = device.zeros(finest.operator.parts, np.float64)
        self._counters, self._history = device.zeros(3, np.int32), device.zeros(0, np.float64)
        self._graph = device.backend == "cuda" and not graphs.missing() if graph is None else graph
        self._loop: graphs.Loop | None = None

    def _small_levels(self, grids, small, tolerance):
        """Return what does all small levels at once, and the largest of them; nothing where fewer than two are."""
        index = max((i for i, level in enumerate(self.levels[:-1]) if level.n <= small), default=0)
        if index == 0 or not hasattr(self.smoothers[1], "coefficients"):
            return None, -1
        coefficients = [self.smoothers[max(1, i)].coefficients(self.steps) for i in range(index + 1)]
        made = SmallLevels(self.device, self.levels[: index + 1], grids[: index + 1], coefficients, tolerance)
        return made, index

    def _tiled_levels(self, grids, most):
        """Return what smooths each level by tiles; nothing of levels that are too large, or whose halos are."""
        made = {}
        for index in range(max(1, self._small_index + 1), len(self.levels)):
            level, smoother = self.levels[index], self.smoothers[index]
            if level.n <= most and hasattr(smoother, "coefficients"):
                with suppress(Unsuitable):
                    made[index] = Tiles(self.device, level, self.levels[index - 1], grids[index],
                                        smoother.coefficients(self.steps))  # fmt: skip
        return made

    def cycle(self) -> None:
        """Enqueue a V-cycle on the finest level's `x`, whose defect must have been measured."""
        finest = self.levels[-1]
        if self._low is not None:
            self._descend(len(self.levels) - 1, from_zero=True)
            self._low.launch("correct", finest.n, finest.x, self.outer.x)
            return
        finest.reset()
        target = finest.x
        self._descend(len(self.levels) - 1, from_zero=False)
        if finest.x is not target:
            self._vectors.launch("copy", finest.n, finest.x, target)
            finest.reset()

    def _descend(self, index: int, from_zero: bool) -> None:
        level = self.levels[index]
        if index == self._small_index:
            level.reset()
            self._small.enqueue()
            return
        if index == 0:
            level.reset()
            self.coarsest.enqueue()
            return
        if index in self._tiles:
            self._tiles[index].descend(from_zero)
            self._descend(index - 1, from_zero=True)
            self._tiles[index].ascend()
            return
        if from_zero:
            level.reset()
        self.smoothers[index].apply(self.steps, from_zero, known=not from_zero)
        below = self.levels[index - 1]
        level.operator.defect(level.x, level.b, level.defect)
        self.restrictors[index].multiply(level.defect, below.b, 1.0, 0.0)
        self._descend(index - 1, from_zero=True)
        self.prolongators[index].multiply(below.x, level.x, 1.0, 1.0)
        self.smoothers[index].apply(self.steps)

    def enqueue(self, tolerance: float = 1e-8, max_cycles: int = 100) -> None:
        """Enqueue a solve of the grids' problem from its start; under a graph the host does not wait."""
        finest = self.outer
        if self._history.size <= max_cycles:
            self._history, self._loop = self.device.zeros(max_cycles + 1, np.float64), None
        finest.reset()
        self._vectors.launch("copy", finest.n, self._rhs, finest.b)
        self._vectors.launch("copy", finest.n, self._start, finest.x)
        self._measure(0, True, tolerance, max_cycles)
        if self._graph and self._loop is None:
            self.device.synchronize()
            self._loop = graphs.Loop(self._arm, lambda handle: self._body(handle, tolerance, max_cycles))
            self._looped = tolerance, max_cycles
            self.enqueue(tolerance, max_cycles)  # recording has run a cycle
        elif self._graph and self._looped == (tolerance, max_cycles):
            self._loop()
        else:
            while self.device.to_host(self._counters)[0] == 0:
                self._body(0, tolerance, max_cycles)

    def solve(self, tolerance: float = 1e-8, max_cycles: int = 100) -> Outcome:
        """Solve from the start until the defect's norm is `tolerance` times the first one; `solution` has u.

        A start that is the solution runs into `max_cycles`, since its first defect is rounding alone. The defect's
        square must neither overflow nor underflow; with 'mixed' single precision must hold the defect itself.
        """
        self.enqueue(tolerance, max_cycles)
        return self.outcome()

    def outcome(self) -> Outcome:
        """Return how the last solve ended, after it has."""
        status, cycles, _ = (int(value) for value in self.device.to_host(self._counters))
        return Outcome(STATUSES[status], cycles, np.array(self.device.to_host(self._history)[: cycles + 1]))

    @property
    def solution(self):
        """The finest level's iterate, an array of the device."""
        return self.outer.x

    def _arm(self, handle: int) -> None:
        self._vectors.kernels.arm(1, handle, self._counters)

    def _body(self, handle: int, tolerance: float, max_cycles: int) -> None:
        self.cycle()
        self._measure(handle, False, tolerance, max_cycles)

    def _measure(self, handle: int, first: bool, tolerance: float, max_cycles: int) -> None:
        """Enqueue the defect's norm and the test of it."""
        finest, kernels = self.outer, self._vectors.kernels
        finest.operator.measured_defect(finest.x, finest.b, self._measured, self._partial)
        kernels.check(1, handle, int(first), self._partial.size, tolerance, max_cycles, self._partial, self._counters,
                      self._history)  # fmt: skip

    def cycle_work(self) -> Work:
        """Return the least work of a cycle and its test: each kernel's inputs once and its results once.

        Every step of a level counts as a kernel of its own. On levels that `small` or `tiled` does in few launches that
        is more than the least.
        """
        found = [self.coarsest.work(), self.outer.operator.work(1)]
        is_mixed = self._low is not None
        if is_mixed:
            found.append(Work((4.0 + 8 + 8 - 4) * self.outer.n, 2.0 * self.outer.n))  # x += c, and the rounded defect
        for index in range(1, len(self.levels)):
            level, smoother = self.levels[index], self.smoothers[index]
            from_zero = is_mixed or index < len(self.levels) - 1
            found += smoother.work(self.steps, from_zero, known=not from_zero) + smoother.work(self.steps)
            found += [level.operator.work(1), self.restrictors[index].least_work(),
                      self.prolongators[index].least_work(1.0)]  # fmt: skip
        return Work(sum(each.bytes for each in found), sum(each.flops for each in found))


def _packed(name: str, device, csr, dtype: str = "float64"):
    """Return a matrix in a format, or with columns of 32 bits where columns of 16 cannot hold it."""
    try:
        return spmv.pack(name, device, csr, dtype)
    except spmv.Unsuitable:
        if name not in WIDER:
            raise
        return spmv.pack(WIDER[name], device, csr, dtype)
