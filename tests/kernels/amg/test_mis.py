"""Independent sets against brute force: no two roots within the radius, and no node without a root in it."""

import numpy as np
import pytest
import scipy.sparse

from kernels.amg.mis import maximal_independent_set


def within(matrix, radius):
    """Return the pairs of nodes joined by at most `radius` edges, as a boolean matrix."""
    step = ((abs(matrix) + scipy.sparse.eye(matrix.shape[0])) != 0).astype(int).tocsr()
    reach = step
    for _ in range(radius - 1):
        reach = ((reach @ step) > 0).astype(int)
    return reach.tocsr()


@pytest.mark.parametrize(("radius", "seed_radius"), [(1, None), (1, 3), (2, None), (2, 4), (3, None), (3, 3)])
def test_independent_and_maximal(device, matrix, graph_on, radius, seed_radius):
    flags = device.to_host(maximal_independent_set(device, graph_on(device, matrix), radius, seed_radius))
    roots = np.nonzero(flags)[0]
    assert set(np.unique(flags)) <= {0, 1} and roots.size
    reach = within(matrix, radius)
    assert (reach[roots][:, roots] != scipy.sparse.eye(roots.size)).nnz == 0, "two roots are too near"
    assert (np.asarray(reach[:, roots].sum(axis=1)) > 0).all(), "a node has no root in reach"


@pytest.mark.parametrize("seed_radius", [None, 4])
def test_same_on_every_back_end_and_in_every_run(devices, helmholtz, graph_on, seed_radius):
    matrix = helmholtz(12)
    sets = []
    for device in [*devices, devices[0]]:
        found = maximal_independent_set(device, graph_on(device, matrix), 2, seed_radius)
        sets.append(np.array(device.to_host(found)))
    assert all(np.array_equal(sets[0], other) for other in sets[1:])


def test_seeds_pack_roots_more_densely(device, helmholtz, graph_on):
    graph = graph_on(device, helmholtz(12))
    random, packed = (device.to_host(maximal_independent_set(device, graph, 2, seed)).sum() for seed in (None, 4))
    assert packed > 1.1 * random


def test_wrong_radii_are_refused(device, make_matrix, graph_on):
    graph = graph_on(device, make_matrix("grid"))
    for radius, seed_radius in ((0, None), (2, 1)):
        with pytest.raises(ValueError, match="radius"):
            maximal_independent_set(device, graph, radius, seed_radius)
