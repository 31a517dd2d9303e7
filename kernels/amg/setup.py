"""Set-up of the hierarchy: partition, permutation, smoothed prolongator and Galerkin product of every level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernels.amg import checks, exchange, induced, marked, matching, mis, partition, primitives, product, spectrum
from kernels.amg.arrays import Csr
from kernels.amg.checks import UnsuitableMatrix, checked, diagonal_of
from kernels.amg.coarsest import BUILDS as INVERSES
from kernels.amg.coarsest import symmetric_inverse
from kernels.amg.hierarchy import Hierarchy, Level
from kernels.amg.partition import Partition, double_partition
from kernels.amg.primitives import densified, rearranged
from kernels.amg.product import multiplied, settled
from kernels.amg.spectrum import spectral_radius

# The paper's 400 rows are what a GTX 580's shared memory holds. Of 384 four patches fit on a multiprocessor of an H200;
# smaller ones leave more of the matrix to the boundary. Iterations are the same. Notes: docs/notes/amg.md.
PATCH_SIZE, COARSEST = 384, 700
MOST_LEVELS, MOST_DENSE = 20, 4096


def ahead(device) -> list[tuple]:
    """Return what every set-up of more than one level builds; of builds for longer and longer rows, the usual ones."""
    return [
        *checks.BUILDS, *primitives.BUILDS, *mis.BUILDS[: 2 - device.is_gpu], *partition.BUILDS, *exchange.BUILDS,
        *matching.BUILDS, *spectrum.builds(device), *product.builds(device), *induced.BUILDS[: device.is_gpu],
        *INVERSES[: device.is_gpu],
    ]  # fmt: skip


@dataclass(frozen=True)
class Coarsening:
    """Settings of the aggregates and of the prolongator's smoothing.

    Attributes
    ----------
    radius : int
        k of the independent set of aggregates' roots.
    seed_radius : int or None
        Of its first roots, see `kernels.amg.mis`; None for a random set.
    least_aggregate : int
        Smaller aggregates are given to their neighbours.
    of_induced_graph : bool
        Whether a coarse level's graph is the induced graph of the aggregates, as in the paper, or the pattern of its
        matrix, which reaches twice as far.
    weight : float
        Of the prolongator's smoothing: ω = weight / ρ(D⁻¹A).
    patch_radius : int
        k of the independent set of aggregates that patches grow from.
    """

    radius: int
    seed_radius: int | None
    least_aggregate: int
    of_induced_graph: bool
    weight: float
    patch_radius: int = 1


# The usual weight is 4/3; a larger one saves iterations on the Regular mesh and costs none on others. Coarse levels of
# radius 1 save some, but their rows are so long that the set-up takes many times as long. Notes: docs/notes/amg.md.
COARSENINGS = {
    "patch": Coarsening(radius=2, seed_radius=4, least_aggregate=9, of_induced_graph=True, weight=1.6),
    "mis": Coarsening(radius=2, seed_radius=None, least_aggregate=1, of_induced_graph=False, weight=4 / 3),
}


def is_coarsened(matrix, coarsest: int) -> bool:
    """Return whether a matrix is one that a set-up begins to coarsen; what `checked` refuses is not."""
    return hasattr(matrix, "tocsr") and matrix.shape[0] > coarsest


def set_up(device, matrix, *, coarsening="patch", patch_size=PATCH_SIZE, coarsest=COARSEST) -> Hierarchy:
    """Return the hierarchy of a symmetric positive definite matrix; nothing but scalars leaves the device.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : sparse array of `device.sparse`, (n, n)
        Of the device where it has sparse arrays of its own, of SciPy elsewhere.
    coarsening : {'patch', 'mis'} or Coarsening
        The paper's, with its control of sizes and coarse levels on the induced graph; or standard smoothed aggregation
        on a maximal independent set of the matrix's graph, as CUSP has it. Patches are made from either's aggregates.
    patch_size : int
        The most rows of a patch.
    coarsest : int
        A level of at most so many rows is solved directly.

    Raises
    ------
    UnsuitableMatrix
        For a matrix that is not symmetric positive definite, as far as this shows.
    ValueError
        For a `coarsening` that there is not, or a `patch_size` below 1.
    kernels.device.errors.BuildError
        On CUDA, when a row of a coarse level comes to have more than 1536 entries (`kernels.amg.product.in_tables`).
    """
    how = COARSENINGS.get(coarsening) if isinstance(coarsening, str) else coarsening
    if how is None:
        raise ValueError(f"coarsening {coarsening!r} is none of {', '.join(COARSENINGS)}")
    if patch_size < 1:
        raise ValueError(f"patch_size must be at least 1, not {patch_size}")
    if is_coarsened(matrix, coarsest):
        device.prepare(ahead(device))
    given = checked(device, matrix)
    graph, levels = given, []
    while True:
        last = given.rows <= coarsest or len(levels) == MOST_LEVELS - 1
        partition = None
        if not last:
            partition = double_partition(
                device, graph, radius=how.radius, seed_radius=how.seed_radius, least_aggregate=how.least_aggregate,
                patch_size=patch_size, patch_radius=how.patch_radius,
            )  # fmt: skip
            last = partition.aggregates > 0.9 * given.rows
        level = _Built(device, given, None if last else partition, patch_size, how.weight)
        if levels:
            levels[-1].renumber_coarse(level)
        levels.append(level)
        if last:
            break
        given = level.coarse
        graph = partition.induced if how.of_induced_graph else given
        level.coarse = None
    if levels[-1].matrix.rows > MOST_DENSE:
        raise UnsuitableMatrix(f"coarsening stalls at {levels[-1].matrix.rows} rows, too many for a dense inverse")
    built = tuple(level.finished(device) for level in levels)
    inverse = symmetric_inverse(device, densified(device, levels[-1].matrix))
    return Hierarchy(built, _of_namespace(device, inverse))


class _Built:
    """A level while it is built, as arrays of the device."""

    def __init__(self, device, given: Csr, partition: Partition | None, patch_size: int, weight: float):
        self.device, self.partition = device, partition
        if partition is None:
            n = given.rows
            self.matrix = given
            self.order = self.rank = device.array(np.arange(n, dtype=np.int32))
            self.patch_offsets = device.array(np.append(np.arange(0, n, patch_size), n).astype(np.int32))
            self.largest_patch = min(n, patch_size)
            self.aggregate_offsets = self.prolongator = self.restrictor = self.radius = None
            return
        self.order, self.rank = partition.order, partition.rank
        self.patch_offsets, self.aggregate_offsets = partition.patch_offsets, partition.aggregate_offsets
        self.largest_patch = partition.largest_patch
        self.matrix = rearranged(device, given, self.order, self.rank)
        diagonal = diagonal_of(device, self.matrix)
        self.radius = spectral_radius(device, self.matrix, diagonal)
        tentative = Csr((given.rows, partition.aggregates), None, partition.aggregate)
        self.prolongator = multiplied(
            device, self.matrix, tentative, own=partition.aggregate, weight=weight / self.radius, diagonal=diagonal,
            loose=True,
        )  # fmt: skip
        self.restrictor = (primitives if device.is_gpu else marked).transposed(device, self.prolongator)
        between = multiplied(device, self.matrix, self.prolongator, loose=True)
        self.coarse = multiplied(device, self.restrictor, between, first=1)

    def renumber_coarse(self, coarse: _Built) -> None:
        """Bring the transfer into the permuted numbering of the coarser level."""
        is_permuted = coarse.partition is not None
        self.prolongator = settled(self.device, self.prolongator, coarse.rank if is_permuted else None)
        if is_permuted:
            self.restrictor = rearranged(self.device, self.restrictor, order=coarse.order)

    def finished(self, device) -> Level:
        """Return the level with sparse matrices of the device."""

        def sparse(matrix: Csr | None):
            if matrix is None:
                return None
            # Arrays are handed over one by one: a constructor that is given them looks at all columns, and waits.
            built = device.sparse.csr_matrix(matrix.shape, dtype=np.float64)
            built.data, built.indices, built.indptr = (
                _of_namespace(device, a) for a in (matrix.values, matrix.columns, matrix.offsets)
            )
            built.has_canonical_format = True  # or whoever packs it finds out again
            return built

        return Level(
            matrix=sparse(self.matrix),
            order=_of_namespace(device, self.order),
            rank=_of_namespace(device, self.rank),
            patch_offsets=_of_namespace(device, self.patch_offsets),
            largest_patch=self.largest_patch,
            aggregate_offsets=None if self.aggregate_offsets is None else _of_namespace(device, self.aggregate_offsets),
            prolongator=sparse(self.prolongator),
            restrictor=sparse(self.restrictor),
            spectral_radius=self.radius,
        )


def _of_namespace(device, array):
    """Return an array of the device's kernels as one of its namespace: the same memory but on a GPU's OpenCL."""
    return array if isinstance(array, device.xp.ndarray) else device.to_host(array)
