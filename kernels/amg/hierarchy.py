"""The levels of smoothed aggregation on patches, and what builds them (fu2014, section 5.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Level:
    """One level: its matrix with patches and aggregates contiguous, and the transfer to the coarser level.

    Attributes
    ----------
    matrix : sparse CSR array of the device, (n, n), float64
        Rows and columns permuted so that patches are contiguous and, within them, aggregates; columns sorted.
    order : (n,) int32
        Index of each permuted row in the numbering in which the level was given: the user's on the finest level, the
        finer level's aggregates' on the others.
    rank : (n,) int32
        The inverse of `order`.
    patch_offsets : (patches + 1,) int32
        First row of each patch.
    largest_patch : int
        Its rows.
    aggregate_offsets : (aggregates + 1,) int32 or None
        First row of each aggregate; a patch never cuts one. None on the coarsest level.
    prolongator : sparse CSR array, (n, n_coarse), or None
        P; rows in this level's permuted numbering, columns in the coarser level's. None on the coarsest level.
    restrictor : sparse CSR array, (n_coarse, n), or None
        The transpose of P.
    spectral_radius : float or None
        Estimate of ρ(D⁻¹A) from above. None on the coarsest level, which is not relaxed.
    """

    matrix: Any
    order: Any
    rank: Any
    patch_offsets: Any
    largest_patch: int
    aggregate_offsets: Any
    prolongator: Any
    restrictor: Any
    spectral_radius: float | None

    @property
    def rows(self) -> int:
        return self.matrix.shape[0]

    @property
    def patches(self) -> int:
        return self.patch_offsets.size - 1


@dataclass(frozen=True)
class Hierarchy:
    """Levels from the finest to the coarsest, and the inverse of the coarsest matrix.

    Attributes
    ----------
    levels : tuple of Level
    coarsest_inverse : (m, m) float64 array of the device's namespace
        Inverse of the last level's matrix, symmetric, in that level's permuted numbering.
    """

    levels: tuple[Level, ...]
    coarsest_inverse: Any

    @property
    def operator_complexity(self) -> float:
        """Non-zeros of all matrices over the non-zeros of the finest."""
        return sum(level.matrix.nnz for level in self.levels) / self.levels[0].matrix.nnz

    @property
    def grid_complexity(self) -> float:
        """Rows of all matrices over the rows of the finest."""
        return sum(level.rows for level in self.levels) / self.levels[0].rows
