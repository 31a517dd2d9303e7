"""The heat equation with a moving source, ∂u/∂t - ∇·(κ∇u) = Q/(ρ c_p), insulated (remacle2016, section 6.2).

Backward Euler: each step solves c u - ∇·(κ∇u) = u_before c + Q/(ρ c_p) with c = 1/Δt. The paper starts each solve from
zero, as `remembered=None` does. By default a step solves for the change, with the residual of the solution before as
its right-hand side. The guess is the change to which a parabola through the last three changes leads. It saves more
iterations than a straight line or the last change itself, and a cubic saves no more. Between steps the host reads what
the guess leaves to be done and how the solve ended, and nothing else.

On an H200 local solves and their sums take most of an iteration (`kernels.sem.schwarz`). Notes: docs/notes/sem.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.krylov import Outcome
from kernels.sem import geometry as shapes
from kernels.sem.diagonals import namespaced
from kernels.sem.solver import Solver

SOURCE = Path(__file__).with_name("heat.c")
BLOCK = 256
REAL = {"float64": "double", "float32": "float"}
BUILDS = [(SOURCE, BLOCK, {"real": real}) for real in ("double", "float")]
# Of the last change, that before it and the first of three, by how many there are: polynomials through all of them.
EXTRAPOLATION = {1: (1.0, 0.0, 0.0), 2: (2.0, -1.0, 0.0), 3: (3.0, -3.0, 1.0)}
NODES = 1 << 22  # of the elements whose nodes are placed at once


@dataclass(frozen=True)
class Source:
    """A source that moves: strength · exp(-|x - path(t)|² / radius²).

    Attributes
    ----------
    strength : float
        The paper's Q / (ρ c_p), in K/s.
    radius : float
    path : callable
        Its centre, three floats, at a time in seconds.
    """

    strength: float
    radius: float
    path: Callable[[float], tuple[float, float, float]]


class Heat:
    """Temperature on a hexahedral mesh, from zero at time zero.

    Parameters
    ----------
    device : kernels.device.Device
    points : (vertices, 3) float64
    cells : (elements, 8) int
    order : int
        The paper's n.
    source : Source
    kappa : float, optional
        In m²/s.
    step : float, optional
        The paper's Δt, in s.
    tolerance : float, optional
        Of each solve: its residual over the residual of the solution before, or of zero where it starts from zero.
    remembered : {3, 2, 1, 0} or None, optional
        Of how many steps the changes are kept to guess the next one's; with 0 a solve starts from the solution before,
        with None from zero.
    **settings
        Of the `Solver`: dtype, geometry, preconditioner, coarse, ...

    Attributes
    ----------
    solver : Solver
    temperature : (nodes,) device array
    places : (3, nodes) device array
        Coordinates of the nodes.
    time : float
    """

    def __init__(
        self, device, points, cells, order: int, source: Source, *, kappa: float = 1e-2, step: float = 0.04,
        tolerance: float = 1e-6, remembered: int | None = 3, **settings,
    ):  # fmt: skip
        self.starts_from_zero, remembered = remembered is None, remembered or 0
        if not 0 <= remembered <= len(EXTRAPOLATION):
            raise ValueError(f"{remembered} changes remembered, of 0 to {len(EXTRAPOLATION)}")
        self.device, self.source, self.step, self.tolerance, self.time = device, source, step, tolerance, 0.0
        settings = {"dtype": "float32"} | settings
        self.solver = Solver(device, points, cells, order, kappa=kappa, mass=1 / step, dirichlet=None, **settings)
        self.nodes, dtype = self.solver.nodes, self.solver.dtype
        self._kernels = device.build(SOURCE, block=BLOCK, defines={"real": REAL[dtype.name]})
        self.places = device.array(self._placed(points, cells))
        self.temperature = device.zeros(self.nodes, dtype)
        changing = 0 if self.starts_from_zero else self.nodes
        self._residual, self._guess = device.empty(self.nodes, dtype), device.zeros(changing, dtype)
        self._left = device.empty(self.nodes if remembered else 0, dtype)  # of the residual after the guess
        self._changes = [device.zeros(changing, dtype) for _ in range(max(remembered, 1))]  # the last one first
        self.remembered, self._known = remembered, 0

    def _placed(self, points, cells):
        xp, operator = self.device.xp, self.solver.operator
        points, cells, q3 = xp.asarray(points), xp.asarray(cells), (operator.order + 1) ** 3
        table = xp.asarray(operator.numbering.table)
        places = xp.empty((3, self.nodes), dtype=self.solver.dtype)
        for begin in range(0, len(cells), NODES // q3):
            some = slice(begin, begin + NODES // q3)
            at = shapes.node_coordinates(points, cells[some], operator.order, xp)
            for axis in range(3):
                places[axis, table[some]] = at[..., axis].astype(places.dtype)
        return places

    def advance(self, max_iterations: int = 1000) -> Outcome:
        """Take a step; return how its solve ended."""
        solver, source, blocks = self.solver, self.source, -(-self.nodes // BLOCK)
        self.time += self.step
        if self.starts_from_zero:
            self.device.fill(self._residual, 0.0)
        else:
            solver.operator.multiply_fast(self.temperature, self._residual)
        self._kernels.residual(
            blocks, self.nodes, 1 / self.step, source.strength, source.radius**-2, *source.path(self.time),
            self.places.reshape(-1), solver.mass, self.temperature, self._residual,
        )  # fmt: skip
        if self.starts_from_zero:
            return solver.solve(self._residual, self.tolerance, max_iterations, self.temperature)[1]
        right, tolerance = self._guessed()
        change = self._changes.pop()
        outcome = solver.solve(right, tolerance, max_iterations, change)[1]
        self._kernels.add(blocks, self.nodes, self._guess, change, self.temperature)
        self._changes.insert(0, change)
        self._known = min(self._known + 1, self.remembered)
        return outcome

    def _guessed(self):
        """Return what is left to solve for after the guess, and to which tolerance."""
        if self._known:
            weights, known = EXTRAPOLATION[self._known], self._changes[: self._known]
            changes = known + (3 - len(known)) * known[-1:]
            self._kernels.extrapolate(-(-self.nodes // BLOCK), self.nodes, *weights, *changes, self._guess)
            left = self.solver.iteration.residual(self._residual, self._guess, self._left)
            if left < 1:
                return self._left, self.tolerance / left if left > self.tolerance else 1.0
        self.device.fill(self._guess, 0.0)  # none, or one that led astray
        return self._residual, self.tolerance

    def reset(self, temperature=0.0) -> None:
        """Start again at time zero from a temperature: a number, or (nodes,) of the host or the namespace."""
        self.time, self._known = 0.0, 0
        if np.isscalar(temperature):
            self.device.fill(self.temperature, temperature)
        else:
            self.temperature = self.device.array(temperature, self.solver.dtype)

    def heat(self) -> float:
        """Return the integral of the temperature over the mesh, in K m³."""
        mass, u = (namespaced(self.device, array) for array in (self.solver.mass, self.temperature))
        return float((mass.astype("float64") * u).sum())

    def heat_supplied(self, time: float) -> float:
        """Return the integral of the source over the mesh at a time, in K m³/s, summed by the array namespace."""
        xp, places = self.device.xp, namespaced(self.device, self.places)
        mass = namespaced(self.device, self.solver.mass)
        distance = sum((places[axis].astype("float64") - c) ** 2 for axis, c in enumerate(self.source.path(time)))
        return float((mass * xp.exp(-distance / self.source.radius**2)).sum()) * self.source.strength
