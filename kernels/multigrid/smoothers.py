"""Smoothers whose every step is a product with a sparse matrix: damped Jacobi, Chebyshev, sparse approximate inverse.

Each takes steps from a level's `x` to its `spare` vector, which then change places. Its first step is cheaper where x
is 0, `from_zero`, or where the level's `defect` is already x's, `known`.

On an H200 loads are waited for, and the short kernels of the steps without a product do not fill the memory's queues.
Notes: docs/notes/multigrid.md.
"""

from __future__ import annotations

import numpy as np

from kernels.multigrid import spai
from repro import Work

RANGE_MARGIN = 1.1  # over the largest eigenvalue that the power method found


class Jacobi:
    """x += ω D⁻¹ (b - A x), the paper's smoother.

    Parameters
    ----------
    damping : float
        ω: 0.7 on CIRCLE, 0.5 on BLOOD (section 4.2).
    """

    def __init__(self, level, grid, xp, damping: float = 0.7):
        self.level, self.damping = level, damping

    def coefficients(self, steps: int) -> list[tuple[float, float]]:
        """Return for each step the factors of D⁻¹ d and of the step before, as of `Chebyshev`."""
        return steps * [(self.damping, 0.0)]

    def apply(self, steps: int, from_zero: bool = False, known: bool = False) -> None:
        """Enqueue so many steps."""
        level, operator = self.level, self.level.operator
        for step in range(steps):
            if from_zero and step == 0:
                operator.scale(level.b, self.damping, level.x)
                continue
            if known and step == 0:
                operator.update(level.x, level.defect, self.damping, level.spare)
            else:
                operator.relax(level.x, level.b, self.damping, level.spare)
            level.swap()

    def work(self, steps: int, from_zero: bool = False, known: bool = False) -> list[Work]:
        """Return the least work of the steps."""
        first = _vector_work(self.level, 3 if from_zero else 4) if from_zero or known else self.level.operator.work(2)
        return ([first] + (steps - 1) * [self.level.operator.work(2)]) if steps else []


class Chebyshev:
    """The polynomial in D⁻¹A that is least on [λ / reach, λ], λ the largest eigenvalue; a step is a product.

    Parameters
    ----------
    reach : float
        Ratio of the smoothed range's ends: some multiple of 4 for a mesh of squares, more where elements are
        stretched. By default 4 for one to four steps, and growing with their square as what they can damp does.
    """

    def __init__(self, level, grid, xp, reach: float | None = None):
        self.level, self.reach = level, reach
        self.largest = RANGE_MARGIN * largest_eigenvalue(grid.matrix, xp, scale=level.set_up_inverse_diagonal)
        level.need_memory()

    def coefficients(self, steps: int) -> list[tuple[float, float]]:
        """Return for each step the factors of D⁻¹ d and of the step before (Saad, algorithm 12.1)."""
        reach = max(4.0, 0.6 * steps**2) if self.reach is None else self.reach
        low, high = self.largest / reach, self.largest
        theta, delta = (high + low) / 2, (high - low) / 2
        sigma = theta / delta
        rho, found = 1 / sigma, [(1 / theta, 0.0)]
        for _ in range(steps - 1):
            after = 1 / (2 * sigma - rho)
            found.append((2 * after / delta, after * rho))
            rho = after
        return found

    def apply(self, steps: int, from_zero: bool = False, known: bool = False) -> None:
        """Enqueue a polynomial of degree `steps`."""
        level, operator = self.level, self.level.operator
        for step, (now, before) in enumerate(self.coefficients(steps) if steps else []):
            if from_zero and step == 0:
                operator.scale(level.b, now, level.x)
                operator.vectors.launch("copy", level.n, level.x, level.memory)
                continue
            if known and step == 0:
                operator.update_with_memory(level.x, level.defect, now, before, level.memory, level.spare)
            else:
                operator.relax_with_memory(level.x, level.b, now, before, level.memory, level.spare)
            level.swap()

    def work(self, steps: int, from_zero: bool = False, known: bool = False) -> list[Work]:
        """Return the least work of the steps."""
        first = _vector_work(self.level, 4 if from_zero else 5) if from_zero or known else self.level.operator.work(3)
        return ([first] + (steps - 1) * [self.level.operator.work(4)]) if steps else []


class Spai:
    """x += ω M (b - A x), M the sparse approximate inverse with the pattern of A (section 5; Bröker and Grote).

    Parameters
    ----------
    damping : float, optional
        By default 1, or what takes the largest eigenvalue of MA to 1.9 where it is larger.
    """

    def __init__(self, level, grid, xp, damping: float | None = None):
        self.level = level
        inverse = spai.approximate_inverse(level.device, grid.matrix)
        if damping is None:
            largest = largest_eigenvalue(grid.matrix, xp, left=inverse)
            damping = min(1.0, 1.9 / (RANGE_MARGIN * largest))
        self.damping = damping
        self.inverse = level.pack(inverse)

    def apply(self, steps: int, from_zero: bool = False, known: bool = False) -> None:
        """Enqueue so many steps."""
        level = self.level
        for step in range(steps):
            if from_zero and step == 0:
                self.inverse.multiply(level.b, level.x, self.damping, 0.0)
                continue
            if not (known and step == 0):
                level.operator.defect(level.x, level.b, level.defect)
            self.inverse.multiply(level.defect, level.x, self.damping, 1.0)

    def work(self, steps: int, from_zero: bool = False, known: bool = False) -> list[Work]:
        """Return the least work of the steps."""
        step = [self.level.operator.work(1), self.inverse.least_work(1.0)]
        first = [self.inverse.least_work(0.0 if from_zero else 1.0)] if from_zero or known else step
        return (first + (steps - 1) * step) if steps else []


SMOOTHERS = {"jacobi": Jacobi, "chebyshev": Chebyshev, "spai": Spai}


def _vector_work(level, vectors: int) -> Work:
    return Work(float(level.dtype.itemsize * vectors * level.n), 2.0 * level.n)


def largest_eigenvalue(matrix, xp, scale=None, left=None, steps: int = 20) -> float:
    """Return about the largest eigenvalue of diag(`scale`) A, or of `left` A, on vectors that are 0 on the boundary.

    The power method from a random vector, seeded; unit rows keep 0 where it is.
    """
    count = matrix.shape[0]
    free = xp.diff(matrix.indptr) > 1
    x = xp.asarray(np.random.default_rng(0).standard_normal(count)) * free
    norm = float(xp.sqrt((x**2).sum()))
    for _ in range(steps):
        if not norm > 0:
            return 1.0
        x = x / norm
        x = scale * (matrix @ x) if left is None else left @ (matrix @ x)
        norm = float(xp.sqrt((x**2).sum()))
    return norm
