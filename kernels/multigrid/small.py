"""All small levels of a cycle in one launch: what a cycle does below some level, by one block."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("small.c")
GPU_BLOCK, CPU_BLOCK = 512, 8
REAL = {"float64": "double", "float32": "float"}
SHAPES = ((GPU_BLOCK, 0, "double"), (GPU_BLOCK, 1, "float"), (CPU_BLOCK, 1, "double"))
BUILDS = [(SOURCE, block, {"MEMORY": memory, "real": real}) for block, memory, real in SHAPES]


class SmallLevels:
    """A V-cycle from zero over some levels, with a smoother of steps x += a D⁻¹ (b - A x) + c (the step before).

    Parameters
    ----------
    device : kernels.device.Device
    levels : sequence of kernels.multigrid.level.Level
        The coarsest first, of which the last one's `b` is given and `x` is written.
    grids : sequence of kernels.multigrid.systems.Grid
    coefficients : (levels, steps, 2) array
        a and c of each step; the coarsest level's are not used.
    tolerance : float
        Of the conjugate gradients on the coarsest level.
    """

    def __init__(self, device, levels, grids, coefficients, tolerance: float, max_iterations: int = 1000):
        self.device, self.top, dtype = device, levels[-1], levels[0].dtype
        coefficients = np.asarray(coefficients, dtype)
        block = GPU_BLOCK if device.is_gpu else CPU_BLOCK
        defines = {"MEMORY": int(coefficients[:, :, 1].any()), "real": REAL[dtype.name]}
        layout, columns, values, vectors = _packed(levels, grids, dtype, device)
        coarsest = on_host(grids[0].matrix)
        self.unknowns, steps = levels[-1].n, coefficients.shape[1]
        self._arguments = [len(levels) - 1, steps, max_iterations, tolerance,
                           *(device.array(part) for part in (layout, coefficients.ravel(), columns, values)),
                           device.array(coarsest.indptr, np.int32), device.array(coarsest.indices, np.int32),
                           device.array(coarsest.data, dtype)]  # fmt: skip
        self._vectors, self._iterations = device.array(vectors), device.zeros(1, np.int32)
        self._kernel = device.build(SOURCE, block=block, defines=defines).small_cycle

    def enqueue(self) -> None:
        """Enqueue the cycle."""
        self._kernel(1, *self._arguments, self.top.b, self.top.x, self._vectors, self._iterations)


def on_host(matrix):
    """Return a matrix of the set-up as one of SciPy."""
    return matrix.get() if hasattr(matrix, "get") else matrix


def _packed(levels, grids, dtype, device):
    """Return the arrays that ``small.c`` describes: layout, columns, values and vectors."""
    layout, columns, values, vectors, place, begin = [], [], [], [], 0, 0
    for number, (level, grid) in enumerate(zip(levels, grids, strict=True)):
        fields = [level.n, begin]
        prolongator = None if number == 0 else on_host(grid.prolongator)
        for matrix in (None, None, None) if number == 0 else (on_host(grid.matrix), prolongator.T.tocsr(), prolongator):
            if matrix is None:
                fields += [0, 0]
                continue
            made = by_columns(matrix, dtype)
            fields += [len(made[0]), place]
            columns.append(made[0].ravel())
            values.append(made[1].ravel())
            place += made[0].size
        layout.append(fields)
        own = np.zeros((6, level.n), dtype)
        own[5] = device.to_host(level.inverse_diagonal)
        vectors.append(own.ravel())
        begin += own.size
    return (np.array(layout, np.int32).ravel(), np.concatenate(columns).astype(np.int32), np.concatenate(values),
            np.concatenate(vectors))  # fmt: skip


def by_columns(matrix, dtype):
    """Return columns and values of a CSR matrix, (width, rows), padded with zeros at the first column of a row."""
    rows, lengths = matrix.shape[0], np.diff(matrix.indptr)
    width = max(1, int(lengths.max(initial=0)))
    columns = np.zeros((width, rows), np.int32)
    columns[:, lengths > 0] = matrix.indices[matrix.indptr[:-1][lengths > 0]]
    values = np.zeros((width, rows), dtype)
    row = np.repeat(np.arange(rows), lengths)
    place = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], lengths)
    columns[place, row], values[place, row] = matrix.indices, matrix.data
    return columns, values
