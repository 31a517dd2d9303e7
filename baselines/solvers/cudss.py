"""NVIDIA's direct solver cuDSS through nvmath-python: reordering and factors are its set-up, substitution its solve."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from baselines.nvmath import library as nvmath
from baselines.solvers.rival import Rival

LIBRARIES = ("nvidia-cudss", "nvmath-python")
REMEDY = "an NVIDIA GPU with a driver for CUDA 13, and pip install nvmath-python nvidia-cudss-cu13"
TITLE = "cuDSS, a direct solver: factors of the symmetric matrix in double precision, through nvmath-python"


class CuDss(Rival):
    """cuDSS on the current CUDA device; the matrix's upper half and the right-hand side are there before set-up."""

    on_gpu = True

    def __init__(self, cupy, sparse, advanced, *system):
        super().__init__(*system)
        upper = scipy.sparse.triu(self.matrix, format="csr")
        upper.sort_indices()
        self._cupy, self._advanced, self._solver = cupy, advanced, None
        self._upper, self._b = sparse.csr_matrix(upper), cupy.asarray(self.rhs)

    def set_up(self):
        self.close()
        options = self._advanced.DirectSolverOptions(
            sparse_system_type=self._advanced.DirectSolverMatrixType.SPD,
            sparse_system_view=self._advanced.DirectSolverMatrixViewType.UPPER,
        )
        self._solver = self._advanced.DirectSolver(self._upper, self._b, options=options)
        self._solver.plan()
        self._solver.factorize()
        self._cupy.cuda.Device().synchronize()

    def solve(self):
        self._x = self._solver.solve()
        self._cupy.cuda.Device().synchronize()
        self.iterations = 1

    def residual(self):
        self.x = np.asarray(self._x.get())
        return super().residual()

    def close(self):
        if self._solver is not None:
            self._solver.free()
            self._solver = None


def prepare(matrix, rhs, tolerance, max_iterations):
    """Return the rival for a system; see `baselines.solvers.prepare`."""
    cupy, _ = nvmath("cudss", REMEDY)
    import cupyx.scipy.sparse
    from nvmath.sparse import advanced

    return CuDss(cupy, cupyx.scipy.sparse, advanced, matrix, rhs, tolerance, max_iterations)
