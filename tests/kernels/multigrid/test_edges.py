"""Edges numbered on all cores against a sorted set of pairs, and refinement with them."""

import dataclasses
import functools
from itertools import combinations

import numpy as np
import pytest

from datasets.geveler2011 import refined
from datasets.grids import hexes, quads
from kernels import multigrid


def mesh_of(dimension):
    """Elements turned anyhow, some left out, vertices in any order: points and lexicographic cells."""
    random = np.random.default_rng(dimension)
    points, cells = quads(30) if dimension == 2 else hexes(7)
    cells = cells[random.random(len(cells)) < 0.7][:, [0, 1, 3, 2] if dimension == 2 else [0, 1, 3, 2, 4, 5, 7, 6]]
    rank = random.permutation(len(points))
    flips = random.integers(0, 2**dimension, (len(cells), 1)) ^ np.arange(2**dimension)
    return points[np.argsort(rank)], rank[np.take_along_axis(cells, flips, axis=1)].astype(np.int32)


def ends_of(corners):
    """An element's edges as pairs of vertices, in the lexicographic order of their middles."""
    dimension = len(corners).bit_length() - 1
    pairs = [pair for pair in combinations(range(len(corners)), 2) if (pair[0] ^ pair[1]).bit_count() == 1]
    pairs.sort(key=lambda pair: [(pair[0] >> axis & 1) + (pair[1] >> axis & 1) for axis in reversed(range(dimension))])
    return [tuple(sorted((int(corners[a]), int(corners[b])))) for a, b in pairs]


@pytest.mark.parametrize("dimension", [2, 3])
def test_edges_are_in_the_order_of_their_ends(device, dimension):
    if device.backend != "openmp":
        pytest.skip("for the C back end, which sets up for processors")
    points, cells = mesh_of(dimension)  # of which some vertices belong to no element
    edges = [ends_of(corners) for corners in cells]
    order = {edge: number for number, edge in enumerate(sorted({edge for element in edges for edge in element}))}
    numbers, count = multigrid.numbered_edges(device, cells, len(points))
    assert count == len(order) and numbers.dtype == np.int32
    assert numbers.tolist() == [[order[edge] for edge in element] for element in edges]


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_mesh_is_refined_alike_by_them(device, dimension):
    if device.backend != "openmp":
        pytest.skip("for the C back end, which sets up for processors")
    points, cells = mesh_of(dimension)
    cells = cells[:, np.argsort([0, 1, 3, 2] if dimension == 2 else [0, 1, 3, 2, 4, 5, 7, 6])]
    edges = functools.partial(multigrid.numbered_edges, device)
    for one, other in zip(refined(points, cells, 2, edges=edges), refined(points, cells, 2), strict=True):
        assert all(np.array_equal(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
