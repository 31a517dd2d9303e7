"""The set-up's requirements of a matrix, checked on the device, with an error message for each that it fails."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, blocks, built, host_ints
from kernels.amg.primitives import rearranged

SOURCE = Path(__file__).with_name("checks.c")
BUILDS = [(SOURCE, BLOCK, {})]
SYMMETRY_TOLERANCE = 1e-8  # of an entry and its counterpart, relative to the root of the product of their diagonals


class UnsuitableMatrix(ValueError):
    """A matrix that this multigrid cannot be set up for."""


def checked(device, matrix) -> Csr:
    """Return a sparse matrix as a `Csr` with sorted columns and no duplicates, after checking all that it must be.

    Raises
    ------
    TypeError
        When it is no sparse matrix of real numbers.
    UnsuitableMatrix
        When it is not square, is empty, has values that are not finite, a diagonal that is not positive, or is not
        symmetric in structure or in values.
    """
    if not hasattr(matrix, "tocsr"):
        raise TypeError(f"a sparse matrix is wanted, not {type(matrix).__name__}")
    if matrix.dtype.kind not in "fiu":
        raise TypeError(f"a matrix of real numbers is wanted, not of {matrix.dtype}")
    if matrix.shape[0] != matrix.shape[1]:
        raise UnsuitableMatrix(f"the matrix is not square: {matrix.shape[0]} × {matrix.shape[1]}")
    if matrix.shape[0] == 0:
        raise UnsuitableMatrix("the matrix is empty")
    host = matrix.tocsr()
    ours = _placed(device, host)
    found = _inspected(device, ours)
    if found[3]:
        duplicates = device.zeros(1, np.int32)
        ours = rearranged(device, ours, duplicates=duplicates)
        if host_ints(device, duplicates)[0]:
            host = host.copy()
            host.sum_duplicates()
            ours = _placed(device, host)
        found = _inspected(device, ours)
    if found[2]:
        raise UnsuitableMatrix(f"the diagonal is not positive in {found[2]} rows: the matrix is not positive definite")
    if found[4]:
        raise UnsuitableMatrix(f"the structure is not symmetric: {found[4]} entries have no counterpart")
    if found[5]:
        raise UnsuitableMatrix(f"the matrix is not symmetric: {found[5]} entries differ from their counterparts")
    return ours


def _placed(device, host) -> Csr:
    """Return a SciPy or CuPy matrix on the device."""
    if host.nnz > np.iinfo(np.int32).max:
        raise UnsuitableMatrix(f"{host.nnz} non-zeros are more than 32-bit offsets can address")
    return Csr(
        host.shape,
        device.array(host.indptr, np.int32),
        device.array(host.indices, np.int32),
        device.array(host.data, np.float64),
    )


def _inspected(device, ours: Csr) -> list[int]:
    """Return what `check_rows` and `check_symmetry` count."""
    kernels, diagonal, counters = built(device, SOURCE), device.empty(ours.rows, np.float64), device.zeros(6, np.int32)
    rows = ours.offsets, ours.columns, ours.values, diagonal, counters
    kernels.check_rows(blocks(ours.rows), ours.rows, *rows)
    kernels.check_symmetry(blocks(ours.rows), ours.rows, SYMMETRY_TOLERANCE, *rows)
    found = host_ints(device, counters)
    if found[0]:
        raise UnsuitableMatrix(f"{found[0]} column indices are outside of the matrix")
    if found[1]:
        raise UnsuitableMatrix(f"{found[1]} values are not finite")
    return found


def diagonal_of(device, matrix: Csr):
    """Return the diagonal of a matrix."""
    diagonal = device.empty(matrix.rows, np.float64)
    built(device, SOURCE).diagonal_of(
        blocks(matrix.rows), matrix.rows, matrix.offsets, matrix.columns, matrix.values, diagonal
    )
    return diagonal
