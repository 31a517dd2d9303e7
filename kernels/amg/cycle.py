"""The V-cycle on a hierarchy: a symmetric positive definite preconditioner (fu2014, algorithm 5.3).

Prerelaxation starts from zero and leaves the residual without the boundary; the boundary's part is taken off it, it is
restricted, and the coarser level solves for the correction; post-relaxation starts from the corrected u with the
right-hand side b - A_B u, so that the cycle is symmetric for every number of inner iterations. (As printed, algorithm
5.2's residual is b - A r, and the recursions leave out u.)

Iterations grow with the mesh, by more than was aimed at. Two levels alone show most of the growth, from a
smallest mesh of a few patches. More relaxations or W-cycles save iterations, but do not pay for the added launches.
Notes: docs/notes/amg.md.
"""

from __future__ import annotations

import numpy as np

from kernels.amg import patch_matrix, power_method, relax, relax_jacobi, transfer
from kernels.amg.hierarchy import Hierarchy
from kernels.amg.relax import PatchRelaxation
from kernels.amg.relax_jacobi import JacobiRelaxation, MergedJacobi
from kernels.amg.transfer import DenseSolve, Transfer
from repro import Work

JACOBI = {"jacobi": JacobiRelaxation, "jacobi-merged": MergedJacobi}
RELAXATIONS = ("patch", *JACOBI)
MORE_STEPS = 100  # of the power method, where the usual ones fell short: its eigenvector may be of a few flat elements


class Cycle:
    """A V-cycle, with vectors of one level at a time.

    Parameters
    ----------
    device : kernels.device.Device
    hierarchy : Hierarchy
    relaxation : {'patch', 'jacobi', 'jacobi-merged'}, optional
        Block Jacobi on patches, or weighted Jacobi, its kernels apart or merged as the patches' kernels are.
    inner_iterations : int, optional
        Of 'patch'.
    inside : {'symcoo', 'half', 'ell', 'csr'}, optional
        Format of 'patch' within patches; by default the device's fastest. On a coarse level whose rows are too full for
        it, `ell` takes its place.
    dtype : {'float32', 'float64'}, optional
        Of matrices and vectors. `apply` takes and gives float64.
    layout : str, optional
        Format of the matrices of 'jacobi'.
    jacobi_weight : float, optional
        Of 'jacobi', over ρ(D⁻¹ A).

    Attributes
    ----------
    relaxations : list
        Of each level but the coarsest: PatchRelaxation or JacobiRelaxation. A PatchRelaxation's `matrix.inside` is the
        format it has.
    """

    def __init__(
        self,
        device,
        hierarchy: Hierarchy,
        relaxation: str = "patch",
        inner_iterations: int = 3,
        inside: str | None = None,
        dtype: str = "float32",
        layout: str = "sell",
        jacobi_weight: float = relax_jacobi.WEIGHT,
    ):
        if relaxation not in RELAXATIONS:
            raise ValueError(f"relaxation {relaxation!r} is none of {', '.join(RELAXATIONS)}")
        inside = inside or patch_matrix.fastest(device)
        levels = hierarchy.levels
        self.device, self.dtype = device, dtype
        self.relaxations, self._transfers = [], []
        packed = [_packed(device, level, inside, dtype) for level in levels[:-1]] if relaxation == "patch" else []
        all_ends = [_ends(number, dtype) for number in range(len(levels) - 1)]
        for matrix, ends in zip(packed, all_ends, strict=False):
            device.prepare(relax.builds(device, matrix, ends))
        for number, (level, ends) in enumerate(zip(levels, all_ends, strict=False)):
            if relaxation == "patch":
                made = PatchRelaxation(device, packed[number], level.spectral_radius, inner_iterations, ends)
            else:
                made = JACOBI[relaxation](
                    device, level.matrix, level.spectral_radius, dtype, ends, layout, jacobi_weight
                )  # fmt: skip
            self.relaxations.append(made)
            self._transfers.append(Transfer(device, level.prolongator, level.restrictor, dtype, ends[0]))
        self.estimate()
        ends = _ends(0, dtype) if len(levels) == 1 else (dtype, dtype)
        self._coarsest = DenseSolve(device, hierarchy.coarsest_inverse, dtype, ends)
        sizes = [level.rows for level in levels]
        # `rest` is the residual on the way down, and on the way up what post-relaxation has for a right-hand side.
        self._u, self._rest = ([device.empty(size, dtype) for size in sizes[:-1]] for _ in range(2))
        self._b, self._x = ([None, *(device.empty(size, dtype) for size in sizes[1:])] for _ in range(2))

    def apply(self, r, z) -> None:
        """Enqueue z = M⁻¹ r for float64 device arrays in the finest level's permuted numbering."""
        last = len(self._transfers)
        b, x = [r, *self._b[1:]], [z, *self._x[1:]]
        for k in range(last):
            self.relaxations[k].before(b[k], self._u[k], self._rest[k])
            self._transfers[k].restrict(self._rest[k], b[k + 1])
        self._coarsest.solve(b[last], x[last])
        for k in reversed(range(last)):
            self._transfers[k].prolong(x[k + 1], b[k], self._u[k], self._rest[k])
            self.relaxations[k].after(self._rest[k], self._u[k], x[k])

    def estimate(self, steps: int = power_method.STEPS) -> bool:
        """Set the outer weights of patches by steps of the power method; return whether there are any."""
        found = [relaxation for relaxation in self.relaxations if isinstance(relaxation, PatchRelaxation)]
        if found:
            relax.estimate(self.device, found, steps)
        return bool(found)

    def work(self) -> Work:
        """Return the least bytes and the flops of one cycle, the sum over its kernels."""
        parts = [part.work() for part in (*self._transfers, self._coarsest)]
        for relaxation in self.relaxations:
            parts += [relaxation.before_work(), relaxation.after_work()]
        return Work(sum(part.bytes for part in parts), sum(part.flops for part in parts), self.dtype)

    def facts(self) -> dict[str, float]:
        """Return what tables show of the finest level's matrix: bytes, and the part of the entries inside patches."""
        if not self.relaxations or not isinstance(self.relaxations[0], PatchRelaxation):
            return {}
        finest = self.relaxations[0].matrix
        largest = np.array([relaxation.weights.largest for relaxation in self.relaxations])
        return {
            "bytes_inside": finest.bytes_inside, "bytes_boundary": finest.bytes_boundary,
            "fraction_inside": finest.fraction_inside, "largest_eigenvalue": float(largest.max()),
        }  # fmt: skip


def builds(device, relaxation: str, patch_size: int, inside: str | None, dtype: str, layout: str) -> list[tuple]:
    """Return what every cycle of several levels builds, but for what depends on the matrix."""
    ends = _ends(0, dtype)
    transfers = [
        transfer.build(device.is_gpu, "restrictor", dtype, (ends[0], dtype)),
        transfer.build(device.is_gpu, "inverse", dtype, (dtype, dtype)),
    ]
    if relaxation == "jacobi-merged":
        return transfers
    if relaxation == "jacobi":
        return transfers + relax_jacobi.builds(device, dtype, ends, layout)
    made = transfers + relax.certain_builds(dtype, ends[1])
    if device.is_gpu:  # where problems are so large that some patch is about full, and cores so many that none waits
        inside = inside or patch_matrix.fastest(device)
        made += patch_matrix.builds(inside, dtype, patch_matrix.block_for(min(patch_size, patch_matrix.BLOCKS[-1])))
    return made


def _ends(number: int, dtype: str) -> tuple[str, str]:
    """Return the dtypes of right-hand side and result on a level: conjugate gradients have theirs on the finest."""
    return ("float64", "float64") if number == 0 else (dtype, dtype)


def _packed(device, level, inside, dtype):
    given = device, level.matrix, level.patch_offsets
    try:
        return patch_matrix.pack(*given, inside, dtype, level.largest_patch)
    except patch_matrix.TooLarge:
        return patch_matrix.pack(*given, "ell", dtype, level.largest_patch)
