"""Edges of quadrilaterals and hexahedra, numbered on all cores of a processor."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from kernels.multigrid.compiled import parts_of, places_of

SOURCE = Path(__file__).with_name("edges.c")


def _defines(dimension: int, shared: int = 8) -> dict[str, int]:
    return {"DIMENSION": dimension, "SHARED_BY": max(8, 1 << (shared - 1).bit_length())}


BUILDS = [(SOURCE, 1, _defines(dimension)) for dimension in (2, 3)]


def numbered_edges(device, cells, vertices: int):
    """Return the numbers of each element's edges, and how many edges there are.

    Edges are ordered by their lower ends, and those with the same one by their higher ends.

    Parameters
    ----------
    device : kernels.device.Device
        A processor.
    cells : (m, 2^d) int32
        Corners, lexicographic.
    vertices : int

    Returns
    -------
    (m, d 2^(d-1)) int32
        An element's edges are in the order of their middles, lexicographic.
    int
    """
    corners = cells.shape[1]
    dimension = corners.bit_length() - 1
    first, places = places_of(cells, vertices)
    kernel = device.build(SOURCE, block=1, defines=_defines(dimension, int(np.diff(first).max()))).number_edges
    parts = parts_of(device, vertices)
    counts, numbers = device.empty(vertices, np.int32), device.empty((len(cells), dimension * corners // 2), np.int32)
    given = vertices, parts, device.array(cells, np.int32), device.array(_slots(dimension)), first, places
    kernel(parts, *given, None, counts, None)
    offsets = np.zeros(vertices + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    kernel(parts, *given, offsets, counts, numbers)
    return numbers, int(offsets[-1])


def _slots(dimension: int) -> np.ndarray:
    """Return the edge of an element that leads from a corner along an axis, (2^d, d)."""
    middles = [place[::-1] for place in product(range(3), repeat=dimension) if place.count(1) == 1]
    slots = np.empty((2**dimension, dimension), np.int32)
    for corner, axis in product(range(2**dimension), range(dimension)):
        middle = tuple(1 if a == axis else 2 * (corner >> a & 1) for a in range(dimension))
        slots[corner, axis] = middles.index(middle)
    return slots
