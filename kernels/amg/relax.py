"""Block Jacobi relaxation on patches, its inner iterations weighted Jacobi ones in shared memory (fu2014, section 5.2.2).

With D the diagonal of A and A_p its part within patches, n inner iterations from zero are B⁻¹ = Σ_{k<n} (I - ω D⁻¹ A_p)ᵏ
ω D⁻¹, which is symmetric. The paper gives no weights. Here ω is 4/3 over the spectral radius of D⁻¹ A, so that B is
positive definite for every n, and the outer weight is 1 unless the largest eigenvalue of B⁻¹ A, which some steps of the
power method estimate from below, comes near 2, beyond which the V-cycle would not be positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.amg import patch_matrix
from kernels.amg.patch_matrix import REAL, PatchMatrix
from repro import Work

SOURCE = Path(__file__).with_name("relax.c")
INNER = 4 / 3  # times 1 / ρ: eigenvalues of the iteration lie between -1/3 and 1
LARGEST = 1.7  # of the estimate of B⁻¹ A that is left alone: the power method may be 15 % short
POWER_STEPS = 12
# Entries that a thread keeps in registers, in steps, so that builds are few.
WIDTHS = {"symcoo": (4, 8, 16), "half": (4, 8, 12, 16), "ell": (8, 16, 24, 32), "csr": (1,)}
POOL_STEP = 1024
RESIDENT_THREADS = 1024  # of a multiprocessor, for which registers are bounded


def build_setting(inside: str, dtype: str, block: int, width: int, more: int, entries: int, ends: tuple[str, str]):
    """Return the defines of a build of the relaxation kernels.

    Parameters
    ----------
    width : int
        Entries in registers.
    more : int
        Values in shared memory besides three a row.
    entries : int
        Of `csr`, the most of a patch.
    ends : (str, str)
        Types of the right-hand side and of the result.
    """
    return patch_matrix.defines(inside, REAL[dtype]) | {
        "WIDTH": width, "POOL": 3 * block + more, "MOST_ENTRIES": entries,
        "rhs_real": REAL[ends[0]], "result_real": REAL[ends[1]], "MIN_BLOCKS": max(1, RESIDENT_THREADS // block),
    }  # fmt: skip


BUILDS = [
    (SOURCE, 512, build_setting("symcoo", "float32", 512, 8, 0, 1, ("float64", "float64"))),
    (SOURCE, 512, build_setting("half", "float32", 512, 8, 4097, 1, ("float64", "float64"))),
    (SOURCE, 1024, build_setting("half", "float64", 1024, 12, 8193, 1, ("float64", "float64"))),
    (SOURCE, 256, build_setting("ell", "float32", 256, 16, 0, 1, ("float32", "float32"))),
    (SOURCE, 256, build_setting("csr", "float32", 256, 1, 6144, 4096, ("float64", "float32"))),
]


def _upwards(value: int, steps) -> int:
    return next((step for step in steps if step >= value), steps[-1])


@dataclass(frozen=True)
class Weights:
    """`inner` is ω, `outer` what a correction is multiplied by; `largest` the estimate of B⁻¹ A that it rests on."""

    inner: float
    outer: float
    largest: float


class PatchRelaxation:
    """Pre- and post-relaxation of one level.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : PatchMatrix
    spectral_radius : float
        Of D⁻¹ A.
    iterations : int
        Inner iterations n.
    ends : (str, str), optional
        dtypes of the right-hand side and of what post-relaxation writes; by default those of the matrix.

    Attributes
    ----------
    weights : Weights
    """

    def __init__(self, device, matrix: PatchMatrix, spectral_radius: float, iterations: int, ends=None):
        if iterations < 1:
            raise ValueError(f"{iterations} inner iterations")
        self.device, self.matrix, self.iterations = device, matrix, iterations
        self._ends = ends or (matrix.dtype, matrix.dtype)
        self._kernels = self._build(self._ends)
        self.weights = Weights(INNER / spectral_radius, 1.0, 0.0)
        largest = self._largest_eigenvalue()
        self.weights = Weights(INNER / spectral_radius, min(1.0, LARGEST / largest) if largest > 0 else 1.0, largest)

    def _build(self, ends):
        matrix, inside = self.matrix, self.matrix.inside
        most = {"symcoo": -(-matrix.most_entries // matrix.block), "csr": 1}.get(inside, matrix.widest)
        width, more, entries = _upwards(most, WIDTHS[inside]), 0, 1
        if inside == "half":
            more = -(-(matrix.most_slots + 1) // POOL_STEP) * POOL_STEP
        if inside == "csr":
            entries = -(-max(matrix.most_entries, 1) // POOL_STEP) * POOL_STEP
            more = entries + entries * 2 // np.dtype(matrix.dtype).itemsize
        setting = build_setting(inside, matrix.dtype, matrix.block, width, more, entries, ends)
        return self.device.build(SOURCE, block=matrix.block, defines=setting)

    def _numbers(self):
        matrix = self.matrix
        return (
            self.iterations, self.weights.inner, self.weights.outer, matrix.headers, matrix.order, matrix.slices,
            matrix.values, matrix.columns, matrix.incoming, matrix.diagonal,
        )  # fmt: skip

    def _boundary(self):
        matrix = self.matrix
        return matrix.boundary_order, matrix.boundary_slices, matrix.boundary_values, matrix.boundary_columns

    def before(self, b, u, residual) -> None:
        """Enqueue prerelaxation from zero: u = B⁻¹ b and residual = b - (A_I + A_D) u."""
        self._kernels.prerelax(self.matrix.patches, *self._numbers(), b, u, residual)

    def compensate(self, u, residual) -> None:
        """Enqueue residual -= A_B u."""
        self._kernels.compensate(self.matrix.patches, self.matrix.headers, *self._boundary(), u, residual)

    def after(self, b, u, result) -> None:
        """Enqueue post-relaxation: result = u + B⁻¹ (b - A u); `result` is another array than `u`."""
        self._kernels.postrelax(self.matrix.patches, *self._numbers(), *self._boundary(), b, u, result)

    def _largest_eigenvalue(self) -> float:
        """Return an estimate from below of the largest eigenvalue of B⁻¹ A by the power method.

        With the kernels alone: v - (post-relaxation of v for the right-hand side 0) is B⁻¹ A v.
        """
        device, matrix, xp = self.device, self.matrix, self.device.xp
        kernels = self._build((matrix.dtype, matrix.dtype))
        zero, moved = (device.zeros(matrix.rows, matrix.dtype) for _ in range(2))
        found = xp.arange(matrix.rows, dtype=xp.uint32)
        for shift, factor in (
            (16, 0x7FEB352D),
            (15, 0x846CA68B),
        ):  # numbers as good as random, the same on every device
            found = (found ^ (found >> xp.uint32(shift))) * xp.uint32(factor)
        vector = (found >> xp.uint32(8)).astype(matrix.dtype) / 2**23 - 1
        norm, largest = xp.sqrt(xp.vdot(vector, vector)), None
        for _ in range(POWER_STEPS):
            vector = device.array((vector / norm).astype(matrix.dtype))
            kernels.postrelax(matrix.patches, *self._numbers(), *self._boundary(), zero, vector, moved)
            vector = patch_matrix.namespaced(device, vector) - patch_matrix.namespaced(device, moved)
            norm = largest = xp.sqrt(xp.vdot(vector, vector))
        return float(largest)

    def before_work(self) -> Work:
        """Return the least work of prerelaxation: half of A_I, b and the diagonal read, u and the residual written."""
        matrix = self.matrix
        real, first = np.dtype(matrix.dtype).itemsize, np.dtype(self._ends[0]).itemsize
        moved = matrix.least_bytes_inside + (3 * real + first) * matrix.rows
        return Work(moved, self._flops(self.iterations), matrix.dtype)

    def after_work(self) -> Work:
        """Return the least work of post-relaxation: A_I and A_B, b, u and the diagonal read, the result written."""
        matrix = self.matrix
        real, ends = np.dtype(matrix.dtype).itemsize, sum(np.dtype(end).itemsize for end in self._ends)
        moved = matrix.least_bytes_inside + self._boundary_bytes() + (2 * real + ends) * matrix.rows
        return Work(moved, self._flops(self.iterations) + 2 * matrix.nonzeros_boundary, matrix.dtype)

    def compensate_work(self) -> Work:
        """Return the least work of the compensation: A_B and u read, the residual read and written."""
        matrix = self.matrix
        moved = self._boundary_bytes() + 3 * np.dtype(matrix.dtype).itemsize * matrix.rows
        return Work(moved, 2 * matrix.nonzeros_boundary, matrix.dtype)

    def _boundary_bytes(self) -> int:
        return self.matrix.nonzeros_boundary * (np.dtype(self.matrix.dtype).itemsize + 4)

    def _flops(self, products: int) -> int:
        return products * (2 * self.matrix.nonzeros_inside + 6 * self.matrix.rows)
