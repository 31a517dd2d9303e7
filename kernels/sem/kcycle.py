"""The coarse preconditioner P_0: unsmoothed aggregation with a K-cycle and damped Jacobi (section 4.1.1; Notay 2010).

A cycle is a step of Jacobi, a correction from the aggregates, and another step. The correction is found by two steps of
conjugate gradients that a cycle on the coarser level preconditions, and so is the finest level's system: piecewise
constants are too stiff, which the steps' lengths make up for. The coarsest is solved directly. The lengths depend on
the right-hand side, so that P_0 is no linear map, though nearly one.

On the finest level the two steps are taken again for what they left, `corrections` times in all. One makes the fastest
solver, but for the largest meshes; `NEAR_EXACT` take the iterations of an exact solve or one more, and `EXACT` cannot
be told from that. Level k is come to 2^(k + 1) times as often. With one cycle on the finest level in place of all this,
which is the paper's text to the letter, iterations grow with the mesh. Notes: docs/notes/sem.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import Csr
from kernels.amg.coarsest import symmetric_inverse
from kernels.amg.spectrum import spectral_radius
from kernels.amg.transfer import DenseSolve
from kernels.device.base import taped
from kernels.sem.aggregates import hierarchy
from kernels.sem.gather import places_of
from kernels.sem.triplets import summed
from repro import Work

SOURCE = Path(__file__).with_name("kcycle.c")
NEAR_EXACT, EXACT = 3, 8  # corrections
# Rows of a slice and threads of a block on a GPU; a processor takes a row after the other.
SHAPES = {True: (32, 128), False: (1, 1)}
SIDE = 8  # entries that a processor adds side by side: its rows are filled up to so many
COARSEST = 1000  # rows at which a dense inverse costs less than the launches of a further level
MOST_DENSE = 8192
ALONE = 700  # rows of a level that one thread of a processor does as soon as all: they are one block
REAL = {"float64": "double", "float32": "float"}


def build(is_gpu: bool, dtype: str) -> tuple:
    """Return the build for vectors of `dtype` on a GPU or a processor."""
    rows, block = SHAPES[is_gpu]
    # Registers as many as it takes: at NVRTC's own 32 loads wait for one another.
    return SOURCE, block, {"real": REAL[dtype], "SLICE": rows, "MIN_BLOCKS": 1}


BUILDS = [build(is_gpu, dtype) for is_gpu in (True, False) for dtype in REAL]


class Hierarchy:
    """Levels with what cycles need of each, but for the inverse of the coarsest: cycles may stop at any of them.

    Parameters
    ----------
    device : kernels.device.Device
    levels : list of kernels.sem.aggregates.Level
    dtype : {'float32', 'float64'}
    """

    def __init__(self, device, levels, dtype: str):
        _, block, _ = build(device.is_gpu, dtype)
        self.levels, self.packed = levels, [_Packed(device, level, dtype, block) for level in levels[:-1]]

    def until(self, coarsest: int) -> int:
        """Return the number of the first level of at most so many rows, or of the last."""
        rows = [level.matrix.shape[0] for level in self.levels]
        return next((number for number, count in enumerate(rows) if count <= coarsest), len(rows) - 1)


class KCycle:
    """z = P_0 r.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : CSR of `device.sparse`, (n, n) float64, or Hierarchy
        Symmetric positive definite. A hierarchy is of such a matrix and of `dtype`, and goes down to `coarsest`.
        Cycles that share one take turns: its levels have the vectors that they work on.
    dtype : {'float32', 'float64'}
    coarsest : int, optional
        Rows of a level that is solved directly.
    steps : {2, 1}, optional
        Of conjugate gradients on the finest level; 1 is a cycle alone.
    corrections : int, optional
        Times that the two steps are taken, each time for what is left.

    Attributes
    ----------
    rows : list of int
        Of each level.
    operator_complexity : float
        Non-zeros of all matrices over the non-zeros of the finest.

    Raises
    ------
    ValueError
        For a matrix whose couplings are too weak to be aggregated down to a size that can be inverted.
    kernels.amg.checks.UnsuitableMatrix
        For a matrix that is not positive definite.
    """

    def __init__(
        self, device, matrix, dtype: str = "float32", coarsest: int = COARSEST, steps: int = 2,
        corrections: int = 1,
    ):  # fmt: skip
        self.device, self.dtype, self.steps = device, np.dtype(dtype), steps
        if not isinstance(matrix, Hierarchy):
            matrix = Hierarchy(device, hierarchy(device, matrix, coarsest), dtype)
        end = matrix.until(coarsest)
        levels, self._levels = matrix.levels[: end + 1], matrix.packed[:end]
        last = levels[-1].matrix
        if last.shape[0] > max(MOST_DENSE, coarsest):
            raise ValueError(f"{last.shape[0]} unknowns hardly coupled to one another: they do not aggregate further")
        self.rows = [level.matrix.shape[0] for level in levels]
        self.operator_complexity = sum(level.matrix.nnz for level in levels) / levels[0].matrix.nnz
        dense = last.toarray()
        inverse = symmetric_inverse(device, device.array((dense + dense.T) / 2))
        self._direct = DenseSolve(device, inverse, dtype, (dtype, dtype))
        self._kernels = device.build(*build(device.is_gpu, dtype))
        self.corrections = corrections if self._levels else 1  # what is solved directly leaves nothing
        self._of, self._taped = (None, None), None  # on a processor: the vectors, and the launches for them
        self._left = device.empty(self.rows[0] if self.corrections > 1 else 0, dtype)

    def apply(self, r, z) -> None:
        """Enqueue z = P_0 r for (n,) device arrays of `dtype`."""
        if self.device.is_gpu:
            self._apply(r, z)
            return
        if self._of[0] is not r or self._of[1] is not z:
            self._of, self._taped = (r, z), taped(lambda: self._apply(r, z))
        self._taped()

    def _apply(self, r, z) -> None:
        finest = self._levels[0] if self._levels else None
        if finest:
            self._kernels.scale(finest.blocks, finest.rows, finest.chunk, finest.damped, r, finest.scaled)
        if self.steps == 1:
            self._cycle(0, r, z)
            return
        self._correct(0, r, z)
        for _ in range(self.corrections - 1):
            self._kernels.remaining(
                finest.blocks, finest.rows, finest.chunk, *finest.arrays, r, z, finest.damped, self._left, finest.scaled
            )
            self._correct(0, self._left, z, adds=True)

    def _cycle(self, number: int, b, x) -> None:
        """Enqueue one cycle on a level, from zero; b stands scaled there."""
        if number == len(self._levels):
            self._direct.solve(b, x)
            return
        level, kernels = self._levels[number], self._kernels
        coarser = self._levels[number + 1] if number + 1 < len(self._levels) else None
        damped, scaled = (coarser.damped, coarser.scaled) if coarser else (None, None)
        kernels.before(level.blocks, level.rows, level.chunk, *level.arrays, level.scaled, b, level.rest)
        kernels.restrict_sums(
            level.member_blocks, level.aggregates, *level.members, level.rest, damped, level.coarse_b, scaled
        )
        self._correct(number + 1, level.coarse_b, level.coarse_x)
        kernels.after(
            level.blocks, level.rows, level.chunk, *level.coupled, level.damped, level.labels, level.scaled,
            level.rest, level.coarse_x, x,
        )  # fmt: skip

    def _correct(self, number: int, b, x, adds: bool = False) -> None:
        """Enqueue two steps of conjugate gradients on a level, preconditioned by a cycle; the direct solve is exact."""
        if number == len(self._levels):
            self._direct.solve(b, x)
            return
        level, kernels = self._levels[number], self._kernels
        size = level.blocks, level.rows, level.chunk, level.blocks
        self._cycle(number, b, level.c)
        kernels.first_product(*size, *level.arrays, level.c, b, level.v, level.first)
        kernels.residual(*size, level.first, b, level.v, level.damped, level.left, level.scaled)
        self._cycle(number, level.left, level.d)
        kernels.second_product(*size, *level.arrays, level.d, level.v, level.left, level.second)
        kernels.combine(*size, int(adds), level.first, level.second, level.c, level.d, x)

    def work(self) -> Work:
        """Return the least work of `apply`, each level as often as it is come to."""
        memory = flops = 0
        for number, level in enumerate(self._levels):
            vector = self.dtype.itemsize * level.rows
            cycle = (
                level.matrix_bytes + level.coupled_bytes + 8 * vector + 8 * level.rows
            )  # the last: labels and members
            if self.steps == 1 and number == 0:
                memory, flops = cycle, 2 * (level.nonzeros + level.couplings)
                continue
            visits = 2**number * self.steps * self.corrections // 2
            memory += visits * (2 * cycle + 2 * level.matrix_bytes + 12 * vector)
            flops += visits * (8 * level.nonzeros + 4 * level.couplings)
            if number == 0:
                memory += (self.corrections - 1) * (level.matrix_bytes + 3 * vector)
                flops += (self.corrections - 1) * 2 * level.nonzeros
        direct, visits = self._direct.work(), max(1, 2 ** len(self._levels) * self.steps * self.corrections // 2)
        return Work(memory + visits * direct.bytes, flops + visits * direct.flops, self.dtype.name)


class _Packed:
    """A level on the device: its matrix in slices, what Jacobi and the transfers need, and the vectors of a cycle."""

    def __init__(self, device, level, dtype: str, block: int):
        xp, matrix = device.xp, level.matrix
        self.rows, self.nonzeros, self.aggregates = matrix.shape[0], matrix.nnz, level.aggregates
        coo = matrix.tocoo()
        coupled = summed(device, coo.data, coo.row, xp.asarray(level.labels)[coo.col], self.rows)  # A P
        self.couplings, each = coupled.nnz, 4 + np.dtype(dtype).itemsize
        self.arrays, entries = _sliced(device, matrix, dtype)
        self.coupled, between = _sliced(device, coupled, dtype)
        self.matrix_bytes, self.coupled_bytes = entries * each, between * each
        diagonal = xp.ascontiguousarray(matrix.diagonal())
        offsets, columns, values = (device.array(a) for a in (matrix.indptr, matrix.indices, matrix.data))
        radius = spectral_radius(device, Csr(matrix.shape, offsets, columns, values), device.array(diagonal))
        self.damped = device.array(4 / 3 / radius / diagonal, dtype)
        members = places_of(level.labels, level.aggregates, xp)
        self.labels, self.members = device.array(level.labels), [device.array(array) for array in members]
        self.member_blocks = -(-level.aggregates // block)
        most = (8 if device.is_gpu else 4) * device.compute_units
        if not device.is_gpu and self.rows <= ALONE:
            most = 1
        self.chunk = -(-max(block, -(-self.rows // most)) // block) * block
        self.blocks = -(-self.rows // self.chunk)
        self.rest, self.c, self.d, self.v, self.left, self.scaled = (device.empty(self.rows, dtype) for _ in range(6))
        self.coarse_b, self.coarse_x = (device.empty(level.aggregates, dtype) for _ in range(2))
        self.first, self.second = (device.empty(count * self.blocks, "float64") for count in (2, 3))


def _sliced(device, matrix, dtype: str):
    """Return the slices' offsets, columns and values, and the number of entries with padding."""
    xp, rows, (size, _) = device.xp, matrix.shape[0], SHAPES[device.is_gpu]
    side = 1 if device.is_gpu else SIDE
    lengths = xp.zeros(-(-rows // size) * size, dtype="int64")
    lengths[:rows] = xp.diff(matrix.indptr)
    lengths = -(-lengths // side) * side
    offsets = xp.zeros(len(lengths) // size + 1, dtype="int64")
    offsets[1:] = xp.cumsum(lengths.reshape(-1, size).max(axis=1) * size)
    row = xp.searchsorted(matrix.indptr[1:], xp.arange(matrix.nnz, dtype=matrix.indptr.dtype), side="right")
    place = offsets[row // size] + row % size + size * (xp.arange(matrix.nnz) - matrix.indptr[row].astype("int64"))
    entries = int(offsets[-1])
    columns, values = xp.full(entries, -1 if device.is_gpu else 0, dtype="int32"), xp.zeros(entries, dtype=dtype)
    columns[place], values[place] = matrix.indices, matrix.data
    return [device.array(array) for array in (offsets, columns, values)], entries
