import numpy as np
import pytest

from datasets import structured, topology
from datasets.fu2014 import regular
from datasets.mesh import Mesh


def test_edges_of_one_tetrahedron():
    assert topology.edges(np.array([[3, 1, 0, 2]]), 4).tolist() == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]


def test_valence_is_the_matrix_row_length_less_one():
    sparse = pytest.importorskip("scipy.sparse")
    points, cells = regular.refined(2, 1)
    rows, columns = np.repeat(cells, 4, axis=1).ravel(), np.tile(cells, (1, 4)).ravel()
    matrix = sparse.coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(points),) * 2).tocsr()
    edges = topology.edges(cells, len(points))
    assert np.array_equal(topology.valence(edges, len(points)), np.diff(matrix.indptr) - 1)
    facts = topology.facts(cells, len(points))
    assert facts["nonzeros_full"] == matrix.nnz
    assert facts["nonzeros_upper"] == sparse.triu(matrix).nnz


def test_boundary_faces_point_outwards():
    points, cells = structured.kuhn(3)
    a, b, c = (points[topology.boundary_faces(cells, len(points))[:, i]] for i in range(3))
    assert np.isclose(np.einsum("ij,ij->", a, np.cross(b, c)) / 6, 64.0, rtol=1e-14)  # divergence theorem
    outward = (a + b + c) / 3 - 2.0
    assert (np.einsum("ij,ij->i", outward, np.cross(b - a, c - a)) > 0).all()


@pytest.mark.parametrize("hole", [False, True])
def test_eulers_formula_gives_the_edges_whatever_the_topology(hole):
    points, cells = structured.kuhn(3)
    if hole:  # a tunnel through the middle makes a solid torus, of Euler characteristic 0
        middle = points[cells].mean(axis=1)
        cells = cells[~((np.abs(middle[:, :2] - 2.0) < 2 / 3).all(axis=1))]
        used, cells = np.unique(cells, return_inverse=True)
        points, cells = points[used], cells.reshape(-1, 4).astype(np.int32)
    facts = topology.facts(cells, len(points))
    assert facts["euler_characteristic"] == (0 if hole else 1)
    assert facts["euler_agrees"] and facts["nonzeros_euler"] == facts["nonzeros_full"]


def test_a_mesh_that_touches_itself_at_a_node_does_not_agree_with_eulers_formula(two_tetrahedra):
    points = np.concatenate((two_tetrahedra[0], [[2, 1, 1], [1, 2, 1], [1, 1, 2]]))
    facts = topology.facts(np.array([[0, 1, 2, 3], [4, 5, 6, 7], [1, 2, 3, 4]])[:2], len(points))
    assert facts["euler_agrees"]  # two separate ones
    facts = topology.facts(np.array([[0, 1, 2, 3], [3, 5, 6, 7]]), len(points))
    assert not facts["euler_agrees"]


def test_face_keys_of_meshes_too_large_for_64_bits(monkeypatch):
    """Node numbers beyond two million take another path; spread the nodes out to get there."""
    points, cells = structured.kuhn(3)
    spread = cells.astype(np.int64) * 100_000 + 17
    few = topology.boundary_faces(cells, len(points))
    many = topology.boundary_faces(spread, len(points) * 100_000)
    assert np.array_equal(few * 100_000 + 17, many)
    keys = topology.face_keys(spread, len(points) * 100_000).ravel()
    partners = np.isin(keys ^ np.uint64(1), keys)
    assert len(np.unique(keys)) == len(keys) and (~partners).sum() == len(few)


def test_facts_of_regions_and_their_copy():
    points, cells = structured.kuhn(2)
    regions = (points[cells].mean(axis=1)[:, 0] > 2).astype(int) * 7
    mesh = Mesh(points, cells, regions=regions)
    assert mesh.facts()["region_shares"] == pytest.approx({"0": 0.5, "7": 0.5})
    mesh.facts()["nodes"] = 0
    assert mesh.facts()["nodes"] == 27
