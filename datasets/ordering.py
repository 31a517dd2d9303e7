"""Orders of nodes and elements, so that what lies near in space lies near in memory."""

from __future__ import annotations

import numpy as np


def lexicographic(points: np.ndarray) -> np.ndarray:
    """Return the order of the nodes by x, then y, then z; exact ties only."""
    return np.lexsort((points[:, 2], points[:, 1], points[:, 0]))


def morton(points: np.ndarray, bits: int = 16) -> np.ndarray:
    """Return the order of the nodes along Morton's curve through a lattice of 2**bits cells along the longest side."""
    low = points.min(axis=0)
    scale = (2**bits - 1) / max((points.max(axis=0) - low).max(), np.finfo(float).tiny)
    integers = ((points - low) * scale).astype(np.uint64)
    code = np.zeros(len(points), dtype=np.uint64)
    for bit in range(bits):
        for axis in range(3):
            code |= ((integers[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + 2 - axis)
    return np.argsort(code, kind="stable")


def reordered(points: np.ndarray, cells: np.ndarray, regions: np.ndarray | None, order: np.ndarray):
    """Return points in the given order, and cells with their new numbers, sorted by their lowest node.

    The order of nodes within an element stays, and elements with the same lowest node keep their order.
    """
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    cells = number[cells]
    rows = np.argsort(cells.min(axis=1), kind="stable")
    return points[order], cells[rows], None if regions is None else regions[rows]
