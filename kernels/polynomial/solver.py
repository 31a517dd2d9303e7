"""The paper's solver: diagonal scaling, a polynomial preconditioner in single precision, an outer iteration in double.

An iteration of order m reads the matrix m times in single and once in double precision (zhang2013, algorithm 6). On an
H200 solves gain about what they save in bytes, but less on tet, where single precision reaches less of its bound (see
`kernels.spmv.sbell`), and on quad, where kernels' starts and vectors in double precision do not shrink. Notes:
docs/notes/polynomial.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kernels import spmv
from kernels.krylov import ConjugateGradient, FusedConjugateGradient, Outcome
from kernels.polynomial.lanczos import STEPS, Bounds, bounds
from kernels.polynomial.polynomials import fitted
from kernels.polynomial.preconditioner import BLOCK, SOURCE, Preconditioner
from repro import Work

PRECISIONS = {"double": "float64", "mixed": "float32"}
MOST_PARTS = 8192  # of a sum that comes with a product: to add up more takes longer than is saved
MARGIN = 0.9  # of what a correction has to reach, for what its own rounding adds


@dataclass(frozen=True)
class Scaled:
    """The matrix D^-1/2 A D^-1/2, whose diagonal is 1.

    Attributes
    ----------
    csr : kernels.spmv.Csr
        In double precision.
    factors : (n,) float64 array of the device's `xp`
        The diagonal of D^-1/2.
    row_sum : float
        The largest sum of absolute values of a row, which no eigenvalue exceeds.
    """

    csr: spmv.Csr
    factors: Any
    row_sum: float


def scaled(device, matrix) -> Scaled:
    """Scale a symmetric matrix, CSR of SciPy or CuPy, by its diagonal.

    Raises
    ------
    ValueError
        When the matrix is not square, or an entry of its diagonal not positive.
    """
    csr = spmv.canonical(device, matrix, "float64")
    xp, n = csr.xp, csr.shape[0]
    if csr.shape[0] != csr.shape[1]:
        raise ValueError(f"a matrix of {csr.shape[0]} × {csr.shape[1]} is not symmetric")
    rows = xp.searchsorted(csr.row_offsets[1:], xp.arange(csr.nonzeros, dtype=xp.int32), side="right")
    diagonal, is_diagonal = xp.zeros(n), rows == csr.columns
    diagonal[rows[is_diagonal]] = csr.values[is_diagonal]
    if not bool((diagonal > 0).all()):
        raise ValueError("the diagonal is not positive everywhere: the matrix is not positive definite")
    factors = 1 / xp.sqrt(diagonal)
    values = csr.values * (factors[rows] * factors[csr.columns])  # in this order symmetric to the last bit
    row_sum = float(xp.bincount(rows, weights=xp.abs(values), minlength=n).max())
    return Scaled(replace(csr, values=values), factors, row_sum)


class Solver:
    """Conjugate gradients on the scaled system, with a polynomial preconditioner or with the scaling alone (Jacobi).

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse matrix or Scaled
        Symmetric positive definite CSR of SciPy or CuPy; duplicates are summed. A result of `scaled` serves several
        solvers.
    form : str
        Storage format, one of kernels.spmv's, of the outer and the inner matrix.
    options : mapping, optional
        Options of `kernels.spmv.pack` for this format.
    polynomial : {'least-squares', 'chebyshev', 'neumann'} or None
        None is Jacobi: the scaling alone.
    order : int
        Products with the matrix in an application of the preconditioner.
    precision : {'mixed', 'double'}
        Of the preconditioner's matrix and vectors: single, or double like the outer iteration.
    spectrum : Bounds, optional
        Of the scaled matrix; by default from Lanczos steps and the largest row sum.
    steps : int
        Lanczos steps.

    Attributes
    ----------
    matrix : packed matrix
        Of the outer iteration, double precision.
    inner : packed matrix or None
        Of the preconditioner.
    spectrum : Bounds or None
    preconditioner : Preconditioner or None
    """

    def __init__(
        self, device, matrix, *, form: str = "sbell", options: Mapping | None = None,
        polynomial: str | None = "least-squares", order: int = 6, precision: str = "mixed",
        spectrum: Bounds | None = None, steps: int = STEPS,
    ):  # fmt: skip
        if precision not in PRECISIONS:
            raise ValueError(f"precision {precision!r} is none of {', '.join(PRECISIONS)}")
        self.device, options = device, dict(options or {})
        system = matrix if isinstance(matrix, Scaled) else scaled(device, matrix)
        csr, self._factors, n = system.csr, system.factors, system.csr.shape[0]
        self.matrix = spmv.pack(form, device, csr, dtype="float64", **options)
        self.inner = self.spectrum = self.preconditioner = None
        if polynomial is not None:
            self.spectrum = spectrum or bounds(device, self.matrix.multiply, n, steps, row_sum=system.row_sum)
            self.inner = self.matrix
            if precision == "mixed":
                self.inner = spmv.pack(form, device, csr, dtype="float32", **options)
            self.preconditioner = Preconditioner(device, self.inner, fitted(polynomial, order, self.spectrum))
        self._iteration = self._conjugate_gradient(device, n)
        self._combine = device.build(SOURCE, block=BLOCK, defines={"real": "double", "wide": "double"}).combine
        self._b, self._x, self._norm = device.zeros(n, "float64"), device.zeros(n, "float64"), 1.0

    def _conjugate_gradient(self, device, n):
        """Return the outer iteration, on a GPU with its sums in the products where the format brings them."""
        found = self.preconditioner
        apply, parts = (found.apply, found.parts) if found else (None, 0)
        if device.is_gpu and 0 < getattr(self.matrix, "parts", 0) <= MOST_PARTS and (parts or not found):
            rounded = found.rounded if found else None
            if rounded is not None:
                apply = partial(apply, is_rounded=True)
            return FusedConjugateGradient(device, self.matrix, apply, parts, rounded)
        return ConjugateGradient(device, self.matrix.multiply, n, apply)

    def load(self, b) -> None:
        """Scale a right-hand side, (n,) on the host or the device, for `run`."""
        xp, device = self.device.xp, self.device
        rhs = self._factors * xp.asarray(b if device.backend == "cuda" else device.to_host(b), dtype="float64")
        # Of norm 1, lest the residual leave the range of single precision.
        self._norm = float(xp.linalg.norm(rhs)) or 1.0
        self._b = device.array(rhs / self._norm)

    def run(self, tolerance: float = 1e-6, max_iterations: int = 20000) -> Outcome:
        """Solve the loaded system on the device, until ‖b - A x‖ <= tolerance ‖b‖ of the scaled system; wait for it.

        Over thousands of iterations rounding parts the recursive residual from the true one. Where that is still above
        the tolerance it is the right-hand side of a correction, as often as needed.

        Returns
        -------
        Outcome
            Its residual is the true one if the recursive one got below the tolerance. The status is 'rounding' where
            corrections no longer bring it down.
        """
        outcome = self._iteration.solve(self._b, self._x, tolerance, max_iterations)
        if not outcome.converged:
            return outcome
        outcome = replace(outcome, residual=self._iteration.true_residual(self._b, self._x))
        while outcome.converged and outcome.residual > tolerance:
            outcome = self._corrected(outcome, tolerance, max_iterations - outcome.iterations)
        return outcome

    def _corrected(self, before: Outcome, tolerance: float, max_iterations: int) -> Outcome:
        """Add to x what its true residual asks for; return how all of the solve ended."""
        iteration, n = self._iteration, self._iteration.n
        left, change = self.device.empty(n, "float64"), self.device.empty(n, "float64")
        iteration.residual(self._b, self._x, left)
        after = iteration.solve(left, change, MARGIN * tolerance / before.residual, max_iterations)
        self._combine(-(-n // BLOCK), n, 1.0, change, 0.0, change, 0.0, change, 1.0, self._x, self._x)
        residual = iteration.true_residual(self._b, self._x)
        is_stuck = after.converged and residual > max(tolerance, before.residual / 2)
        return Outcome(
            "rounding" if is_stuck else after.status, before.iterations + after.iterations, residual,
            np.concatenate([before.history, before.residual * after.history[1:]]),
        )  # fmt: skip

    def solution(self):
        """Return x of the unscaled system, an array of the device's namespace."""
        scaled = self._x if self.device.backend == "cuda" else self.device.to_host(self._x)
        return self._norm * self._factors * scaled

    def least_work(self, iterations: int) -> Work:
        """Return the least that so many iterations move and compute, in the formats in hand."""
        parts = [self.matrix.least_work(), self._iteration.vector_work()]
        if self.preconditioner is not None:
            parts.append(self.preconditioner.least_work())
        # A rate of mixed precision is not measured; memory binds, so the rate of double precision does.
        return Work(iterations * sum(part.bytes for part in parts), iterations * sum(part.flops for part in parts))

    def solve(self, b, tolerance: float = 1e-6, max_iterations: int = 20000) -> tuple[Any, Outcome]:
        """Return the solution of A x = b and how the iteration ended."""
        self.load(b)
        outcome = self.run(tolerance, max_iterations)
        return self.solution(), outcome
