"""CIRCLE and BLOOD against Table 1's counts and their geometry; refinement in two and three dimensions; numberings."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets import validation
from datasets.geveler2011 import NUMBERINGS, blood, circle, hierarchy, number, refined
from datasets.geveler2011._hierarchy import LEXICOGRAPHIC
from datasets.grids import hexes, quads
from datasets.mesh import Mesh

TABLE = Path(__file__).resolve().parents[2] / "published" / "geveler2011" / "table1.csv"
TOP = {"circle": 8, "blood": 5}


@pytest.fixture(scope="module", params=["circle", "blood"])
def made(request, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRO_CACHE", str(tmp_path_factory.mktemp("cache")))
        mesh = datasets.load(f"geveler2011/{request.param}", "small")
        return request.param, mesh, hierarchy(mesh, TOP[request.param])


def test_degrees_of_freedom_are_those_of_table_1(made):
    name, _, found = made
    checked = 0
    for row in csv.DictReader(TABLE.read_text().splitlines()):
        mesh, level = row["case"].split("-l")
        if mesh == name and row["metric"] == "dof" and int(level) <= TOP[name]:
            assert len(found.space(int(level), int(row["method"][1])).points) == int(row["printed"]), row
            checked += 1
    assert checked == (10 if name == "circle" else 4)
    with pytest.raises(ValueError, match="Q3"):
        found.space(1, 3)


def test_coarse_meshes_are_valid_and_have_the_stated_counts(made):
    name, mesh, _ = made
    facts = mesh.facts()
    assert datasets.entry(f"geveler2011/{name}").verify("small") == []
    assert (facts["elements"], facts["boundary_faces"]) == ((8, 16) if name == "circle" else (234, 64))
    assert facts["euler_characteristic"] == (0 if name == "circle" else 1)
    single = np.bincount(mesh.cells.ravel()) == 1
    assert single.sum() == (0 if name == "circle" else 4)  # what the printed non-zeros tell
    assert mesh.title == ("CIRCLE" if name == "circle" else "BLOOD (stand-in)")


def test_every_level_conforms_and_contains_the_one_before(made):
    name, _, found = made
    order = np.argsort(LEXICOGRAPHIC[4])
    for level, finer in zip(found.levels[:3], found.levels[1:4], strict=True):
        validation.checked(finer.points, finer.cells[:, order], name, "quad")
        assert np.array_equal(finer.points[: len(level.points)], level.points)
        assert np.array_equal(finer.cells.reshape(len(level.cells), 16), level.lattice[:, CHILDREN])
        assert np.array_equal(level.lattice_boundary, finer.boundary)
    edges = 64 if name == "blood" else 16
    assert [level.boundary.sum() for level in found.levels[:4]] == [edges * 2**i for i in range(4)]


CHILDREN = [a + b for a in (0, 1, 3, 4) for b in (0, 1, 3, 4)]


def test_boundaries_are_followed(made):
    name, _, found = made
    level = found.levels[4]
    points = level.points[level.boundary]
    if name == "circle":
        radius = np.hypot(*points.T)
        inner = radius < 0.75
        assert inner.sum() == 128 and np.abs(radius[inner] - circle.RADIUS).max() < 1e-15
        assert np.abs(np.abs(points[~inner]).max(axis=1) - 1).max() < 1e-15
        assert np.array_equal(found.dirichlet(points), inner) and found.source == 1
        area = 4 - np.pi / 4
        gaps = [abs(_area(found.levels[i]) - area) for i in (3, 4)]
        assert gaps[1] == pytest.approx(gaps[0] / 4, rel=0.02)
        return
    # Unbent, the aneurysm's wall is an arc around its centre.
    radius = np.hypot(points[:, 0], points[:, 1] + blood.BEND)
    straight = np.stack((blood.BEND * np.arctan2(points[:, 0], points[:, 1] + blood.BEND), radius - blood.BEND), axis=1)
    top = straight[straight[:, 1] > blood.CENTRE]
    distance = np.hypot(top[:, 0] - _middle(), top[:, 1] - blood.CENTRE)
    assert len(top) > 100 and np.abs(distance - blood.RADIUS - blood.LAYERS[-1]).max() < 1e-12
    assert np.isclose(straight[:, 1].min(), -blood.LAYERS[-1], atol=1e-12)
    assert (found.dirichlet(points) == 1).all() and found.source == 0


def _middle():
    """The aneurysm's centre along the vessel, counted from the vessel's middle."""
    half, _ = blood._neck()
    return blood.LEFT + half - (blood.LEFT + 2 * half + blood.RIGHT) / 2


def _area(level):
    x, y = (level.points[level.cells[:, [0, 1, 3, 2]]][:, :, axis] for axis in (0, 1))
    return 0.5 * np.sum(x * np.roll(y, -1, axis=1) - y * np.roll(x, -1, axis=1))


def test_blood_has_layers_of_stretched_elements():
    points, cells = blood.build("paper")
    corners = points[cells[: blood.UPPER + blood.LOWER]]
    along = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    across = np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
    wall = np.concatenate((np.arange(blood.PATH, blood.UPPER), blood.UPPER + np.arange(2 * blood.COLUMNS)))
    stretched = (along / across)[wall]
    assert np.median(stretched) > 4 and 9 < stretched.max() < 15


def test_a_users_own_mesh_is_refined_straight():
    points, cells = quads(3)
    own = Mesh(points, cells, "quad", None, "geveler2011/circle", "mine.msh (own mesh for CIRCLE)")
    found = hierarchy(own, 3)
    assert len(found.levels[2].points) == 13**2
    places = np.round(found.levels[2].points * 12)
    assert np.abs(found.levels[2].points * 12 - places).max() < 1e-12
    assert len(np.unique(places, axis=0)) == 13**2


def test_cube_is_of_hexahedra_of_which_none_is_a_box():
    mesh = datasets.load("geveler2011/cube", "smoke")
    assert datasets.entry("geveler2011/cube").verify("small") == []
    found = hierarchy(mesh, 3)
    assert [len(level.cells) for level in found.levels] == [8, 64, 512]
    on_sides = ((found.levels[2].points == 0) | (found.levels[2].points == 1)).any(axis=1)
    assert np.array_equal(found.levels[2].boundary, on_sides) and (found.dirichlet(found.levels[2].points) == 0).all()
    corners = mesh.points[mesh.cells]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    assert (np.ptp(edges, axis=1) > 0.01).all()


@pytest.mark.parametrize("recipe", ["circle", "blood", "cube"])
def test_refinement_goes_on_from_known_levels(recipe):
    mesh = datasets.load(f"geveler2011/{recipe}", "smoke")
    whole = hierarchy(mesh, 4).levels
    for count in (1, 3, 4):
        known = hierarchy(mesh, count).levels
        found = hierarchy(mesh, 4, known=known).levels
        assert all(one is other for one, other in zip(found, known, strict=False))
        for one, other in zip(found, whole, strict=True):
            assert all((getattr(one, f.name) == getattr(other, f.name)).all() for f in dataclasses.fields(one))
    assert len(hierarchy(mesh, 2, known=whole).levels) == 2


@pytest.mark.parametrize("recipe", ["circle", "blood", "cube"])
def test_places_do_not_depend_on_how_many_elements_are_done_at_once(recipe, monkeypatch):
    mesh = datasets.load(f"geveler2011/{recipe}", "smoke")
    whole = hierarchy(mesh, 3).levels
    monkeypatch.setattr("datasets.geveler2011._hierarchy.CHUNK", 7)
    for one, other in zip(hierarchy(mesh, 3).levels, whole, strict=True):
        assert np.array_equal(one.lattice_points, other.lattice_points)


def test_cubes_are_refined_into_cubes():
    points, cells = hexes(2)
    found = refined(points, cells, 3)
    for level, mesh in enumerate(found):
        n = 2 * 2**level
        assert len(mesh.points) == (n + 1) ** 3 and len(mesh.cells) == n**3
        assert mesh.boundary.sum() == (n + 1) ** 3 - (n - 1) ** 3
        assert np.array_equal(mesh.boundary, ((mesh.points == 0) | (mesh.points == 1)).any(axis=1))
        validation.checked(mesh.points, mesh.cells[:, np.argsort(LEXICOGRAPHIC[8])], "", "hexahedron")
    with pytest.raises(ValueError, match="0 levels"):
        refined(points, cells, 0)


def test_turned_elements_with_holes_between_them_are_refined_at_their_middles():
    random, (points, cells) = np.random.default_rng(0), quads(6)
    points = points + random.uniform(-0.05, 0.05, points.shape)
    cells = np.stack([np.roll(cell, turn) for cell, turn in zip(cells, random.integers(0, 4, 36), strict=True)])
    level = refined(points, cells[random.random(36) < 0.6], 1)[0]
    for column, corners in ((1, [0, 1]), (3, [0, 2]), (5, [1, 3]), (7, [2, 3]), (4, [0, 1, 2, 3])):
        middles = points[level.cells[:, corners]].mean(axis=1)
        assert np.abs(level.lattice_points[level.lattice[:, column]] - middles).max() < 1e-15


def test_numberings_are_what_they_say(made):
    _, _, found = made
    for degree in (1, 2):
        space = found.space(3, degree)
        count = len(space.points)
        orders = {name: number(name, space, 3) for name in NUMBERINGS}
        assert len({tuple(order) for order in orders.values()}) == len(NUMBERINGS)
        for order in orders.values():
            assert np.array_equal(np.sort(order), np.arange(count)) and order.dtype == np.int32
        assert np.array_equal(orders["2lv"], np.arange(count))
        x = space.points[orders["xyz"], 0]
        assert (np.diff(x) > -1e-9).all()
        assert not np.array_equal(number("sto", space, 4), orders["sto"])
        assert np.array_equal(number("sto", space, 3), orders["sto"])
        assert list(orders["hie"]) == list(dict.fromkeys(space.nodes.ravel()))
        ranks = {name: np.argsort(order) for name, order in orders.items()}
        spread = {name: np.ptp(rank[space.nodes], axis=1) for name, rank in ranks.items()}
        assert spread["cm"].max() < 0.35 * count < spread["2lv"].max()
        assert spread["sto"].mean() > 2 * spread["hie"].mean()
        # Recursively: the four children of an element number what they share before the next element does.
        first = ranks["hie"][space.nodes].min(axis=1)
        assert ranks["hie"][space.nodes[0]].max() == (degree + 1) ** 2 - 1
        assert (np.diff(np.maximum.accumulate(first)) >= 0).all()
    with pytest.raises(ValueError, match="rcm"):
        number("rcm", space)
