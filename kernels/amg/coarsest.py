"""The inverse of the coarsest matrix."""

from __future__ import annotations

import importlib

import numpy as np

from kernels.amg.checks import UnsuitableMatrix

LEAST_PIVOT = 1e-12  # of Cholesky's factor, squared, over the diagonal: below it a matrix is singular to rounding


def symmetric_inverse(device, matrix):
    """Return the inverse of a dense symmetric positive definite matrix of the device's namespace, exactly symmetric.

    Raises
    ------
    UnsuitableMatrix
        When it is singular to rounding, or indefinite.
    """
    xp = device.xp
    try:
        factor = xp.linalg.cholesky(matrix)
        least = float((xp.diagonal(factor) ** 2 / xp.diagonal(matrix)).min())
    except np.linalg.LinAlgError:
        least = float("nan")
    if not least > LEAST_PIVOT:
        values = xp.linalg.eigvalsh(matrix)
        what = "indefinite" if float(values[0]) < -LEAST_PIVOT * float(values[-1]) else "singular to rounding"
        raise UnsuitableMatrix(f"the coarsest matrix, and so the whole, is {what}: it is not positive definite")
    # Half the time of a general inverse, and of a factor that is there already.
    linalg = importlib.import_module(f"{device.sparse.__name__.rpartition('.')[0]}.linalg")
    half = linalg.solve_triangular(factor, xp.eye(len(matrix)), lower=True)
    inverse = half.T @ half
    return (inverse + inverse.T) / 2
