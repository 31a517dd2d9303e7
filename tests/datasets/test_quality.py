import numpy as np
import pytest

from datasets import quality, structured

REGULAR = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
CORNER = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
ONE = np.array([[0, 1, 2, 3]])


def test_regular_tetrahedron():
    cells = quality.oriented(REGULAR, ONE)
    assert quality.volumes(REGULAR, cells) == pytest.approx([8 / 3])
    assert quality.relative_volumes(REGULAR, cells) == pytest.approx([1.0])
    assert quality.radius_ratios(REGULAR, cells) == pytest.approx([1.0])
    assert quality.dihedral_extremes(REGULAR, cells) == pytest.approx(np.degrees(np.arccos([[1 / 3]] * 2)))


def test_corner_tetrahedron():
    least, greatest = quality.dihedral_extremes(CORNER, ONE)
    assert (least[0], greatest[0]) == pytest.approx((np.degrees(np.arctan(np.sqrt(2))), 90.0))
    inscribed, circumscribed = 1 / (3 + np.sqrt(3)), np.sqrt(3) / 2
    assert quality.radius_ratios(CORNER, ONE) == pytest.approx([3 * inscribed / circumscribed])


def test_quality_does_not_depend_on_place_size_or_order():
    random = np.random.default_rng(0)
    points = random.random((4, 3))
    turn = np.linalg.qr(random.random((3, 3)))[0]
    moved = 1e-3 * points @ turn + 5.0
    for order in ([0, 1, 2, 3], [1, 0, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1]):
        cells = np.array([order])
        assert quality.radius_ratios(moved, cells) == pytest.approx(quality.radius_ratios(points, ONE), rel=1e-6)
        for ours, reference in zip(quality.dihedral_extremes(moved, cells), quality.dihedral_extremes(points, ONE)):
            assert ours == pytest.approx(reference, rel=1e-6)


def test_blocks_join_up(monkeypatch):
    points, cells = structured.kuhn(4)
    whole = quality.facts(points, cells)
    monkeypatch.setattr(quality, "BLOCK", 7)
    assert quality.facts(points, cells) == pytest.approx(whole, rel=1e-14)


def test_flat_elements_have_no_shape_and_no_warning():
    flat = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 0, 0]], dtype=float)
    cells = np.array([[0, 1, 2, 3], [0, 1, 4, 4]])
    assert quality.relative_volumes(flat, cells) == pytest.approx([0, 0])
    assert quality.dihedral_extremes(flat, cells)[0] == pytest.approx([0, 0])
