import numpy as np
import pytest

from datasets import quality, smoothing, structured, topology


@pytest.fixture
def crumpled():
    """A grid whose inner nodes are moved so far that some elements are nearly flat, none inverted."""
    points, cells = structured.kuhn(6)
    inner = np.flatnonzero(((points > 0) & (points < 4)).all(axis=1))
    random = np.random.default_rng(5)
    worst = points
    for size in np.linspace(0.02, 0.4, 60):
        trial = points.copy()
        trial[inner] += size * random.uniform(-1, 1, (len(inner), 3))
        if quality.volumes(trial, cells).min() > 0:
            worst = trial
    return worst, cells


def test_slivers_go_and_the_box_stays(crumpled):
    points, cells = crumpled
    before = quality.dihedral_extremes(points, cells)[0].min()
    smoothed = smoothing.raise_dihedral(points, cells, target=12.0)
    after = quality.dihedral_extremes(smoothed, cells)[0].min()
    assert before < 8 and after >= 12
    assert (quality.volumes(smoothed, cells) > 0).all()
    assert quality.volumes(smoothed, cells).sum() == pytest.approx(64, rel=1e-12)


def test_good_meshes_are_left_alone():
    points, cells = structured.kuhn(3)
    assert np.array_equal(smoothing.raise_dihedral(points, cells, target=12.0), points)


def test_edges_corners_and_interfaces_stay(crumpled):
    points, cells = crumpled
    labels = (np.arange(len(cells)) // 6 // 36 >= 3).astype(int)  # the half with x > 2
    interface = np.intersect1d(cells[labels == 0], cells[labels == 1])
    points[interface, 0] = 2.0
    smoothed = smoothing.raise_dihedral(points, cells, labels, target=25.0)
    assert not np.array_equal(smoothed, points)
    assert np.allclose(smoothed[interface, 0], 2.0, atol=1e-12)
    surface = np.unique(topology.boundary_faces(cells, len(points)))
    for axis in range(3):
        for side in (0.0, 4.0):
            on = surface[points[surface, axis] == side]
            assert (smoothed[on, axis] == side).all()


def test_negative_orientation_is_kept():
    points, cells = structured.kuhn(3)
    points = points.copy()
    points[21] += 0.5
    turned = cells[:, [0, 1, 3, 2]]
    assert quality.volumes(points, turned).max() < 0
    smoothed = smoothing.raise_dihedral(points, turned, target=30.0)
    assert quality.volumes(smoothed, turned).max() < 0
    assert quality.dihedral_extremes(smoothed, turned)[0].min() > quality.dihedral_extremes(points, turned)[0].min()
