"""The cubes of remacle2016: counts, nested refinement, how distorted they are."""

import numpy as np
import pytest

import datasets
from datasets.remacle2016 import _cubes

MESHES = ("mesh1", "mesh2", "mesh3")


@pytest.mark.parametrize("name", MESHES)
def test_counts_and_quality(name):
    mesh = datasets.load(f"remacle2016/{name}-8", "smoke")
    facts = mesh.facts()
    assert mesh.cell_type == "hexahedron" and facts["elements"] == 8**3 and facts["nodes"] == 9**3
    assert facts["boundary_faces"] == 6 * 8**2 and facts["euler_characteristic"] == 1
    least, mean = facts["scaled_jacobian_min"], facts["scaled_jacobian_mean"]
    bounds = {"mesh1": (1, 1), "mesh2": (0.6, 0.95), "mesh3": (0.15, 0.8)}[name]  # the least at least, the mean at most
    assert least >= bounds[0] - 1e-12 and mean <= bounds[1] + 1e-12


def test_every_size_is_there_at_the_published_scale():
    for name in MESHES:
        for cells in (8, 16, 32, 64, 128):
            assert "paper" in datasets.entry(f"remacle2016/{name}-{cells}").scales


@pytest.mark.parametrize("name", MESHES)
def test_refinement_halves_the_trilinear_elements(name):
    """Every second node is a coarse one, and a node between is the mean of the two, four or eight around it."""
    coarse, fine = (
        datasets.load(f"remacle2016/{name}-{n}", "small").points.reshape(n + 1, n + 1, n + 1, 3) for n in (8, 16)
    )
    np.testing.assert_allclose(fine[::2, ::2, ::2], coarse, atol=1e-15)
    np.testing.assert_allclose(fine[1::2, ::2, ::2], (coarse[1:] + coarse[:-1]) / 2, atol=1e-15)
    centres = sum(coarse[a : a + 8, b : b + 8, c : c + 8] for a in (0, 1) for b in (0, 1) for c in (0, 1)) / 8
    np.testing.assert_allclose(fine[1::2, 1::2, 1::2], centres, atol=1e-15)


def test_meshes_2_and_3_fill_the_same_cube():
    """Nodes of the cube's faces stay on them before the cube is bent, its corners where they are."""
    plain, moved = _cubes.lattice(), _cubes.shifted(_cubes.lattice())
    for end in (0, -1):
        for axis in range(3):
            np.testing.assert_array_equal(moved.take(end, axis)[..., axis], plain.take(end, axis)[..., axis])
    gap = np.abs(moved - plain).max(axis=-1)
    assert (gap[0, 0, 0], gap[-1, -1, -1]) == (0, 0) and 0.15 / 8 < gap.max() <= 0.2 / 8
    assert (gap[1:-1, 1:-1, 1:-1] > 0).all()


@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_the_rod_is_a_solid_with_two_bores(scale):
    entry = datasets.entry("remacle2016/rod")
    assert entry.title == "Connecting rod (stand-in)"
    mesh = datasets.load("remacle2016/rod", scale)
    facts = mesh.facts()
    if scale == "paper":
        assert facts["elements"] == 62_540  # the caption of Figure 4
    assert facts["euler_characteristic"] == -1 and facts["euler_agrees"]  # a ball has 1, and a bore takes one away
    assert facts["scaled_jacobian_min"] > 0.3
    assert mesh.points[:, 2].max() == -mesh.points[:, 2].min() == pytest.approx(0.5)


def test_the_rod_is_graded_towards_its_bores():
    mesh = datasets.load("remacle2016/rod", "small")
    edge = np.linalg.norm(mesh.points[mesh.cells[:, 1]] - mesh.points[mesh.cells[:, 0]], axis=1)
    from_bore = np.abs(np.hypot(*mesh.points[mesh.cells].mean(axis=1)[:, :2].T) - 0.55)
    assert edge[from_bore < 0.1].mean() < 0.8 * edge[from_bore > 1.5].mean()
