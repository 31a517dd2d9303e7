"""Partition of a mesh's nodes into compact patches of equal size, and the renumbering that makes each contiguous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Partition:
    """Patches of nodes, contiguous in the new numbering.

    Attributes
    ----------
    order : (nodes,) int32
        Old index of each new node: ``points[order]`` are the renumbered points.
    rank : (nodes,) int32
        New index of each old node: ``rank[cells]`` are the renumbered cells.
    patch_offsets : (patches + 1,) int32
        First new node of each patch.
    """

    order: Any
    rank: Any
    patch_offsets: Any

    @property
    def patches(self) -> int:
        return self.patch_offsets.size - 1


def coordinate_bisection(points, patch_size: int, xp=np) -> Partition:
    """Partition nodes by recursive coordinate bisection into patches of at most `patch_size` nodes.

    Each part is halved across the axis along which its nodes spread most, with as many nodes on each side as it has
    patches to make, so patches differ by one node at most. The bottom-up partition of fu2014, section 5.2.1, serves its
    solver; for assembly only compactness and balance matter, and this one needs the coordinates alone.

    Parameters
    ----------
    points : (nodes, dimension) float array of `xp`
    patch_size : int
    """
    nodes, dimension = points.shape
    if patch_size < 1:
        raise ValueError(f"patch_size must be at least 1, not {patch_size}")
    patches = max(1, -(-nodes // patch_size))
    # Ranks along each axis replace coordinates: every later sort is of integers, and equal coordinates stay in order.
    ranks = xp.empty((dimension, nodes), dtype=xp.int64)
    for axis in range(dimension):
        ranks[axis, xp.argsort(points[:, axis], kind="stable")] = xp.arange(nodes)
    order = xp.arange(nodes)
    counts, sizes = np.array([patches]), np.array([nodes])  # of the parts of this level: patches to make, nodes
    while counts.max() > 1:
        part = xp.asarray(np.repeat(np.arange(counts.size), sizes))
        axis = _widest_axis(points[order], part, counts.size, xp)
        order = order[xp.argsort(part * nodes + ranks[axis[part], order])]
        left = counts // 2
        left_sizes = np.where(left > 0, sizes * left // np.maximum(counts, 1), 0)
        counts = np.stack([left, counts - left], axis=1).ravel()
        sizes = np.stack([left_sizes, sizes - left_sizes], axis=1).ravel()
        counts, sizes = counts[counts > 0], sizes[counts > 0]
    rank = xp.empty(nodes, dtype=xp.int32)
    rank[order] = xp.arange(nodes, dtype=xp.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return Partition(order.astype(xp.int32), rank, xp.asarray(offsets))


def expand(offsets, xp=np):
    """Return the segment of every position: 0 for positions up to ``offsets[1]``, 1 up to ``offsets[2]``, and so on.

    CuPy's `repeat` takes no device array of counts; this does the same with a search.
    """
    return xp.searchsorted(offsets[1:], xp.arange(int(offsets[-1])), side="right")


def _widest_axis(points, part, parts: int, xp):
    """Axis of largest variance of each part; near ties go to the first axis, so that rounding does not decide."""
    count = xp.bincount(part, minlength=parts)
    spread = []
    for coordinate in points.T:
        mean = xp.bincount(part, weights=coordinate, minlength=parts) / count
        deviation = coordinate - mean[part]
        spread.append(xp.bincount(part, weights=deviation * deviation, minlength=parts) / count)
    spread = xp.stack(spread)
    return xp.argmax(spread >= 0.9 * spread.max(axis=0), axis=0)
