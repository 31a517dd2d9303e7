"""Aggregates of up to eight unknowns by matching in pairs, three times over, and the Galerkin matrix of each.

The method that the paper cites for it (Gandham, Esler, Zhang 2014; Notay 2010) coarsens without smoothing the
prolongator: it is piecewise constant, and the coarse matrix a sum of entries over pairs of aggregates.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.sem.triplets import summed

SOURCE = Path(__file__).with_name("aggregates.c")
BLOCK = 256
BUILDS = [(SOURCE, BLOCK, {})]
PASSES, ROUNDS = 3, 8  # of matching, and of handshakes in each


@dataclass(frozen=True)
class Level:
    """A matrix, and the aggregate of each of its rows.

    Attributes
    ----------
    matrix : CSR of the device's sparse namespace, (n, n) float64
    labels : (n,) int32 of the device's namespace, or None on the coarsest level
    aggregates : int
    """

    matrix: Any
    labels: Any = None
    aggregates: int = 0


def hierarchy(device, matrix, coarsest: int) -> list[Level]:
    """Return the levels from `matrix` to one of at most `coarsest` rows, or of as few as matching comes to.

    Parameters
    ----------
    device : kernels.device.Device
    matrix : CSR of `device.sparse`, (n, n) float64
        Symmetric positive definite.
    coarsest : int
    """
    levels = []
    while matrix.shape[0] > coarsest:
        labels, count, coarse = aggregated(device, matrix)
        if count > 0.8 * matrix.shape[0]:  # hardly any couplings are left: the diagonal is nearly all
            break
        levels.append(Level(matrix, labels, count))
        matrix = coarse
    return [*levels, Level(matrix)]


def aggregated(device, matrix):
    """Return the aggregate of each row, their number, and the Galerkin matrix."""
    labels, count = None, matrix.shape[0]
    for _ in range(PASSES):
        pairs, count = matched(device, matrix)
        labels = pairs if labels is None else pairs[labels]
        coo = matrix.tocoo()
        matrix = summed(device, coo.data, pairs[coo.row], pairs[coo.col], count)
    return labels, count, matrix


def matched(device, matrix):
    """Return the pair, or single, of each row, (n,) int32 in the order of their first rows, and how many there are."""
    xp, rows = device.xp, matrix.shape[0]
    kernels = device.build(SOURCE, block=BLOCK)
    root = device.array(xp.sqrt(matrix.diagonal()))
    arrays = [device.array(array) for array in (matrix.indptr, matrix.indices, matrix.data)]
    mate, choice = device.empty(rows, "int32"), device.empty(rows, "int32")
    device.fill(mate, -1)
    grid = -(-rows // BLOCK)
    for _ in range(ROUNDS):
        kernels.choose(grid, rows, *arrays, root, mate, choice)
        kernels.pair(grid, rows, choice, mate)
    mates = mate if device.backend == "cuda" else device.to_host(mate)
    own = xp.arange(rows, dtype="int32")
    first = xp.where((mates >= 0) & (mates < own), mates, own)
    is_first = first == own
    number = (xp.cumsum(is_first) - 1).astype("int32")
    return number[first], int(is_first.sum())
