"""The whole solver: set-up, V-cycle and conjugate gradients, in the numbering of the caller (fu2014, section 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernels import spmv
from kernels.amg import cycle, relax_jacobi
from kernels.amg.cycle import Cycle
from kernels.amg.patch_matrix import namespaced
from kernels.amg.rehearsal import rehearse
from kernels.amg.setup import PATCH_SIZE, is_coarsened, set_up
from kernels.krylov import ConjugateGradient, Outcome, conjugate_gradient, whole
from repro import Work

# Rows at which a dense inverse costs less than another level, by whether the device is a GPU: there a level's launches
# take longer than its work, on a processor one thread makes the inverse. Notes: docs/notes/amg.md.
COARSEST = {True: 1000, False: 500}
WINDOW = 1024  # rows that SELL sorts by their lengths: rows of meshes hardly pad then
TRUSTED = 10  # times the tolerance: a true residual beyond it is not what the recursive one says
INACCURATE, INDEFINITE = "inaccurate", "indefinite"


class Solver:
    """Conjugate gradients in double precision, preconditioned by a V-cycle in single precision.

    Making one is the set-up stage, `solve` the iteration stage.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse array of `device.sparse`, (n, n)
        Symmetric positive definite.
    relaxation : {'patch', 'jacobi', 'jacobi-merged', 'none'}, optional
        The paper's, CUSP's in smoothed aggregation, the same in merged kernels, or conjugate gradients without a
        preconditioner.
    coarsening : {'patch', 'mis'}, optional
        The paper's partition, or standard smoothed aggregation: see `kernels.amg.set_up`.
    inner_iterations : int, optional
        Jacobi iterations within patches.
    patch_size : int, optional
        The most rows of a patch.
    inside : {'half', 'symcoo', 'ell', 'csr'}, optional
        Format within patches; by default the device's fastest.
    dtype : {'float32', 'float64'}, optional
        Of the preconditioner. Single precision must hold the matrix: entries of 1e-36 to 1e35.
    layout : str, optional
        Format of the finest matrix in conjugate gradients, and of Jacobi's matrices; 'hyb' is the paper's and CUSP's.
    coarsest : int, optional
        The most rows of a level that is solved directly; by default 1000 on a GPU and 500 on a processor.
    jacobi_weight : float, optional
        Of Jacobi's relaxation, over ρ(D⁻¹ A); by default CUSP's.

    Attributes
    ----------
    hierarchy : Hierarchy or None
    cycle : Cycle or None
    matrix : kernels.spmv.Matrix
        The finest matrix, in the permuted numbering.

    Raises
    ------
    kernels.amg.checks.UnsuitableMatrix
        For a matrix that is not symmetric positive definite, as far as the set-up can tell; conjugate gradients find
        out the rest.
    kernels.device.errors.BuildError
        On CUDA, when aggregates are so small that a row of a coarse level has more than 1536 entries.
    """

    def __init__(
        self,
        device,
        matrix,
        relaxation: str = "patch",
        coarsening: str = "patch",
        inner_iterations: int = 3,
        patch_size: int = PATCH_SIZE,
        inside: str | None = None,
        dtype: str = "float32",
        layout: str = "sell",
        coarsest: int | None = None,
        jacobi_weight: float = relax_jacobi.WEIGHT,
    ):
        self.device, self.relaxation = device, relaxation
        self.hierarchy = self.cycle = None
        self._order = self._rank = None
        coarsest = COARSEST[device.is_gpu] if coarsest is None else coarsest
        device.prepare([conjugate_gradient.build(device), *spmv.builds(layout, device)])
        if relaxation != "none":
            rehearse(device)
            if is_coarsened(matrix, coarsest):
                device.prepare(cycle.builds(device, relaxation, patch_size, inside, dtype, layout))
            self.hierarchy = set_up(device, matrix, coarsening=coarsening, patch_size=patch_size, coarsest=coarsest)
            finest = self.hierarchy.levels[0]
            self.cycle = Cycle(
                device, self.hierarchy, relaxation, inner_iterations, inside, dtype, layout, jacobi_weight
            )  # fmt: skip
            self._order, self._rank, given = finest.order, finest.rank, finest.matrix
            # Not looked at again: its columns are in order, and within it.
            matrix = spmv.Csr(given.shape, given.indptr, given.indices, given.data, device.xp)
        self.n = matrix.shape[0]
        # On a GPU the search for the best window takes longer than a solve gains by it.
        options = {"window": WINDOW} if layout == "sell" and device.is_gpu else {}
        self.matrix = spmv.pack(layout, device, matrix, **options)
        self._estimated_again = False
        self._begin()
        self._x = device.empty(self.n, np.float64)

    def _begin(self):
        precondition = None if self.cycle is None else self.cycle.apply
        # Without a preconditioner a processor's iteration is so short that launches from Python are much of it.
        at_once = whole.solver(self.device, self.matrix) if self.cycle is None else None
        self.iteration = ConjugateGradient(self.device, self.matrix.multiply, self.n, precondition, whole=at_once)

    def solve(self, b, tolerance: float = 1e-8, max_iterations: int = 10000, verify: bool = True):
        """Solve A x = b until ‖r‖ <= tolerance ‖b‖.

        Parameters
        ----------
        b : (n,) array of the device's namespace or NumPy's
        tolerance : float, optional
        max_iterations : int, optional
        verify : bool, optional
            Whether to compute the true residual of what the recursive one calls converged. Where it is more than ten
            times the tolerance, the status is 'inaccurate', and `residual` the true one.

        Returns
        -------
        x : (n,) float64 array of the device's namespace
            In the caller's numbering.
        outcome : kernels.krylov.Outcome
        """
        permuted = self._permuted(b)
        outcome = self.iteration.solve(permuted, self._x, tolerance, max_iterations)
        if outcome.status == INDEFINITE and self.cycle is not None and not self._estimated_again:
            # The cycle's weights rest on an estimate from below: once it is made again, by more steps.
            self._estimated_again = True
            if self.cycle.estimate(cycle.MORE_STEPS):
                self._begin()
                outcome = self.iteration.solve(permuted, self._x, tolerance, max_iterations)
        if verify and outcome.converged:
            outcome = self._verified(outcome, permuted, tolerance)
        x = namespaced(self.device, self._x)
        return (x.copy() if self._rank is None else x[self._rank]), outcome

    def true_residual(self, b, x) -> float:
        """Return ‖b - A x‖/‖b‖ of vectors in the caller's numbering."""
        return self.iteration.true_residual(self._permuted(b), self._permuted(x))

    def work(self) -> Work:
        """Return the least work of one iteration: V-cycle, product and vector operations."""
        parts = [self.matrix.least_work(), self.iteration.vector_work()]
        if self.cycle is not None:
            parts.append(self.cycle.work())
        return Work(sum(part.bytes for part in parts), sum(part.flops for part in parts), "float64")

    def facts(self) -> dict[str, float]:
        """Return what tables show of the hierarchy and the matrices."""
        if self.hierarchy is None:
            return {"levels": 1}
        return {
            "levels": len(self.hierarchy.levels), "operator_complexity": self.hierarchy.operator_complexity,
            "coarsest_rows": self.hierarchy.levels[-1].rows,
        } | self.cycle.facts()  # fmt: skip

    def _permuted(self, vector):
        array = self.device.xp.asarray(vector, dtype=np.float64)
        if array.shape != (self.n,):
            raise ValueError(f"a vector of shape {array.shape}; the matrix has {self.n} rows")
        return self.device.array(array if self._order is None else array[self._order])

    def _verified(self, outcome: Outcome, b, tolerance: float) -> Outcome:
        found = self.iteration.true_residual(b, self._x)
        return outcome if found <= TRUSTED * tolerance else replace(outcome, status=INACCURATE, residual=found)
