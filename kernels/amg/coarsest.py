"""The inverse of the coarsest matrix."""

from __future__ import annotations

import numpy as np

from kernels.amg.checks import UnsuitableMatrix

LEAST_PIVOT = 1e-12  # of Cholesky's factor, squared, over the diagonal: below it a matrix is singular to rounding


def symmetric_inverse(xp, matrix):
    """Return the inverse of a dense symmetric positive definite matrix of `xp`, exactly symmetric.

    Raises
    ------
    UnsuitableMatrix
        When it is singular to rounding, or indefinite.
    """
    try:
        pivots = xp.diagonal(xp.linalg.cholesky(matrix)) ** 2 / xp.diagonal(matrix)
        least = float(pivots.min())
    except np.linalg.LinAlgError:
        least = float("nan")
    if not least > LEAST_PIVOT:
        values = xp.linalg.eigvalsh(matrix)
        what = "indefinite" if float(values[0]) < -LEAST_PIVOT * float(values[-1]) else "singular to rounding"
        raise UnsuitableMatrix(f"the coarsest matrix, and so the whole, is {what}: it is not positive definite")
    inverse = xp.linalg.inv(matrix)
    return (inverse + inverse.T) / 2
