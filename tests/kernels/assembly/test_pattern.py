"""The pattern against SciPy's incidence product, and the map of entries against a dense sum of element matrices."""

import numpy as np
import pytest

from kernels.assembly.partition import expand
from kernels.assembly.pattern import EDGE_NODES, csr_pattern, entry_map


def test_pattern_is_that_of_the_incidence_product(mesh, pattern_by_scipy):
    points, cells = mesh
    pattern = csr_pattern(cells, len(points))
    row_offsets, column_indices = pattern_by_scipy(cells, len(points))
    assert np.array_equal(pattern.row_offsets, row_offsets)
    assert np.array_equal(pattern.column_indices, column_indices)
    assert (pattern.nodes, pattern.nonzeros) == (len(points), column_indices.size)
    arrays = ("row_offsets", "column_indices", "edges", "element_edges", "upper", "lower", "diagonal")
    assert {getattr(pattern, name).dtype for name in arrays} == {np.dtype(np.int32)}


def test_edges_and_their_places(mesh):
    points, cells = mesh
    pattern = csr_pattern(cells, len(points))
    pairs = {tuple(sorted(pair)) for cell in cells.tolist() for pair in (np.array(cell)[EDGE_NODES]).tolist()}
    assert [tuple(edge) for edge in pattern.edges.tolist()] == sorted(pairs)
    assert np.array_equal(pattern.edges[pattern.element_edges], np.sort(cells[:, EDGE_NODES], axis=2))
    rows, columns = expand(pattern.row_offsets), pattern.column_indices
    low, high = pattern.edges.T
    nodes = np.arange(len(points))
    for places, row, column in (
        (pattern.upper, low, high), (pattern.lower, high, low), (pattern.diagonal, nodes, nodes),
    ):  # fmt: skip
        assert np.array_equal(rows[places], row) and np.array_equal(columns[places], column)


def test_entry_map_scatters_as_a_dense_sum(mesh):
    points, cells = mesh
    matrices = np.random.default_rng(0).uniform(size=(len(cells), 4, 4))  # not symmetric
    pattern = csr_pattern(cells, len(points))
    places = entry_map(pattern, cells)
    assert places.shape == (len(cells), 16) and places.dtype == np.int32
    values = np.zeros(pattern.nonzeros)
    np.add.at(values, places, matrices.reshape(-1, 16))
    dense = np.zeros((len(points), len(points)))
    np.add.at(dense, (cells[:, :, None], cells[:, None, :]), matrices)
    assert np.allclose(values, dense[expand(pattern.row_offsets), pattern.column_indices], rtol=1e-14, atol=0)
    assert np.isclose(values.sum(), dense.sum(), rtol=1e-13)  # nothing lies outside the pattern


def test_large_node_numbers_do_not_overflow():
    cells = np.array([[0, 69_999, 5, 69_998]], dtype=np.int32)  # products of two numbers need 33 bits
    pattern = csr_pattern(cells, 70_000)
    assert pattern.edges.tolist() == [[0, 5], [0, 69998], [0, 69999], [5, 69998], [5, 69999], [69998, 69999]]
    assert pattern.nonzeros == 70_000 + 12


@pytest.mark.parametrize("offsets", [[0, 3, 5], [0, 0, 2, 2, 5], [0, 1], [0, 0]])
def test_expand_repeats_each_segment_number(offsets):
    offsets = np.array(offsets)
    assert np.array_equal(expand(offsets), np.repeat(np.arange(offsets.size - 1), np.diff(offsets)))
