"""A beating heart on one core, in loops compiled by Numba: an element after the other, and Jacobi-preconditioned CG."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import njit

from baselines.monodomain.system import System, pattern

LIBRARIES = ("numba",)
TITLE = "one core, loops compiled by Numba"
LIMIT, LOCAL_LIMIT = 20, 30


class Diverged(RuntimeError):
    """A step has no solution that the iterations find."""


@dataclass(frozen=True)
class Step:
    """Outcome of solving a step; see `kernels.monodomain.Step`."""

    norms: tuple[float, ...]
    linear_iterations: int

    @property
    def newton_iterations(self) -> int:
        return len(self.norms) - 1


class Heart:
    """The monodomain equations by the loops of a textbook; see `kernels.monodomain.Heart`.

    Parameters
    ----------
    system : System
    tolerance, linear_tolerance : float
    solver : callable, optional
        Takes the place of the conjugate gradients here, as one on a GPU: called with row offsets and columns it returns
        what, from values, right-hand side, tolerance and most iterations, makes solution and iterations, -1 if those
        were not enough.

    Attributes
    ----------
    phi, recovery : ndarray
    seconds : dict of str to float
        Spent so far in ``assembly`` and ``solver``.
    """

    def __init__(self, system: System, tolerance: float = 1e-8, linear_tolerance: float = 1e-6, solver=None):
        self.system, self.tolerance, self.linear_tolerance = system, tolerance, linear_tolerance
        # Numba wraps signed indices, in case they are negative, which takes longer.
        offsets, columns, places = pattern(system.cells, system.nodes)
        self._offsets, self._columns, self._places = (a.astype(np.uint32) for a in (offsets, columns, places))
        self._cells = system.cells.astype(np.uint32)
        self._diagonal = np.flatnonzero(columns == np.repeat(np.arange(system.nodes), np.diff(offsets)))
        self._solve = self._own if solver is None else solver(offsets, columns)
        self.values, self.residual = np.zeros(columns.size), np.zeros(system.nodes)
        self._most = 10 * max(100, int(system.nodes**0.5))
        self.seconds = {"assembly": 0.0, "solver": 0.0}
        self.load(np.zeros(system.nodes))

    def load(self, phi, recovery=0.0) -> None:
        """Start from a potential at the nodes and a recovery at the elements."""
        self.phi = np.array(phi, dtype=np.float64)
        self.recovery = np.full(len(self._cells), 0.0) + recovery
        self._accept()

    def assemble(self) -> float:
        """Assemble tangent and residual, and return the residual's norm over the unit."""
        begun = time.perf_counter()
        model, system = self.model, self.system
        good = _assemble(
            self._cells, system.stiffness, system.volumes, self._places, self.phi, self._mean_before,
            self._recovery_before, self.recovery, *model, 1 / system.dt, self.values, self.residual,
        )  # fmt: skip
        self.seconds["assembly"] += time.perf_counter() - begun
        if not good:
            raise Diverged("the recovery variable's Newton method has not converged at an integration point")
        return float(np.sqrt(_product(self.residual, self.residual))) / system.unit

    @property
    def model(self) -> tuple[float, ...]:
        """The constants of the reaction, in the order of the loops' arguments."""
        m = self.system.model
        return m.alpha, m.b, m.c, m.gamma, m.mu1, m.mu2

    def step(self) -> Step:
        """Go on by a step."""
        norms, linear = [self.assemble()], 0
        while not norms[-1] <= self.tolerance:
            if len(norms) > LIMIT:
                raise Diverged(f"Newton's method has not converged in {LIMIT} iterations")
            begun = time.perf_counter()
            change, iterations = self._solve(self.values, self.residual, self.linear_tolerance, self._most)
            self.phi -= change
            self.seconds["solver"] += time.perf_counter() - begun
            if iterations < 0:
                raise Diverged("conjugate gradients have not converged")
            linear += iterations
            norms.append(self.assemble())
        self._accept()
        return Step(tuple(norms), linear)

    def run(self, steps: int) -> list[Step]:
        """Go on by so many steps."""
        return [self.step() for _ in range(steps)]

    def _own(self, values, rhs, tolerance, most):
        pattern = self._offsets, self._columns
        return _conjugate_gradients(*pattern, values, values[self._diagonal], rhs, tolerance, most)

    def _accept(self):
        self._mean_before, self._recovery_before = _means(self._cells, self.phi), self.recovery.copy()


@njit(cache=True)
def _assemble(cells, stiffness, volumes, places, phi, mean_before, r_before, recovery, alpha, b, c, gamma, mu1, mu2,
              rate, values, residual):  # fmt: skip
    """Add up the elements' tangents and residuals; return whether every local Newton iteration has converged."""
    values[:] = 0.0
    residual[:] = 0.0
    good = True
    potential = np.empty(4)
    for e in range(cells.shape[0]):
        mean = 0.0
        for i in range(4):
            potential[i] = phi[cells[e, i]]
            mean += 0.25 * potential[i]
        # Recovery: (r - r_before) / dt - f_r(phi, r) = 0.
        r, before, found = recovery[e], r_before[e], False
        pull = c * mean * (mean - b - 1.0)
        for _ in range(LOCAL_LIMIT):
            speed = gamma + mu1 * r / (mu2 + mean)
            change = ((r - before) * rate + speed * (r + pull)) / (rate + mu1 / (mu2 + mean) * (r + pull) + speed)
            r -= change
            if abs(change) <= 1e-13 * (1.0 + abs(r)):
                found = True
                break
        good = good and found
        recovery[e] = r
        speed = gamma + mu1 * r / (mu2 + mean)
        tangent = rate + mu1 / (mu2 + mean) * (r + pull) + speed
        by_phi = speed * c * (2.0 * mean - b - 1.0) - mu1 * r / (mu2 + mean) ** 2 * (r + pull)
        flow = c * mean * (mean - alpha) * (1.0 - mean) - r * mean
        slope = c * (-3.0 * mean * mean + 2.0 * (1.0 + alpha) * mean - alpha) - r + mean * by_phi / tangent
        mass, load = volumes[e] * (rate - slope) / 16.0, volumes[e] * ((mean - mean_before[e]) * rate - flow) / 4.0
        for i in range(4):
            total = load
            for j in range(4):
                total += stiffness[e, i, j] * potential[j]
                values[places[e, 4 * i + j]] += stiffness[e, i, j] + mass
            residual[cells[e, i]] += total
    return good


@njit(cache=True)
def _means(cells, phi):
    """Return the mean of phi over the nodes of each element."""
    found = np.empty(cells.shape[0])
    for e in range(cells.shape[0]):
        found[e] = 0.25 * (phi[cells[e, 0]] + phi[cells[e, 1]] + phi[cells[e, 2]] + phi[cells[e, 3]])
    return found


@njit(cache=True)
def _product(x, y):
    """Return x·y. NumPy's own is a library's, which wakes threads for it: these took longer than all else of a step."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@njit(cache=True)
def _conjugate_gradients(offsets, columns, values, diagonal, rhs, tolerance, most):
    """Return x and the iterations, -1 when they were not enough or the matrix is not positive definite."""
    x, r = np.zeros_like(rhs), rhs.copy()
    z = r / diagonal
    p, q = z.copy(), np.empty_like(rhs)
    rz, enough = _product(r, z), tolerance * tolerance * _product(rhs, rhs)
    for k in range(1, most + 1):
        curvature = 0.0
        for i in range(rhs.size):
            total = 0.0
            for entry in range(offsets[i], offsets[i + 1]):
                total += values[entry] * p[columns[entry]]
            q[i] = total
            curvature += total * p[i]
        if not curvature > 0.0:
            return x, -1
        alpha, squares, after = rz / curvature, 0.0, 0.0
        for i in range(rhs.size):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
            z[i] = r[i] / diagonal[i]
            squares += r[i] * r[i]
            after += r[i] * z[i]
        if squares <= enough:
            return x, k
        beta, rz = after / rz, after
        for i in range(rhs.size):
            p[i] = z[i] + beta * p[i]
    return x, -1
