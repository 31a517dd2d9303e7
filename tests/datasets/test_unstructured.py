"""Scattered triangles, flips, refinement; and edges of tetrahedra split."""

import numpy as np
import pytest

from datasets import connectivity, quality, shapes, splitting, structured, topology, triangles, validation
from datasets.cells import TYPES

TRIANGLE = TYPES["triangle"]


@pytest.mark.parametrize(("divisions", "nodes"), [((30, 10), 400), ((12, 12), 190), ((9, 31), 350)])
def test_scattered_triangles_have_the_counts_that_were_asked_for(divisions, nodes):
    points, cells = triangles.scattered(divisions, nodes)
    assert np.array_equal(validation.checked(points, cells, "made", "triangle"), cells)
    facts = connectivity.facts(cells, nodes, TRIANGLE) | shapes.facts(points, cells, TRIANGLE)
    boundary = 2 * sum(divisions)
    assert (facts["nodes"], facts["boundary_faces"], facts["boundary_nodes"]) == (nodes, boundary, boundary)
    assert facts["elements"] == 2 * nodes - 2 - boundary and facts["edges"] == 3 * nodes - 3 - boundary
    assert facts["area"] == pytest.approx(np.prod(divisions), rel=1e-12)
    assert facts["valence_max"] <= 9 and facts["angle_min"] > 10
    sides = points[np.unique(connectivity.boundary_facets(cells, nodes, TRIANGLE))]
    assert ((sides == 0) | (sides == divisions)).any(axis=1).all()


def test_they_are_unstructured_and_the_same_every_time():
    points, cells = triangles.scattered((30, 10), 400)
    again = triangles.scattered((30, 10), 400)
    assert np.array_equal(points, again[0]) and np.array_equal(cells, again[1])
    other = triangles.scattered((30, 10), 400, seed=2)
    assert not np.array_equal(points, other[0])
    neighbours = topology.valence(connectivity.edges(cells, 400, TRIANGLE), 400)[80:]
    assert len(np.unique(neighbours)) >= 4 and (neighbours == 6).mean() < 0.7


def test_flips_limit_the_neighbours():
    """A wheel of twelve triangles around a hub."""
    angles = np.arange(12) * np.pi / 6
    points = np.vstack([[[0.02, 0.01]], np.column_stack([np.cos(angles), np.sin(angles)])])
    wheel = np.stack([np.zeros(12), 1 + np.arange(12), 1 + (np.arange(12) + 1) % 12], axis=1).astype(np.int32)
    cells = triangles.limited(points, wheel, 7)
    neighbours = topology.valence(connectivity.edges(cells, 13, TRIANGLE), 13)
    assert neighbours.max() == neighbours[0] == 7 and len(cells) == 12
    assert np.array_equal(validation.checked(points, cells, "made", "triangle"), cells)
    assert shapes.sizes(points, cells, TRIANGLE).sum() == pytest.approx(shapes.sizes(points, wheel, TRIANGLE).sum())
    assert np.array_equal(triangles.limited(points, wheel, 12), wheel)
    with pytest.raises(ValueError, match="no edge there can be flipped"):
        triangles.limited(points, wheel, 3)


def test_refined_triangles():
    points, cells = triangles.scattered((12, 8), 130)
    finer, children = triangles.refined(points, cells)
    facts, before = (connectivity.facts(c, len(p), TRIANGLE) for p, c in ((finer, children), (points, cells)))
    assert facts["elements"] == 4 * before["elements"] and facts["nodes"] == before["nodes"] + before["edges"]
    assert facts["boundary_faces"] == 2 * before["boundary_faces"]
    assert facts["valence_max"] == max(6, before["valence_max"])
    assert np.allclose(shapes.sizes(finer, children, TRIANGLE), np.repeat(shapes.sizes(points, cells, TRIANGLE), 4) / 4)
    assert np.array_equal(validation.checked(finer, children, "made", "triangle"), children)


@pytest.mark.parametrize("more", [0, 1, 9])
def test_edges_are_split_until_there_are_nodes_and_neighbours_enough(more, perturbed_cube):
    points, cells = perturbed_cube(7)
    before = topology.facts(cells, len(points))
    wanted = before["valence_max"] + min(more, 3)
    made, children = splitting.completed(points, cells, len(points) + more, wanted, dihedral=0.0)
    facts = topology.facts(children, len(made))
    assert facts["nodes"] == len(points) + more and facts["valence_max"] == wanted
    assert facts["euler_agrees"] and facts["boundary_faces"] == before["boundary_faces"]
    children = validation.checked(made, quality.oriented(made, children), "made")
    assert quality.volumes(made, children).min() > 0
    assert quality.volumes(made, children).sum() == pytest.approx(quality.volumes(points, cells).sum(), rel=1e-12)
    # Each of the new nodes lies in the middle of an edge that was, all others where they were.
    edges = topology.edges(cells, len(points))
    middles = 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
    assert np.array_equal(made[: len(points)], points)
    assert all((np.abs(middles - node).max(axis=1) < 1e-15).any() for node in made[len(points) :])


def test_what_cannot_be_completed():
    points, cells = structured.kuhn(2)
    with pytest.raises(ValueError, match="the mesh has 27 nodes already, more than 26"):
        splitting.completed(points, cells, 26, 14)
    with pytest.raises(ValueError, match=r"only \d+ of 100 edges can be split at once"):
        splitting.completed(points, cells, 127, 14)
