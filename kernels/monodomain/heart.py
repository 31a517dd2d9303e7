"""A beating heart on a device: backward Euler, Newton's method for the potential and, within it, for the recovery.

The scheme is wong2015's, Table 1: at each integration point the recovery variable is solved for by a local Newton
iteration; elements give their parts of residual and tangent; these are summed in sorted order, into the storage format
of the solver at once; the correction of the potential comes from conjugate gradients with Jacobi's preconditioner. On
processors only what changes is summed, see `contributions.Factors`. The host reads six numbers an iteration. Under CUDA
all that lies between two solves is one graph, and a solve another; a solve that is one kernel begins the graph behind
it.

On an H200 launches bind a step of a small heart, not bytes. Notes: docs/notes/monodomain.md.

With one integration point an element's mass matrix has rank one, and the reaction makes it indefinite where its
derivative exceeds 1 / Δt: steps of less than 1 / 2.6 (5 ms) keep the tangent positive definite.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels import spmv
from kernels.assembly.pattern import csr_pattern
from kernels.device.base import taped
from kernels.krylov.conjugate_gradient import REAL, STATUSES
from kernels.krylov.jacobi import JacobiConjugateGradient
from kernels.monodomain import contributions
from kernels.monodomain.geometry import conduction
from kernels.monodomain.model import Model
from kernels.monodomain.places import packed_places
from kernels.spmv._sliced import WARP
from repro import Work

SOURCE, ELEMENTS = (Path(__file__).with_name(name) for name in ("heart.c", "elements.c"))
BLOCK, PROCESSOR_BLOCK = 128, 32
LIMIT = 20  # iterations of the global Newton method


def defines(dtype: str) -> dict:
    """Return what `SOURCE` is built with, for linear solves in a precision."""
    return {"SLICE": WARP, "real": REAL[dtype]}


def elements_defines(device) -> dict:
    """Return what elements' sources are built with: on processors they write their factors alone."""
    return {} if device.is_gpu else {"FACTORS": 1}


BUILDS = [*((ELEMENTS, BLOCK, elements) for elements in ({}, {"FACTORS": 1})),
          *((SOURCE, block, defines(dtype)) for block in (BLOCK, PROCESSOR_BLOCK) for dtype in REAL)]  # fmt: skip


class Diverged(RuntimeError):
    """A step has no solution that the iterations find; the message says which of them failed."""


@dataclass(frozen=True)
class Step:
    """The course of a step's solve.

    Attributes
    ----------
    norms : tuple of float
        ‖R‖ before each Newton iteration, over `Heart.unit`, and after the last.
    linear_iterations : int
        Of conjugate gradients, over all Newton iterations.
    """

    norms: tuple[float, ...]
    linear_iterations: int

    @property
    def newton_iterations(self) -> int:
        return len(self.norms) - 1


@dataclass(frozen=True)
class State:
    """A state of a heart in its device's arrays: potential at the nodes, recovery at the elements, and time."""

    phi: Any
    recovery: Any
    time: float


class Heart:
    """The monodomain equations on a mesh of linear tetrahedra.

    Parameters
    ----------
    device : kernels.device.Device
    points : (nodes, 3) float64 array
        Centimetres; each node in an element, else the first step diverges.
    cells : (elements, 4) int array
        Positively oriented.
    fibres : (elements, 3) float64 array
        Unit vectors along the fibres; nothing checks their length.
    model : Model, optional
    dt : float, optional
        Step of time, in the model's units.
    format : str, optional
        One of kernels.spmv.FORMATS, of the solver's matrix.
    pack : callable, optional
        Takes the place of `format`: from a CSR matrix to what multiplies by it, as a rival's.
    tolerance : float, optional
        Newton iterations end when ‖R‖ is as much of `unit`.
    linear_tolerance : float, optional
        Conjugate gradients end when their residual is as much of R.
    linear_dtype : {'float64', 'float32'}, optional
        Of the tangent and of all within a linear solve. R is summed in double precision, and rounded to this.
    whole : bool, optional
        Whether one kernel shall do all iterations of a solve where `kernels.krylov.whole.solver` takes the matrix: on
        GPUs, which have graphs else. On processors it always does.
    graph : bool, optional
        Whether CUDA shall repeat the solver's iterations by itself; by default where it can.
    **options
        The format's own.

    Attributes
    ----------
    matrix : packed matrix
        Of the last assembly.
    phi, recovery : device arrays, (nodes,) and (elements,) float64
    residual : device array, (nodes,) of `linear_dtype`
        Of the last assembly.
    activation : device array, (nodes,)
        When each node was excited, -1 where it has not been.
    unit : float
        The norm of the residual that a change of the potential by one everywhere makes.

    Raises
    ------
    ValueError
        For an inverted element.
    Unsuitable
        When the format cannot hold the matrix, or keeps its values in more than one array.
    """

    threshold = 0.5  # of the potential, at which a node counts as excited

    def __init__(
        self, device, points, cells, fibres, model: Model | None = None, dt: float = 0.1, *, format: str = "sell",
        pack: Callable | None = None, tolerance: float = 1e-8, linear_tolerance: float = 1e-6,
        linear_dtype: str = "float64", graph: bool | None = None, whole: bool = True, **options,
    ):  # fmt: skip
        self.device, self.model, self.dt = device, model or Model(), float(dt)
        self.tolerance, self.linear_tolerance, self.linear_dtype = tolerance, linear_tolerance, linear_dtype
        if not dt > 0:
            raise ValueError(f"a step of {dt} is not positive")
        xp = device.xp
        points, cells, fibres = xp.asarray(points), xp.asarray(cells), xp.asarray(fibres)
        self.nodes, self.elements = int(points.shape[0]), int(cells.shape[0])
        block = BLOCK if device.is_gpu else PROCESSOR_BLOCK
        self._kernels = device.build(SOURCE, block=block, defines=defines(linear_dtype))
        self._blocks = tuple(-(-count // block) for count in (self.nodes, self.elements))

        stiffness, volumes = conduction(points, cells, fibres, self.model.isotropic, self.model.along, xp)
        self._lumped = xp.bincount(cells.ravel(), xp.repeat(volumes / 4, 4), self.nodes)
        self.unit = float(xp.sqrt((self._lumped**2).sum())) / self.dt
        pattern = csr_pattern(cells, self.nodes, xp)
        self.nonzeros, self._edges = pattern.nonzeros, int(pattern.edges.shape[0])
        self.plan = contributions.plan(cells, pattern, device)
        self._sum_blocks = -(-self.plan.slices.slots // block)
        self._cells = device.array(xp.ascontiguousarray(cells.T.astype(np.int32)))
        self._volumes = device.array(volumes)
        if device.is_gpu:
            self._stiffness, self._places = device.array(stiffness), device.array(self.plan.places)
            self._contributions, self._factors = device.zeros(self.plan.slices.entries, np.float64), None
        else:
            self._stiffness = self._places = None
            self._contributions = device.zeros(2 * (self.elements + 1), np.float64)
            self._factors = contributions.Factors(device, self.plan, pattern, stiffness, block, defines(linear_dtype))
        self._slices = [device.array(array) for array in (self.plan.slices.offsets, self.plan.slices.order)]
        pack = pack or (lambda csr: spmv.pack(format, device, csr, linear_dtype, **options))
        self.matrix, places = packed_places(pack, pattern, device)
        self._entries = [device.array(places[entry]) for entry in (pattern.upper, pattern.lower, pattern.diagonal)]

        self.phi, self._phi_before, self.activation = (device.zeros(self.nodes, np.float64) for _ in range(3))
        self.residual, self._change, self._inverse = (device.zeros(self.nodes, linear_dtype) for _ in range(3))
        self._mean_before = device.zeros(self.elements, np.float64)
        self._clock, self._report = device.zeros(1, np.float64), device.zeros(8, np.float64)
        self.set_up_reaction(block)
        matrix = self.matrix if whole or not device.is_gpu else None
        self.solver = JacobiConjugateGradient(device, self.matrix.multiply, self._inverse, graph, linear_dtype,
                                              matrix=matrix)  # fmt: skip
        self._most = 10 * max(100, int(self.nodes**0.5))
        # Recorded on a heart at rest, since a GPU's recording also runs what it records.
        self.solver.reserve(self._most)
        record = device.capture if device.is_gpu else taped
        self._first, self._next, self._last = (
            record(part) for part in (self.prepare, self._enqueue_corrected, self._enqueue_accepted)
        )
        self._parts = [record(part) for part in (self.assembly_part, self.begin_part, self.correct_part)]
        self.load(np.zeros(self.nodes))

    def set_up_reaction(self, block: int) -> None:
        """Build the elements' kernel, and make what the reaction keeps; `block` is the other kernels'."""
        self._elements = self.device.build(ELEMENTS, BLOCK, elements_defines(self.device)).elements
        self.recovery, self._recovery_before = (self.device.zeros(self.elements, np.float64) for _ in range(2))

    def state(self, phi, recovery=0.0, time: float = 0.0) -> State:
        """Return a state of the heart on the device, for `restore`.

        Parameters
        ----------
        phi : (nodes,) array or float
        recovery : (elements,) array or float
        time : float
        """
        xp = self.device.xp
        full = [xp.full(count, 0.0) + xp.asarray(given)
                for count, given in ((self.nodes, phi), (self.elements, recovery))]  # fmt: skip
        return State(*map(self.device.array, full), float(time))

    def restore(self, state: State) -> None:
        """Enqueue that the heart is in a state; what is excited in it counts as activated then."""
        self._kernels.restore_nodes(self._blocks[0], self.nodes, state.time, self.threshold, state.phi, self.phi,
                                    self._phi_before, self.activation, self._clock, self._report)  # fmt: skip
        self.restore_reaction(state)

    def restore_reaction(self, state: State) -> None:
        """Enqueue the same at the elements."""
        self._kernels.restore_points(self._blocks[1], self.elements, self._cells, self.phi, state.recovery,
                                     self.recovery, self._mean_before, self._recovery_before)  # fmt: skip

    def load(self, phi, recovery=0.0, time: float = 0.0) -> None:
        """Start from a potential at the nodes, a recovery at the elements and a time; see `state`."""
        self.restore(self.state(phi, recovery, time))

    def step(self) -> Step:
        """Go on by `dt`.

        Raises
        ------
        Diverged
        """
        self._first()
        *_, norm = self._read()
        norms, linear = [norm], 0
        while not norms[-1] <= self.tolerance:
            if len(norms) > LIMIT:
                raise Diverged(f"Newton's method has not converged in {LIMIT} iterations: {norms[0]:.3g} to {norm:.3g}")
            if self.solver.loop != "kernel":
                self.solver.repeat()
            self._next()
            status, iterations, norm = self._read()
            if status != "converged":
                raise Diverged(f"conjugate gradients ended with '{status}' after {iterations} iterations")
            linear += iterations
            norms.append(norm)
        self._last()
        return Step(tuple(norms), linear)

    def timed_step(self) -> tuple[Step, dict[str, float]]:
        """Go on by `dt` with the parts apart, and return their seconds by the device's clock.

        Returns
        -------
        Step
        dict of str to float
            ``assembly``, ``solver``, the ``update`` that ends a step, and the ``control`` of the iterations: while the
            host reads how they stand, and enqueues what follows.
        """
        device, (assemble, begin, correct) = self.device, self._parts
        marks = [("", device.record())]

        def then(part, *enqueue):
            for each in enqueue:
                each()
            marks.append((part, device.record()))

        then("assembly", assemble)
        then("solver", begin)
        norms, linear = [self._read()[2]], 0
        then("control")
        while not norms[-1] <= self.tolerance:
            then("solver", self.solver.repeat, correct)
            then("assembly", assemble)
            then("solver", begin)
            status, iterations, norm = self._read()
            if status != "converged" or len(norms) > LIMIT:
                raise Diverged(f"conjugate gradients ended with '{status}' in Newton iteration {len(norms)}")
            then("control")
            linear += iterations
            norms.append(norm)
        then("update", self._last)
        device.synchronize()
        seconds = dict.fromkeys(("assembly", "solver", "update", "control"), 0.0)
        for (_, before), (part, after) in itertools.pairwise(marks):
            seconds[part] += device.elapsed(before, after)
        return Step(tuple(norms), linear), seconds

    def run(self, steps: int) -> list[Step]:
        """Go on by so many steps."""
        return [self.step() for _ in range(steps)]

    @property
    def time(self) -> float:
        """The time that has been reached; asks the device."""
        return float(self.device.to_host(self._clock)[0])

    def _read(self) -> tuple[str, int, float]:
        """Wait, and return how the last solve ended, its iterations, and ‖R‖ over `unit` of the last assembly."""
        _, status, iterations, norm, *_, failed, _ = (float(value) for value in self.device.to_host(self._report))
        if failed:
            raise Diverged("the recovery variable's Newton method has not converged at an integration point")
        return STATUSES[int(status)], int(iterations), norm / self.unit

    def elements_part(self) -> None:
        """Enqueue the elements' contributions."""
        self._elements(
            -(-self.elements // BLOCK), self.elements, self._cells, self._stiffness, self._volumes, self.phi,
            self._mean_before, self._recovery_before, self.recovery, *self.model.reaction, 1 / self.dt, self._places,
            self._contributions, self._report,
        )  # fmt: skip

    def sums_part(self) -> None:
        """Enqueue the sums of the contributions: matrix, its diagonal's inverse, and residual."""
        size = self._sum_blocks, self.plan.slices.slots, self._edges
        into = *self._entries, self.matrix.arrays["values"], self._inverse, self.residual
        if self._factors:
            self._factors.sums(*size, *self._slices, self._contributions, self.phi, *into)
        else:
            self._kernels.sums(*size, self.nodes, *self._slices, self._contributions, *into)

    def begin_part(self) -> None:
        """Enqueue what a solve begins with, and the residual's norm."""
        self.solver.begin(self.residual, self.linear_tolerance, self._most)
        self.solver.report(3, self._report)

    def correct_part(self) -> None:
        """Enqueue the report of a solve, and the correction of the potential by it."""
        self.solver.report(0, self._report)
        self.solver.finish(self._change)
        self._kernels.correct(self._blocks[0], self.nodes, self._change, self.phi)

    def prepare(self) -> None:
        """Enqueue the assembly at the present potential, and what a solve begins with."""
        self.assembly_part()
        self.begin_part()

    def assembly_part(self) -> None:
        """Enqueue the assembly at the present potential."""
        self.elements_part()
        self.sums_part()

    def _enqueue_corrected(self) -> None:
        if self.solver.loop == "kernel":
            self.solver.repeat()
        self.correct_part()
        self.prepare()

    def _enqueue_accepted(self) -> None:
        self._kernels.tick(1, self.dt, self._clock)
        self.accept_reaction()
        self._kernels.accept_nodes(self._blocks[0], self.nodes, self.dt, self.threshold, self._clock, self.phi,
                                   self._phi_before, self.activation)  # fmt: skip

    def accept_reaction(self) -> None:
        """Enqueue what ends a step at the elements."""
        self._kernels.accept_points(self._blocks[1], self.elements, self._cells, self.phi, self.recovery,
                                    self._mean_before, self._recovery_before)  # fmt: skip

    def elements_work(self) -> Work:
        """Return the least work of the elements: 11 operations a local iteration, of which there are three."""
        read, written, flops = 4 * 4 + 8 * (1 + 3), 8 + 8 * 2, 79.0  # factors alone
        if not self._factors:
            read, written = read + 8 * 6 + 4 * contributions.PER_ELEMENT, 8 + 8 * contributions.PER_ELEMENT
            flops = 140.0
        return Work((read + written) * self.elements + 8 * self.nodes, flops * self.elements, "float64")

    def sums_work(self) -> Work:
        """Return the least work of the sums: padding is no part of it."""
        parts = contributions.PER_ELEMENT * self.elements
        rows = 4 * self.plan.rows + (2 * 4 + 2 * 8) * self._edges + (4 + 3 * 8) * self.nodes
        if not self._factors:
            return Work(8 * parts + rows, float(parts), "float64")
        flow = self._factors.conduction.least_work()
        read = (4 * contributions.IN_MATRIX + 8 * 2) * self.elements  # which factors, and these
        read += 8 * (self._edges + 2 * self.nodes)  # constants
        return Work(read + rows + flow.bytes, parts + flow.flops, "float64")
