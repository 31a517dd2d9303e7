import numpy as np
import pytest

from datasets import ordering, quality, refinement, structured, topology


@pytest.mark.parametrize("cells", [1, 4, (2, 3, 5)])
def test_kuhn_fills_the_box(cells):
    points, tetrahedra = structured.kuhn(cells, size=(1.0, 2.0, 3.0))
    counts = np.broadcast_to(cells, 3)
    assert len(points) == np.prod(counts + 1) and len(tetrahedra) == 6 * np.prod(counts)
    assert (points.dtype, tetrahedra.dtype) == (np.float64, np.int32)
    assert np.allclose(quality.volumes(points, tetrahedra), 1 / np.prod(counts), rtol=1e-12)  # 6 of 36 n: all alike
    assert len(topology.boundary_faces(tetrahedra, len(points))) == 4 * sum(
        counts[i] * counts[j] for i, j in ((0, 1), (0, 2), (1, 2))
    )


def test_kuhn_is_lexicographic_and_of_known_valence():
    points, cells = structured.kuhn(4)
    assert np.array_equal(ordering.lexicographic(points), np.arange(len(points)))
    facts = topology.facts(cells, len(points))
    assert (facts["valence_min"], facts["valence_max"]) == (4, 14)


def test_kuhn_refuses_what_it_cannot_number():
    with pytest.raises(ValueError, match="too many"):
        structured.kuhn((2000, 2000, 2000))
    with pytest.raises(ValueError, match="positive integers"):
        structured.kuhn(0)


def test_box_surface_is_closed_and_points_outwards():
    points, faces = structured.box_surface(5)
    assert len(points) == 6 * 25 + 2 and len(faces) == 12 * 25
    a, b, c = (points[faces[:, i]] for i in range(3))
    assert np.isclose(np.einsum("ij,ij->", a, np.cross(b, c)) / 6, 64.0)
    directed = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert {tuple(e) for e in directed} == {tuple(e[::-1]) for e in directed}
    assert len(np.unique(directed, axis=0)) == len(directed)


@pytest.mark.parametrize("diagonal", ["first", "shortest"])
def test_refinement_conforms_and_keeps_the_volume(diagonal):
    points, cells = structured.prisms(2)
    fine, children = refinement.red(points, cells, diagonal)
    facts = topology.facts(children, len(fine))
    assert (len(fine), len(children)) == (125, 8 * len(cells))
    assert facts["boundary_faces"] == 4 * 12 * 4 and facts["euler_agrees"]
    parents = np.abs(quality.volumes(points, cells))
    assert np.allclose(np.abs(quality.volumes(fine, children)).reshape(-1, 8), parents[:, None] / 8)


def test_shortest_diagonal_keeps_quality():
    points, cells = structured.prisms(1)
    worst = {}
    for diagonal in ("first", "shortest"):
        fine, children = points, cells
        for _ in range(3):
            fine, children = refinement.red(fine, children, diagonal)
        worst[diagonal] = quality.dihedral_extremes(fine, children)[0].min()
    assert worst["shortest"] > worst["first"] + 10
    with pytest.raises(ValueError, match="longest"):
        refinement.red(points, cells, "longest")


def test_reordering_is_a_renumbering():
    points, cells = structured.kuhn(3)
    regions = np.arange(len(cells))
    moved, renumbered, labels = ordering.reordered(points, cells, regions, ordering.morton(points))
    assert np.array_equal(moved[renumbered], points[cells[labels]])
    assert (np.diff(renumbered.min(axis=1)) >= 0).all()


def test_morton_keeps_neighbours_near():
    random = np.random.default_rng(3)
    points, cells = structured.kuhn(16)
    shuffled = random.permutation(len(points))
    spread = []
    for order in (shuffled, ordering.morton(points)):
        edges = topology.edges(ordering.reordered(points, cells, None, order)[1], len(points))
        spread.append(np.median(edges[:, 1] - edges[:, 0]))
    assert spread[1] < spread[0] / 10
