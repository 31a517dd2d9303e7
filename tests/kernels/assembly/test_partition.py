"""Recursive bisection: balanced, compact, contiguous and the same every time."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from kernels.assembly.partition import coordinate_bisection


def check(points, patch_size):
    """Check what holds for every partition; return it."""
    made = coordinate_bisection(points, patch_size)
    nodes = len(points)
    sizes = np.diff(made.patch_offsets)
    assert made.patch_offsets[0] == 0 and made.patch_offsets[-1] == nodes
    assert made.patches == sizes.size == max(1, -(-nodes // patch_size))
    assert sizes.min() >= 1 and sizes.max() <= patch_size and np.ptp(sizes) <= 1
    assert np.array_equal(np.sort(made.order), np.arange(nodes))
    assert np.array_equal(made.rank[made.order], np.arange(nodes))
    assert {made.order.dtype, made.rank.dtype, made.patch_offsets.dtype} == {np.dtype(np.int32)}
    return made


def patches(made):
    """Sets of old nodes, in the order of the patches."""
    return [set(part.tolist()) for part in np.split(made.order, made.patch_offsets[1:-1])]


@settings(max_examples=60, deadline=None)
@given(
    strategies.lists(strategies.tuples(*3 * [strategies.integers(0, 3)]), min_size=1, max_size=90),
    strategies.integers(1, 100),
)
def test_balanced_permutation_for_any_points_with_ties(corners, patch_size):
    points = np.array(corners, dtype=float)
    made = check(points, patch_size)
    again = coordinate_bisection(4 * points + 64, patch_size)  # exact in floating point: the same ties
    assert np.array_equal(made.order, again.order) and np.array_equal(made.patch_offsets, again.patch_offsets)


def test_random_points(perturbed_cube):
    points = np.random.default_rng(0).uniform(size=(1003, 3))
    for patch_size in (1, 7, 64, 1002, 1003, 5000):
        check(points, patch_size)


def test_one_node_and_one_node_a_patch():
    assert patches(check(np.zeros((1, 3)), 1)) == [{0}]
    assert patches(check(np.zeros((1, 3)), 50)) == [{0}]
    assert sorted(map(min, patches(check(np.random.default_rng(1).uniform(size=(20, 3)), 1)))) == list(range(20))


def test_nodes_at_one_place_stay_in_order():
    assert np.array_equal(check(np.ones((37, 3)), 5).order, np.arange(37))


@pytest.mark.parametrize("axis", range(3))
def test_collinear_points_become_intervals(axis):
    points = np.zeros((96, 3))
    points[:, axis] = np.random.default_rng(2).permutation(96)
    made = check(points, 8)
    assert sorted(sorted(points[list(part), axis]) for part in patches(made)) == [
        list(range(first, first + 8)) for first in range(0, 96, 8)
    ]


@pytest.mark.parametrize("normal", range(3))
def test_planar_points_become_squares(normal):
    grid = np.stack(np.meshgrid(*2 * [np.arange(8.0)], indexing="ij"), axis=-1).reshape(-1, 2)
    made = check(np.insert(grid, normal, 5.0, axis=1), 16)
    assert all(np.ptp(grid[list(part)], axis=0).max() == 3 for part in patches(made))


def test_a_cube_is_cut_into_cubes():
    grid = np.stack(np.meshgrid(*3 * [np.arange(8.0)], indexing="ij"), axis=-1).reshape(-1, 3)
    shuffled = grid[np.random.default_rng(3).permutation(len(grid))]
    made = check(shuffled, 64)
    assert all(np.ptp(shuffled[list(part)], axis=0).tolist() == [3, 3, 3] for part in patches(made))


def test_cuts_go_across_the_longest_extent():
    points = np.random.default_rng(4).uniform(size=(400, 3)) * [1, 10, 1]
    low, high = patches(check(points, 200))
    assert max(points[list(low), 1]) < min(points[list(high), 1]) or max(points[list(high), 1]) < min(
        points[list(low), 1]
    )


@pytest.mark.parametrize("patch_size", [0, -3])
def test_no_patch_is_empty(patch_size):
    with pytest.raises(ValueError, match="patch_size must be at least 1"):
        coordinate_bisection(np.zeros((4, 3)), patch_size)
