"""Aggregates and patches: everything covered, nothing cut, no patch above its limit, and the same on every back end."""

import numpy as np
import pytest
import scipy.sparse

from kernels.amg import induced, marked
from kernels.amg.arrays import Groups
from kernels.amg.exchange import exchanged
from kernels.amg.matching import merged
from kernels.amg.partition import bounded, double_partition, grouped
from kernels.amg.primitives import group_members

LIMIT = 60


def on_host(device, partition):
    names = ("order", "rank", "aggregate", "aggregate_offsets", "patch_offsets")
    return {name: np.array(device.to_host(getattr(partition, name))) for name in names}


@pytest.mark.parametrize("seed_radius", [None, 4])
def test_covers_and_is_contiguous_and_bounded(device, matrix, graph_on, seed_radius):
    n = matrix.shape[0]
    partition = double_partition(device, graph_on(device, matrix), patch_size=LIMIT, seed_radius=seed_radius)
    found = on_host(device, partition)
    assert np.array_equal(np.sort(found["order"]), np.arange(n))
    assert np.array_equal(found["rank"][found["order"]], np.arange(n))
    for name in ("aggregate_offsets", "patch_offsets"):
        assert found[name][0] == 0 and found[name][-1] == n and (np.diff(found[name]) > 0).all()
    assert np.isin(found["patch_offsets"], found["aggregate_offsets"]).all(), "a patch cuts an aggregate"
    assert np.diff(found["patch_offsets"]).max() <= LIMIT
    sizes = np.diff(found["aggregate_offsets"])
    assert np.array_equal(found["aggregate"], np.repeat(np.arange(sizes.size), sizes))


def test_aggregates_are_connected_and_of_the_least_size(device, helmholtz, graph_on):
    matrix = helmholtz(12)
    found = on_host(device, double_partition(device, graph_on(device, matrix), least_aggregate=9))
    sizes = np.diff(found["aggregate_offsets"])
    assert sizes.min() >= 9
    label = np.empty(matrix.shape[0], int)
    label[found["order"]] = found["aggregate"]
    entries = matrix.tocoo()
    inside = label[entries.row] == label[entries.col]
    joined = scipy.sparse.coo_matrix((np.ones(inside.sum()), (entries.row[inside], entries.col[inside])), matrix.shape)
    assert scipy.sparse.csgraph.connected_components(joined, directed=False)[0] == sizes.size


def test_nodes_join_the_aggregate_of_highest_adjacency(device, helmholtz, graph_on):
    """Independently of the kernels: at the end no node would have been better off elsewhere when it was alone."""
    matrix = helmholtz(8)
    groups = grouped(device, graph_on(device, matrix), 2, 1, seed_radius=4)
    label = np.array(device.to_host(groups.labels))
    adjacency = (abs(matrix) > 0).astype(int) @ np.eye(groups.count, dtype=int)[label]
    assert (adjacency[np.arange(label.size), label] >= 2).all()


@pytest.mark.parametrize("induced_graph", [induced.in_tables, marked.induced_graph])
def test_induced_graph_is_the_product_with_the_partition(device, matrix, graph_on, induced_graph):
    n, groups = matrix.shape[0], 37
    label = np.random.default_rng(0).integers(0, groups, n).astype(np.int32)
    label[:groups] = np.arange(groups)
    on_device = device.array(label)
    weighted = matrix.copy()
    weighted.data = np.random.default_rng(1).integers(1, 9, matrix.nnz).astype(float)
    for given, weights in ((matrix, False), (weighted, True)):
        ours = induced_graph(
            device, graph_on(device, given, weights), on_device, group_members(device, on_device, groups)
        )
        ones = given.copy() if weights else (given != 0).astype(int)
        tentative = scipy.sparse.csr_matrix((np.ones(n), (np.arange(n), label)), (n, groups))
        expected = (tentative.T @ ones @ tentative).tolil()
        expected.setdiag(0)
        expected = expected.tocsr()
        expected.eliminate_zeros()
        expected.sort_indices()
        assert np.array_equal(device.to_host(ours.offsets), expected.indptr)
        assert np.array_equal(device.to_host(ours.columns), expected.indices)
        assert np.array_equal(device.to_host(ours.weights), expected.data.astype(int))


def groups_of(device, label, weights):
    sizes = np.bincount(label, weights=weights).astype(np.int32)
    return Groups(device.array(label.astype(np.int32)), sizes.size, device.array(sizes), int(sizes.max()))


def test_exchange_brings_heavy_patches_below_the_limit(device, make_matrix, graph_on):
    """A path of 40 aggregates of weight 10: patches of 250, 100 and 50, of which none may weigh more than 200."""
    matrix = abs(make_matrix("path")[:40, :40].tocsr())
    matrix.data = np.ones(matrix.nnz)
    weights = np.full(40, 10)
    label = np.repeat([0, 1, 2], [25, 10, 5])
    graph = graph_on(device, matrix, weights=True)
    patches = exchanged(device, graph, groups_of(device, label, weights), device.array(weights.astype(np.int32)), 200)
    moved, sizes = np.array(device.to_host(patches.labels)), np.array(device.to_host(patches.sizes))
    assert np.array_equal(sizes, np.bincount(moved, weights=weights))
    assert sizes.max() == patches.heaviest <= 200
    assert (np.diff(moved) >= 0).all(), "what moved was not at the border"


def test_groups_above_the_limit_are_cut(device):
    weights = np.array([30, 30, 30, 30, 90, 10, 10], dtype=np.int32)
    label = np.array([0, 0, 0, 0, 1, 2, 2])
    found = bounded(device, groups_of(device, label, weights), 60, device.array(weights))
    assert np.array_equal(device.to_host(found.labels), [0, 0, 1, 1, 2, 3, 3])
    assert np.array_equal(device.to_host(found.sizes), [60, 60, 90, 20]) and found.heaviest == 90


def test_merging_pairs_neighbours_that_fit(device, make_matrix, graph_on):
    matrix = abs(make_matrix("path")[:8, :8].tocsr())
    matrix.data = np.ones(matrix.nnz)
    weights = np.full(8, 10, dtype=np.int32)
    patches = groups_of(device, np.arange(8), weights)
    found = merged(device, graph_on(device, matrix, weights=True), patches, device.array(weights), 80, 40)
    label, sizes = np.array(device.to_host(found.labels)), np.array(device.to_host(found.sizes))[: found.count]
    assert sizes.max() == found.heaviest <= 40 and sizes.sum() == 80 and found.count <= 4
    assert (np.diff(label) >= 0).all()


def test_same_on_every_back_end(devices, helmholtz, graph_on):
    matrix = helmholtz(12)
    found = [on_host(device, double_partition(device, graph_on(device, matrix))) for device in [*devices, devices[0]]]
    for other in found[1:]:
        assert all(np.array_equal(found[0][name], other[name]) for name in other)
