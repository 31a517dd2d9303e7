"""The best rate of two levels of multigrid: local Fourier analysis of Q1 with damped Jacobi steps.

Around an element the mesh is continued as if all elements were that parallelogram, without a boundary. Errors are then
waves, the coarse grid mixes four of them, and a cycle is a 4 × 4 matrix for each frequency (Trottenberg, Oosterlee and
Schüller, Multigrid, 2001, chapter 4). The largest spectral radius is what the rate of convergence comes to on a mesh so
fine that waves fit into the worst of its elements: on coarser ones they do not yet, and the rate is better.
"""

from __future__ import annotations

import numpy as np

from kernels.multigrid import elements

SHIFTS = np.pi * np.array([(0, 0), (1, 0), (0, 1), (1, 1)])  # of the waves that the coarse grid cannot tell apart
COARSE, FINE, WORST = 8, 48, 5  # frequencies an axis for all elements, and for so many of the slowest


def two_grid_factors(corners: np.ndarray, steps: int, damping: float, frequencies: int = FINE) -> np.ndarray:
    """Return for each element the factor by which a cycle of two levels reduces the slowest wave.

    Parameters
    ----------
    corners : (m, 4, 2) array
        Of elements, lexicographic; the first three span the parallelogram.
    steps : int
        Of damped Jacobi, before and after the exact coarse correction together.
    damping : float
    frequencies : int, optional
        On each axis, between -π/2 and π/2.

    Returns
    -------
    (m,) array
    """
    angle = ((np.arange(frequencies) + 0.5) / frequencies - 0.5) * np.pi
    waves = np.stack(np.meshgrid(angle, angle, indexing="ij"), axis=-1).reshape(-1, 2)
    return _radii(_stiffness(corners), waves, steps, damping).max(axis=1)


def worst_factor(corners: np.ndarray, steps: int, damping: float) -> float:
    """Return the largest of `two_grid_factors` over elements, looked for with few frequencies first."""
    slowest = np.argsort(two_grid_factors(corners, steps, damping, COARSE))[-WORST:]
    return float(two_grid_factors(corners[slowest], steps, damping).max())


def stretching(corners: np.ndarray) -> np.ndarray:
    """Return by how much the longer of the two sides that span each element is longer."""
    lengths = np.linalg.norm(corners[:, 1:3] - corners[:, :1], axis=2)
    return lengths.max(axis=1) / lengths.min(axis=1)


def _radii(matrices, waves, steps, damping):
    """Return the spectral radius of a cycle for each element and wave, none of them 0."""
    fine = np.stack([_symbol(matrices, waves + shift) for shift in SHIFTS], axis=-1)
    diagonal = np.einsum("mii->m", matrices)
    # Transfer by bilinear interpolation and its transpose; in the plane stiffness does not depend on the mesh size.
    transfer = np.stack([np.prod(1 + np.cos(waves + shift), axis=1) for shift in SHIFTS], axis=-1)
    coarse = _symbol(matrices, 2 * waves)[:, :, None, None]
    correction = np.eye(4) - 0.25 * transfer[:, :, None] * (transfer * fine)[:, :, None, :] / coarse
    smoothing = (1 - damping * fine / diagonal[:, None, None]) ** steps
    return np.abs(np.linalg.eigvals(correction * smoothing[:, :, None, :])).max(axis=2)


def _stiffness(corners):
    """Return the parallelograms' stiffness matrices, (m, 4, 4)."""
    sides = corners[:, 1:3] - corners[:, :1]  # rows are the sides: the transposed Jacobian
    inverse = np.linalg.inv(sides)
    metric = np.einsum("mki,mkj->mij", inverse, inverse) * np.abs(np.linalg.det(sides))[:, None, None]
    points, weights = elements.gauss(2, 2)
    slopes = elements.gradients(1, points)
    return np.einsum("p,pai,mij,pbj->mab", weights, slopes, metric, slopes)


def _symbol(matrices, waves):
    """Return what A multiplies waves by, (m, waves): the stencil of four elements around a node."""
    places = np.array([(0, 0), (1, 0), (0, 1), (1, 1)])
    steps = places[None, :, :] - places[:, None, :]
    return np.einsum("mab,wab->mw", matrices, np.cos(np.einsum("wd,abd->wab", waves, steps)))
