"""Ranges of nodes whose rows one thread owns, so that a loop over elements on all threads adds nothing atomically.

Each thread goes through the elements that touch its range, and adds to the rows in it. Elements on the seam are
computed by each of their owners, and the result has the same bits however many threads there are.
"""

from __future__ import annotations

import itertools

import numpy as np

RANGES = 4  # of nodes a thread, so that all end at about the same time


def cut(cells, nodes: int, threads: int):
    """Return the bounds of the ranges, where each range's elements start, and the elements of all, in their order."""
    bounds = np.linspace(0, nodes, 1 if threads == 1 else RANGES * threads + 1).astype(np.int64)
    bounds = np.unique(np.append(bounds, nodes))
    first, last = cells.min(axis=1), cells.max(axis=1)
    # Elements that have a node in a range, of all whose numbers span it.
    touching = []
    for low, high in itertools.pairwise(bounds):
        candidates = np.flatnonzero((last >= low) & (first < high))
        inside = ((cells[candidates] >= low) & (cells[candidates] < high)).any(axis=1)
        touching.append(candidates[inside].astype(np.int32))
    starts = np.cumsum([0, *map(len, touching)])
    return bounds, starts, np.concatenate(touching) if touching else np.empty(0, dtype=np.int32)
