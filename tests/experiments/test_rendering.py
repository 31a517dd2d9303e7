"""The renderer and the cuts: what is lit, what is hidden, where the outline runs, and volumes and areas by hand."""

import numpy as np
import pytest

from datasets import structured, topology
from experiments import rendering, sections

PIXELS = 200


def sphere(centre=(0.0, 0.0, 0.0), radius=1.0, rings=32):
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False), indexing="ij"
    )
    points = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1)
    number = np.arange(points[..., 0].size).reshape(polar.shape)
    a, b = number[:-1], np.roll(number, -1, axis=1)[:-1]
    c, d = number[1:], np.roll(number, -1, axis=1)[1:]
    faces = np.concatenate([np.stack([a, c, d], -1).reshape(-1, 3), np.stack([a, d, b], -1).reshape(-1, 3)])
    corners = points.reshape(-1, 3)[faces]
    faces = faces[np.linalg.norm(sections.vector_areas(corners), axis=1) > 1e-12]
    return radius * points.reshape(-1, 3) + centre, faces


def surface(points, faces, colour=(0.8, 0.8, 0.8)):
    return rendering.Surface(points, faces, np.array(colour), rendering.vertex_normals(points, faces))


FRONT = rendering.view(-90, 0)  # right is x, up is z


def test_a_view_looks_along_its_angles():
    assert np.allclose(FRONT, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert np.allclose(rendering.view(20, 50) @ rendering.view(20, 50).T, np.eye(3))


def test_a_ball_is_round_and_lit_from_its_upper_left():
    image = rendering.picture([surface(*sphere())], FRONT, PIXELS)
    assert image.shape == (PIXELS, PIXELS, 3) and image.min() > 0 and image.max() <= 1
    grey = image.mean(axis=2)
    row, column = np.indices(grey.shape)
    distance = np.hypot(row - 99.5, column - 99.5) / (PIXELS / 2 * (1 - 2 * rendering.MARGIN))
    assert np.allclose(grey[distance > 1.02], 1)
    assert (grey[distance < 0.97] < 0.999).all()
    upper_left, lower_right = grey[60:80, 60:80].mean(), grey[120:140, 120:140].mean()
    assert upper_left > 1.2 * lower_right > 0.1


def test_the_nearer_hides_the_farther():
    red, blue = surface(*sphere(), (0.9, 0.1, 0.1)), surface(*sphere((0.0, 4.0, 0.0), 2.0), (0.1, 0.1, 0.9))
    image = rendering.picture([blue, red], FRONT, PIXELS)
    middle, edge = image[100, 100], image[100, 30]
    assert middle[0] > 3 * middle[2] and edge[2] > 3 * edge[0]


def test_an_open_surface_shows_its_inside_when_it_is_flat_alone():
    points, faces = sphere()
    bowl = faces[points[faces][..., 1].mean(axis=1) > -0.5]
    for normals, is_seen in ((None, True), (rendering.vertex_normals(points, faces), False)):
        shown = rendering.Surface(points, bowl, np.array([0.9, 0.1, 0.1]), normals)
        assert (rendering.picture([shown], FRONT, PIXELS)[100, 100, 2] < 0.5) == is_seen


def test_a_part_of_the_light_is_the_same_everywhere():
    ball, colour = surface(*sphere()), np.array([0.9, 0.5, 0.1])
    seen = rendering.shaded([ball], FRONT, PIXELS, even=1.0)
    assert np.allclose(seen.picture(np.tile(colour, (len(ball.faces), 1)))[70:130, 70:130], colour, atol=1 / 255)


def test_lines_are_drawn_where_edges_are_marked_and_not_through_surfaces():
    corners = np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
    faces, colour = np.array([[0, 1, 2], [2, 3, 0]]), np.array([0.8, 0.8, 0.8])
    with_diagonal = np.array([[False, True, False], [False, True, False]])
    plain = rendering.picture([rendering.Surface(corners, faces, colour)], FRONT, PIXELS)
    lined = rendering.picture([rendering.Surface(corners, faces, colour, edges=with_diagonal)], FRONT, PIXELS, line=0.5)
    assert lined[100, 99].mean() < 0.6 * plain[100, 99].mean() and np.allclose(lined[100, 40], plain[100, 40])
    behind, before = np.array([[[-1.0, 1, 0], [1, 1, 0]]]), np.array([[[-1.0, -1, 0], [1, -1, 0]]])
    square = [rendering.Surface(corners, faces, colour)]
    assert np.allclose(rendering.picture(square, FRONT, PIXELS, segments=behind)[:, 60], plain[:, 60])
    assert (
        rendering.picture(square, FRONT, PIXELS, line=0.5, segments=before)[100, 60].mean()
        < 0.8 * plain[100, 60].mean()
    )


def test_a_ball_has_its_area_and_volume():
    area, volume = sections.enclosed(*sphere((3.0, -2.0, 7.0), 2.0, rings=96))
    assert area == pytest.approx(16 * np.pi, rel=1e-3) and volume == pytest.approx(32 / 3 * np.pi, rel=1e-3)


@pytest.mark.parametrize("offset", [0.37, 0.5, 1.234])
@pytest.mark.parametrize("normal", [(0, -1, 0), (0.6, 0, 0.8)])
def test_a_cut_closes_what_is_left_of_the_surface(normal, offset, perturbed_cube):
    points, cells = perturbed_cube(4)
    height = sections.heights(points, normal, float(np.dot(normal, (2, 2, 2))) + offset)
    corners, owner, edges = sections.cut(points, cells, height)
    assert corners.shape[1:] == (3, 3) and len(owner) == len(corners) == len(edges)
    assert np.abs(corners @ np.array(normal, float) - float(np.dot(normal, (2, 2, 2))) - offset).max() < 1e-5
    outer = topology.boundary_faces(cells, len(points))
    rest, *_ = sections.behind(points, outer, height)
    area = np.linalg.norm(sections.vector_areas(corners), axis=1).sum()
    assert np.allclose(sections.vector_areas(rest).sum(axis=0), -area * np.array(normal), atol=1e-4 * area)
    # A quadrilateral's diagonal is no edge of an element, and its other sides are.
    assert set(edges.sum(axis=1)) == {2, 3}


def test_nodes_in_the_plane_are_moved_off_it():
    points, cells = structured.kuhn(2, size=2.0)
    height = sections.heights(points, (0, 0, 1), 1.0)
    assert (height != 0).all()
    corners, *_ = sections.cut(points, cells, height)
    assert np.linalg.norm(sections.vector_areas(corners), axis=1).sum() == pytest.approx(4, rel=1e-4)
