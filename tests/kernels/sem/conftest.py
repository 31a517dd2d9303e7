"""Hexahedral meshes that the tests of spectral elements go through."""

import itertools

import numpy as np
import pytest

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])


def grid(shape, keep=None, move=0.0, seed=0):
    """Return points and hexahedra, in meshio's order, of a grid of unit cubes; `keep` chooses among them."""
    lower = np.array(list(np.ndindex(*shape)))
    if keep is not None:
        lower = lower[[keep(*cell) for cell in lower]]
    corners = (lower[:, None] + CORNERS).reshape(-1, 3)
    lattice, cells = np.unique(corners, axis=0, return_inverse=True)
    points = lattice + np.random.default_rng(seed).uniform(-move, move, lattice.shape)
    return points, cells.reshape(-1, 8)


def rotations():
    """Return the 24 renumberings of a hexahedron's vertices that keep its orientation."""
    found = []
    for axes in itertools.permutations(range(3)):
        for flips in itertools.product((0, 1), repeat=3):
            matrix = np.zeros((3, 3), dtype=int)
            matrix[range(3), axes] = [1 - 2 * flip for flip in flips]
            if np.linalg.det(matrix) > 0:
                turned = CORNERS[:, axes] ^ np.array(flips)
                found.append([int(np.flatnonzero((CORNERS == corner).all(axis=1))[0]) for corner in turned])
    return np.array(found)


def disturbed(points, cells, seed=0):
    """Return the same mesh with each element rotated at random, and elements and vertices renumbered at random."""
    random = np.random.default_rng(seed)
    turns = rotations()
    cells = np.take_along_axis(cells, turns[random.integers(len(turns), size=len(cells))], axis=1)
    number = random.permutation(len(points))
    moved = np.empty_like(points)
    moved[number] = points
    return moved, number[cells][random.permutation(len(cells))]


def around_an_edge(count):
    """Return `count` hexahedra around one edge, so that vertices have other valences than in a grid."""
    angle = np.arange(2 * count) * np.pi / count
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.where(np.arange(2 * count) % 2, 1.3, 1.0)[:, None]
    plane = np.concatenate([[[0.0, 0.0]], ring])
    points = np.concatenate([np.column_stack([plane, np.full(len(plane), z)]) for z in (0.0, 0.8)])
    quads = [[0, 1 + 2 * k, 2 + 2 * k, 1 + (2 * k + 2) % (2 * count)] for k in range(count)]
    return points, np.array([[*quad, *(node + len(plane) for node in quad)] for quad in quads])


MESHES = {
    "one": lambda: grid((1, 1, 1), move=0.2),
    "grid": lambda: grid((3, 2, 4), move=0.15),
    "disturbed": lambda: disturbed(*grid((3, 3, 3), move=0.15)),
    "L": lambda: disturbed(*grid((3, 3, 2), keep=lambda x, y, z: x == 0 or y == 0, move=0.1), seed=4),
    "around an edge": lambda: disturbed(*around_an_edge(5), seed=2),
    # These share an edge, or a vertex, and nothing else there.
    "touching": lambda: disturbed(
        *grid((2, 2, 2), keep=lambda x, y, z: (x, y, z) in ((0, 0, 0), (1, 1, 0), (0, 1, 1)))
    ),
}


@pytest.fixture(params=list(MESHES))
def mesh(request):
    return MESHES[request.param]()
