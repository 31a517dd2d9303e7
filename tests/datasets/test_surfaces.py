import numpy as np
import pytest

from datasets import surfaces

pytest.importorskip("scipy")
BOX = ((-1.6, -1.6, -1.6), (1.6, 1.6, 1.6))


def ball(x, y, z):
    return np.sqrt(x**2 + y**2 + z**2) - 1.0


def volume(points, faces):
    a, b, c = (points[faces[:, i]] for i in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def smallest_angle(points, faces):
    angles = []
    for i in range(3):
        u, v = (points[faces[:, (i + k) % 3]] - points[faces[:, i]] for k in (1, 2))
        cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
        angles.append(np.degrees(np.arccos(cosine)))
    return np.min(angles)


def test_a_ball_converges_at_second_order():
    errors = [volume(*surfaces.triangulate(ball, *BOX, spacing)) / (4 / 3 * np.pi) - 1 for spacing in (0.2, 0.1)]
    assert -0.08 < errors[0] < 0 and 3 < errors[0] / errors[1] < 5


def test_triangles_are_good_and_the_surface_closed():
    points, faces = surfaces.triangulate(ball, *BOX, 0.1)
    assert smallest_angle(points, faces) > 25
    assert len(points) - len(faces) // 2 == 2  # Euler's characteristic of a sphere
    assert np.abs(np.linalg.norm(points, axis=1) - np.linalg.norm(points, axis=1).mean()).max() < 2e-3


def test_two_balls_that_nearly_touch_are_resolved():
    def two(x, y, z):
        return np.minimum(ball(2 * x - 1.02, 2 * y, 2 * z), ball(2 * x + 1.02, 2 * y, 2 * z)) / 2

    points, faces = surfaces.triangulate(two, *BOX, 0.1)
    directed = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
    assert len(points) - len(faces) // 2 in (2, 4)


def test_crumbs_and_voids_go():
    def dented(x, y, z):
        crumb = ball(12 * (x - 1.3), 12 * y, 12 * z) / 12
        void = ball(8 * x, 8 * y, 8 * z) / 8
        return np.maximum(np.minimum(ball(x, y, z), crumb), -void)

    points, faces = surfaces.triangulate(dented, *BOX, 0.1)
    assert len(points) - len(faces) // 2 == 2
    assert np.linalg.norm(points, axis=1).min() > 0.9


def test_a_box_that_is_too_small_is_an_error():
    with pytest.raises(ValueError, match="does not hold"):
        surfaces.triangulate(ball, (-0.5,) * 3, (0.5,) * 3, 0.1)


def test_smooth_maximum_bounds_the_maximum():
    a, b = np.linspace(-1, 1, 41), np.linspace(1, -1, 41)
    rounded = surfaces.smooth_max(a, b, 0.5)
    assert (rounded >= np.maximum(a, b)).all() and rounded.max() <= 1.0
    assert rounded[20] == pytest.approx(0.125)
    assert np.array_equal(surfaces.smooth_min(a, b, 0.5), -surfaces.smooth_max(-a, -b, 0.5))


def test_ellipsoid_is_zero_on_its_surface_and_has_unit_slope_there():
    direction = np.array([1.0, 2.0, -1.5])
    radii = np.array([1.0, 2.0, 3.0])
    on = 0.5 + direction / np.linalg.norm(direction / radii)
    assert surfaces.ellipsoid(*on, (0.5,) * 3, tuple(radii)) == pytest.approx(0, abs=1e-14)
    normal = (on - 0.5) / radii**2
    normal /= np.linalg.norm(normal)
    outside = surfaces.ellipsoid(*(on + 1e-5 * normal), (0.5,) * 3, tuple(radii))
    assert outside == pytest.approx(1e-5, rel=1e-3)
    assert surfaces.ellipsoid(np.array([0.5]), 0.5, 0.5, (0.5,) * 3, tuple(radii)) == pytest.approx(-1.0)
