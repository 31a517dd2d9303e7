"""The solver's data of a level on the device: packed matrices, vectors, the smoother."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.multigrid.operators import REAL, Operator
from repro import Work

SOURCE = Path(__file__).with_name("coarse.c")
GPU_BLOCK, CPU_BLOCK = 256, 8
BUILDS = [(SOURCE, block, {"real": real}) for block in (GPU_BLOCK, CPU_BLOCK) for real in ("double", "float")]


class Level:
    """One level of a cycle.

    Parameters
    ----------
    device : kernels.device.Device
    grid : kernels.multigrid.systems.Grid
    pack : callable
        From a CSR matrix to what multiplies by it, with ``multiply(x, y, alpha, beta)`` and ``least_work()``.
    fuse : bool
        Use kernels that do a product and the vector operations around it at once, where the format has them.
    dtype : {'float64', 'float32'}
        Of the vectors, and of what `pack` makes.
    rounded : {'float64', 'float32'}, optional
        Of a measured defect; by default `dtype`.

    Attributes
    ----------
    b, x, spare, defect : (n,) arrays
        Right-hand side, iterate, where the next iterate goes, and b - A x.
    memory : (n,) array or None
        The smoother's, kept between steps.
    """

    def __init__(self, device, grid, pack: Callable, fuse: bool = True, dtype="float64", rounded=None):
        xp = device.xp
        self.device, self.pack, self.n, self.dtype = device, pack, int(grid.matrix.shape[0]), np.dtype(dtype)
        diagonal = grid.matrix.diagonal()
        self.set_up_inverse_diagonal = xp.where(diagonal != 0, 1 / xp.where(diagonal != 0, diagonal, 1.0), 0.0)
        self.inverse_diagonal = device.array(self.set_up_inverse_diagonal, self.dtype)
        self.operator = Operator(
            device, pack(grid.matrix), self.inverse_diagonal, fuse, self.dtype, rounded or self.dtype
        )
        self.b, self.defect, self._first, self._second = (device.zeros(self.n, self.dtype) for _ in range(4))
        self.memory = None
        self.reset()

    def reset(self) -> None:
        """Put `x` and `spare` back to where they were made, so that every cycle works on the same arrays."""
        self.x, self.spare = self._first, self._second

    def swap(self) -> None:
        """Make what was written last the iterate."""
        self.x, self.spare = self.spare, self.x

    def need_memory(self) -> None:
        """Make room for a vector that the smoother keeps between steps."""
        self.memory = self.device.zeros(self.n, self.dtype)


class CoarsestSolver:
    """Jacobi-preconditioned conjugate gradients on the coarsest level, by so many digits, in a single launch.

    A block does it all, as suits the few hundred unknowns of a coarse mesh; with very many it is right, and slow.
    """

    def __init__(self, device, level: Level, grid, tolerance: float, max_iterations: int = 1000):
        self.level, self.settings = level, (max_iterations, tolerance)
        matrix = grid.matrix
        types = np.int32, np.int32, level.dtype
        self._matrix = [device.array(part, dtype) for part, dtype in
                        zip((matrix.indptr, matrix.indices, matrix.data), types, strict=True)]  # fmt: skip
        self._work = [device.zeros(level.n, level.dtype) for _ in range(3)]
        self._iterations = device.zeros(1, np.int32)
        self._device = device
        self._kernel = device.build(
            SOURCE, block=GPU_BLOCK if device.is_gpu else CPU_BLOCK, defines={"real": REAL[level.dtype.name]}
        ).conjugate_gradient

    def enqueue(self) -> None:
        """Enqueue the solution of A x = b."""
        level = self.level
        self._kernel(1, level.n, *self.settings, *self._matrix, level.inverse_diagonal, level.b, *self._work, level.x,
                     self._iterations)  # fmt: skip

    @property
    def iterations(self) -> int:
        """Of the last solve."""
        return int(self._device.to_host(self._iterations)[0])

    def work(self) -> Work:
        """Return the least work: reading the system once."""
        return Work(sum(int(part.nbytes) for part in self._matrix) + 3.0 * self.level.dtype.itemsize * self.level.n)
