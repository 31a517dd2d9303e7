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
    """Return the same by LAPACK, which is faster on a processor.

    The inverse of Cholesky's factor, times its transpose, takes half as long where LAPACK leaves out their zeros.
    Notes: docs/notes/amg.md.
    """
    from scipy.linalg.lapack import dpotrf, dpotri

    host = matrix if isinstance(matrix, np.ndarray) else device.to_host(matrix)
    factor, failed = dpotrf(host.T)  # the transpose is in LAPACK's order
    if failed:
        return None, np.nan
    least = (np.diagonal(factor) ** 2 / np.diagonal(host)).min()
    upper = np.triu(dpotri(factor, overwrite_c=True)[0])
    return device.array(upper + np.triu(upper, 1).T), float(least)
