"""Block Jacobi relaxation on patches, with weighted Jacobi iterations inside them (fu2014, section 5.2.2).

With D the diagonal of A and A_p its part within patches, n inner iterations from zero are the symmetric

    B⁻¹ = Σ_{k<n} (I - ω D⁻¹ A_p)ᵏ ω D⁻¹.

The paper gives no weights. Here ω is 1.8 over a safe estimate of the spectral radius of D⁻¹ A, so that B is positive
definite for every n. The outer weight is 1 unless the largest eigenvalue of B⁻¹ A comes near 2. Beyond 2 the V-cycle
would not be positive definite. Some steps of the power method estimate that eigenvalue, from below. With n = 1 this is
the Jacobi method on the whole matrix.

On an H200 shared memory binds, by what it has to pass on and by conflicts of its banks, then the issue of instructions.
Notes, with what was tried: docs/notes/amg.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kernels.amg import patch_matrix, power_method
from kernels.amg.patch_matrix import REAL, PatchMatrix
from repro import Work

SOURCE, COMPENSATE = (Path(__file__).with_name(name) for name in ("relax.c", "compensate.c"))
COMPENSATE_BLOCK = 256
INNER = 1.8  # over ρ: as large as leaves a margin to 2
LARGEST = 1.5  # of the estimate that is left alone, as it may fall short
# Entries that a thread keeps in registers: as many as its rows have, in steps so that builds are few, and no more than
# let RESIDENT threads share a multiprocessor, where there are patches enough for that.
WIDTHS = {"symcoo": (4, 8, 16, 32), "half": (8, 16, 32), "ell": (8, 16, 32, 48), "csr": (1,)}
RESIDENT = {"symcoo": (8, 1536), "half": (8, 1536), "ell": (16, 1280), "csr": (1, 2048)}


def build_setting(inside, dtype, block: int, width: int, more: int, entries: int, ends, resident=1, tail=False):
    """Return the defines of a build of the relaxation kernels.

    Parameters
    ----------
    width : int
        Entries in registers.
    more : int
        Values in shared memory besides the rows'.
    entries : int
        Of `csr`, the most of a patch.
    ends : (str, str)
        dtypes of the right-hand side and of the result.
    resident : int
        Threads of a multiprocessor that registers shall allow.
    tail : bool
        Whether rows have more entries than `width`.
    """
    return patch_matrix.defines(inside, REAL[dtype]) | {
        "WIDTH": width, "TAIL": tail, "POOL": patch_matrix.ROW_ARRAYS * block + more, "MOST_ENTRIES": entries,
        "rhs_real": REAL[ends[0]], "result_real": REAL[ends[1]], "MIN_BLOCKS": max(1, resident // block),
    }  # fmt: skip


BUILDS = [
    (SOURCE, 384, build_setting("symcoo", "float32", 384, 8, 0, 1, ("float64", "float64"), 1536)),
    (SOURCE, 384, build_setting("half", "float32", 384, 8, 4096, 1, ("float64", "float64"), 1536, True)),
    (SOURCE, 1024, build_setting("half", "float64", 1024, 32, 8192, 1, ("float64", "float64"))),
    (SOURCE, 256, build_setting("ell", "float32", 256, 16, 0, 1, ("float32", "float32"), 1280, True)),
    (SOURCE, 256, build_setting("csr", "float32", 256, 1, 6144, 4096, ("float64", "float32"), 2048)),
    *((COMPENSATE, COMPENSATE_BLOCK, {"real": real}) for real in REAL.values()),
]


def _upwards(value: int, steps) -> int:
    return next((step for step in steps if step >= value), steps[-1])


@dataclass(frozen=True)
class Weights:
    """`inner` is ω, `outer` what a correction is multiplied by; `largest` the estimate of B⁻¹ A that it rests on."""

    inner: float
    outer: float
    largest: float


def certain_builds(dtype: str, result: str) -> list[tuple]:
    """Return the builds that do not depend on the matrix: the compensation's and the power method's."""
    compensation = COMPENSATE, COMPENSATE_BLOCK, {"real": REAL[dtype]}
    return [compensation, *power_method.builds(dtype, result)]


def builds(device, matrix: PatchMatrix, ends: tuple[str, str]) -> list[tuple]:
    """Return all builds of a relaxation, its own kernels' first."""
    inside, size = matrix.inside, np.dtype(matrix.dtype).itemsize
    most = {"symcoo": -(-matrix.most_entries // matrix.block), "csr": 1}.get(inside, matrix.widest)
    width, resident = _upwards(most, WIDTHS[inside]), 1
    if matrix.patches * matrix.block > device.compute_units * RESIDENT[inside][1]:
        width, resident = min(width, RESIDENT[inside][0]), RESIDENT[inside][1] * 4 // size
    more = patch_matrix.shared_values(inside, matrix.dtype, matrix.most_entries, matrix.most_slots)
    entries = more * size // (size + 2)
    setting = build_setting(inside, matrix.dtype, matrix.block, width, more, entries, ends, resident, tail=most > width)
    return [(SOURCE, matrix.block, setting), *certain_builds(matrix.dtype, ends[1])]


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
        dtypes of the right-hand side and of what post-relaxation writes; by default the matrix's.

    Attributes
    ----------
    weights : Weights
        The outer one is 1 until `estimate` has set it.
    """

    def __init__(self, device, matrix: PatchMatrix, spectral_radius: float, iterations: int, ends=None):
        if iterations < 1:
            raise ValueError(f"{iterations} inner iterations")
        self.device, self.matrix, self.iterations = device, matrix, iterations
        self.ends = ends or (matrix.dtype, matrix.dtype)
        relaxation, compensation, _ = builds(device, matrix, self.ends)
        self._kernels, self._compensate = device.build(*relaxation), device.build(*compensation).compensate
        self.weights = Weights(INNER / spectral_radius, 1.0, 0.0)

    def _numbers(self):
        return self.iterations, self.weights.inner, self.weights.outer, *self._held()

    def _held(self):
        matrix = self.matrix
        return (matrix.headers, matrix.order, matrix.slices, matrix.values, matrix.columns, matrix.incoming,
                matrix.diagonal)  # fmt: skip

    def before(self, b, u, residual) -> None:
        """Enqueue prerelaxation from zero: u = B⁻¹ b and residual = b - A u."""
        self.prerelax(b, u, residual)
        self.compensate(u, residual)

    def prerelax(self, b, u, residual) -> None:
        """Enqueue u = B⁻¹ b and residual = b - (A_I + A_D) u, the paper's merged kernel."""
        self._kernels.prerelax(self.matrix.patches, *self._numbers(), b, u, residual)

    def prerelax_apart(self, b, u, residual) -> None:
        """Enqueue the same in two kernels, which read the matrix twice: what the paper's merger is compared with."""
        self._kernels.prerelax(self.matrix.patches, *self._numbers(), b, u, None)
        self._kernels.residue(self.matrix.patches, *self._held(), b, u, residual)

    def compensate(self, u, target) -> None:
        """Enqueue target -= A_B u."""
        matrix = self.matrix
        slices = matrix.boundary_slices.shape[0]
        self._compensate(
            -(-slices * patch_matrix.SLICE // COMPENSATE_BLOCK), slices, matrix.boundary_order, matrix.boundary_slices,
            matrix.boundary_values, matrix.boundary_columns, u, target,
        )  # fmt: skip

    def after(self, rest, u, result) -> None:
        """Enqueue post-relaxation: result = u + B⁻¹ (b - A u), where `rest` holds b and then b - A_B u."""
        self.compensate(u, rest)
        self._kernels.postrelax(self.matrix.patches, *self._numbers(), rest, u, result)

    def prerelax_work(self) -> Work:
        """Return the least work of the merged kernel: half of A_I, b and D read, u and the residual written."""
        matrix = self.matrix
        real, first = np.dtype(matrix.dtype).itemsize, np.dtype(self.ends[0]).itemsize
        moved = matrix.least_bytes_inside + (3 * real + first) * matrix.rows
        return Work(moved, self._flops(self.iterations), matrix.dtype)

    def before_work(self) -> Work:
        """Return the least work of prerelaxation and the compensation of its residual."""
        return self._with_boundary(self.prerelax_work())

    def after_work(self) -> Work:
        """Return the least work of post-relaxation: A, the right-hand side, u and D read, the result written."""
        matrix = self.matrix
        real, last = np.dtype(matrix.dtype).itemsize, np.dtype(self.ends[1]).itemsize
        moved = matrix.least_bytes_inside + (3 * real + last) * matrix.rows
        return self._with_boundary(Work(moved, self._flops(self.iterations), matrix.dtype))

    def compensate_work(self) -> Work:
        """Return the least work of a compensation: A_B and u read, the target read and written."""
        moved = self._boundary_bytes() + 3 * np.dtype(self.matrix.dtype).itemsize * self.matrix.rows
        return Work(moved, 2 * self.matrix.nonzeros_boundary, self.matrix.dtype)

    def _with_boundary(self, work: Work) -> Work:
        added = self.compensate_work()
        return Work(work.bytes + added.bytes, work.flops + added.flops, work.precision)

    def _boundary_bytes(self) -> int:
        return self.matrix.nonzeros_boundary * (np.dtype(self.matrix.dtype).itemsize + 4)

    def _flops(self, products: int) -> int:
        return products * (2 * self.matrix.nonzeros_inside + 6 * self.matrix.rows)


def estimate(device, relaxations, steps: int = power_method.STEPS) -> None:
    """Set the outer weights of relaxations by estimates of the largest eigenvalue of B⁻¹ A, of so many steps.

    The device is asked once for all.
    """
    found = device.empty(len(relaxations), np.float64)
    for place, each in enumerate(relaxations):
        each.weights = replace(each.weights, outer=1.0)
        # v - (post-relaxation of v for the right-hand side 0) is B⁻¹ A v.
        n, dtype = each.matrix.rows, each.matrix.dtype
        power_method.estimate(device, n, each.after, dtype, each.ends[1], steps, found, place)
    for each, largest in zip(relaxations, device.to_host(found).tolist(), strict=True):
        each.weights = Weights(each.weights.inner, min(1.0, LARGEST / largest) if largest > 0 else 1.0, largest)
