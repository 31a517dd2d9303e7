"""What a matrix must be for the set-up, checked on the device, with an answer of its own for each thing it is not."""

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
    ours, found, diagonal = _inspected(device, host)
    if found[3]:
        duplicates = device.zeros(1, np.int32)
        ours = rearranged(device, ours, duplicates=duplicates)
        if host_ints(device, duplicates)[0]:
            host = host.copy()
            host.sum_duplicates()
            ours, found, diagonal = _inspected(device, host)
    if found[2]:
        raise UnsuitableMatrix(f"the diagonal is not positive in {found[2]} rows: the matrix is not positive definite")
    counters = device.zeros(6, np.int32)
    built(device, SOURCE).check_symmetry(
        blocks(ours.rows), ours.rows, SYMMETRY_TOLERANCE, ours.offsets, ours.columns, ours.values, diagonal, counters
    )
    found = host_ints(device, counters)
    if found[4]:
        raise UnsuitableMatrix(f"the structure is not symmetric: {found[4]} entries have no counterpart")
    if found[5]:
        raise UnsuitableMatrix(f"the matrix is not symmetric: {found[5]} entries differ from their counterparts")
    return ours


def _inspected(device, host):
    """Return a SciPy or CuPy matrix on the device, and what `check_rows` found."""
    if host.nnz > np.iinfo(np.int32).max:
        raise UnsuitableMatrix(f"{host.nnz} non-zeros are more than 32-bit offsets can address")
    ours = Csr(
        host.shape,
        device.array(host.indptr, np.int32),
        device.array(host.indices, np.int32),
        device.array(host.data, np.float64),
    )
    diagonal, counters = device.empty(ours.rows, np.float64), device.zeros(6, np.int32)
    built(device, SOURCE).check_rows(
        blocks(ours.rows), ours.rows, ours.offsets, ours.columns, ours.values, diagonal, counters
    )
    found = host_ints(device, counters)
    if found[0]:
        raise UnsuitableMatrix(f"{found[0]} column indices are outside of the matrix")
    if found[1]:
        raise UnsuitableMatrix(f"{found[1]} values are not finite")
    return ours, found, diagonal


def diagonal_of(device, matrix: Csr, place: str = "a coarse level"):
    """Return the diagonal of a matrix.

    Raises
    ------
    UnsuitableMatrix
        When it is not positive; `place` says where.
    """
    diagonal, counters = device.empty(matrix.rows, np.float64), device.zeros(6, np.int32)
    built(device, SOURCE).diagonal_of(
        blocks(matrix.rows), matrix.rows, matrix.offsets, matrix.columns, matrix.values, diagonal, counters
    )
    wrong = host_ints(device, counters)[2]
    if wrong:
        raise UnsuitableMatrix(f"the diagonal of {place} is not positive: the matrix is not positive definite")
    return diagonal
