"""Global numbers of GLL nodes against the coordinates of the nodes."""

import numpy as np
import pytest

from kernels.sem.geometry import node_coordinates
from kernels.sem.numbering import number_nodes

from .conftest import MESHES, disturbed, grid, rotations


def by_coordinates(points, cells, n):
    """Return the node of every local node as the distinct places in space tell it, and how many there are."""
    places = np.round(node_coordinates(points, cells, n).reshape(-1, 3), 9)
    distinct, number = np.unique(places, axis=0, return_inverse=True)
    return number.reshape(len(cells), -1), len(distinct)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_nodes_are_shared_where_they_coincide_and_nowhere_else(mesh, n):
    points, cells = mesh
    ours = number_nodes(cells, n)
    expected, count = by_coordinates(points, cells, n)
    assert ours.nodes == count and ours.table.dtype == np.int32
    pairs = np.unique(np.stack([ours.table.ravel(), expected.ravel()], axis=1), axis=0)
    assert len(pairs) == count and len(set(pairs[:, 0])) == count and set(pairs[:, 0]) == set(range(count))


def test_every_pair_of_rotations_of_two_neighbours():
    points, cells = grid((2, 1, 1), move=0.1)
    for first in rotations():
        for second in rotations():
            turned = np.stack([cells[0][first], cells[1][second]])
            assert number_nodes(turned, 4).nodes == by_coordinates(points, turned, 4)[1] == 9 * 5 * 5


@pytest.mark.parametrize("n", [1, 2, 5])
def test_boundary_is_where_faces_are_alone(n):
    points, cells = disturbed(*grid((3, 4, 2)), seed=1)
    ours = number_nodes(cells, n)
    at = np.empty((ours.nodes, 3))
    at[ours.table.ravel()] = node_coordinates(points, cells, n).reshape(-1, 3)
    on_box = (np.isclose(at, 0) | np.isclose(at, [3, 4, 2])).any(axis=1)
    np.testing.assert_array_equal(ours.boundary, on_box)


@pytest.mark.parametrize("n", [2, 3])
def test_numbers_follow_the_elements(n):
    _, cells = MESHES["disturbed"]()
    numbering = number_nodes(cells, n)
    first, surface = np.unique(numbering.table, return_index=True)[1], numbering.surface
    assert (np.diff(first[:surface]) > 0).all() and (np.diff(first[surface:]) > 0).all()
    inside = np.zeros((n + 1,) * 3, bool)
    inside[1:-1, 1:-1, 1:-1] = True
    assert np.array_equal(np.sort(numbering.table[:, inside.ravel()].ravel()), np.arange(surface, numbering.nodes))


def test_counts_of_the_paper():
    """Table 1: n = 3 on cubes of 8³ and 16³ elements; unused vertices count for nothing."""
    for size, nodes in ((8, 15_625), (16, 117_649)):
        _, cells = grid((size,) * 3)
        assert number_nodes(cells + 5, 3).nodes == nodes


def test_a_face_of_three_elements_is_refused():
    _, cells = grid((2, 1, 1))
    third = cells[1].copy()
    third[~np.isin(third, cells[0])] += 100
    with pytest.raises(ValueError, match="not conforming"):
        number_nodes(np.vstack([cells, third]), 2)
