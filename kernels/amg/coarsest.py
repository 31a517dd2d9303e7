"""The inverse of the coarsest matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, blocks, built
from kernels.amg.checks import UnsuitableMatrix

SOURCE, TILE = Path(__file__).with_name("inverse.c"), 32
BUILDS = [(SOURCE, BLOCK, {})]
LEAST_PIVOT = 1e-12  # of Cholesky's factor, squared, over the diagonal: below it a matrix is singular to rounding


def symmetric_inverse(device, matrix):
    """Return the inverse of a dense symmetric positive definite matrix, an array of the device, exactly symmetric.

    Raises
    ------
    UnsuitableMatrix
        When it is singular to rounding, or indefinite.
    """
    inverse, least = (swept if device.is_gpu else factored)(device, matrix)
    if not least > LEAST_PIVOT:
        values = np.linalg.eigvalsh(device.to_host(matrix))
        what = "indefinite" if float(values[0]) < -LEAST_PIVOT * float(values[-1]) else "singular to rounding"
        raise UnsuitableMatrix(f"the coarsest matrix, and so the whole, is {what}: it is not positive definite")
    return inverse


def swept(device, matrix):
    """Return the inverse, and the least pivot over the diagonal; by launches that no library has to be loaded for.

    A library's Cholesky factor and triangular solve take several times as long: nearly all of their launches wait for
    the one before. Notes: docs/notes/amg.md.
    """
    kernels, n = built(device, SOURCE), matrix.shape[0]
    tiles, before = blocks(n, TILE), matrix
    one, two = (device.empty((n, n), np.float64) for _ in range(2))
    least = device.empty(1, np.float64)
    for step in range(tiles):
        kernels.sweep(tiles * tiles, n, tiles, step, matrix, before, one, least)
        before, one, two = one, two, one
    kernels.symmetrise(blocks(n * n), n, before, one)
    return one, float(device.to_host(least)[0])


def factored(device, matrix):
    """Return the same by LAPACK, which is faster on a processor."""
    from scipy.linalg import solve_triangular

    host = matrix if isinstance(matrix, np.ndarray) else device.to_host(matrix)
    try:
        factor = np.linalg.cholesky(host)
    except np.linalg.LinAlgError:
        return None, np.nan
    # Half the time of a general inverse, and of a factor that is there already.
    half = solve_triangular(factor, np.eye(len(host)), lower=True)
    inverse = half.T @ half
    least = (np.diagonal(factor) ** 2 / np.diagonal(host)).min()
    return device.array((inverse + inverse.T) / 2), float(least)
