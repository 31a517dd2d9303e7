"""The meshes of zhang2013: the published unknowns, non-zeros and longest rows."""

import numpy as np
import pytest

import datasets
from datasets.zhang2013 import hex as hexes
from datasets.zhang2013 import quad, tet, tri

SIZES = {"tri": 2, "quad": 2, "tet": 3, "hex": 3}  # unknowns of a node
LONGEST = {"tri": 10, "quad": 9, "tet": 28, "hex": 27}  # blocks of a row


def counts(name, scale):
    """Return unknowns, non-zeros and blocks of the longest row of the elasticity matrix."""
    facts = datasets.entry(f"zhang2013/{name}").facts(scale)
    assert facts["euler_agrees"]
    size = SIZES[name]
    return size * facts["nodes"], size**2 * facts["nonzeros_full"], facts["valence_max"] + 1


@pytest.mark.parametrize("name", list(SIZES))
def test_smoke_meshes(name):
    if name == "tet":
        pytest.importorskip("tetgen")
    entry = datasets.entry(f"zhang2013/{name}")
    assert entry.scales == ("smoke", "small", "paper", "large")
    assert bool(entry.stand_in_for) == (name in ("tri", "tet"))
    assert entry.verify("smoke") == []
    assert 500 <= entry.facts("smoke")["nodes"] <= 5_000
    assert counts(name, "smoke")[2] == LONGEST[name]


def test_grids_have_the_published_sizes():
    """By the grids' formula, which smaller ones are counted by; the assembly's tests count the whole."""
    for cells in (quad.SCALES["smoke"], quad.SCALES["paper"]):
        expected = 2 * (cells + 1) ** 2, 4 * (3 * cells + 1) ** 2
        if cells == quad.SCALES["smoke"]:
            assert counts("quad", "smoke")[:2] == expected
    assert expected == (321_602, 5_769_604)
    for cells in (hexes.SCALES["smoke"], hexes.SCALES["paper"]):
        expected = 3 * (cells + 1) ** 3, 9 * (3 * cells + 1) ** 3
        if cells == hexes.SCALES["smoke"]:
            assert counts("hex", "smoke")[:2] == expected
    assert expected == (499_125, 38_976_723)


def test_triangles_have_the_published_sizes_by_eulers_formula():
    """Nodes and boundary edges fix the counts of a plane mesh without holes, which the smoke mesh shows."""
    for scale in ("smoke", "paper"):
        m, n, nodes = tri.SCALES[scale]
        boundary = 2 * (m + n)
        edges = 3 * nodes - 3 - boundary
        if scale == "smoke":
            assert counts("tri", scale)[:2] == (2 * nodes, 4 * (nodes + 2 * edges))
            assert datasets.entry("zhang2013/tri").facts(scale)["boundary_faces"] == boundary
    assert boundary == 3_500 and (2 * nodes, 4 * (nodes + 2 * edges)) == (1_060_112, 14_813_544)


def test_longest_rows_are_those_of_the_padding_of_ellpack():
    """Table 2's factors of ELLPACK times Table 1's non-zeros over unknowns."""
    for name, factor, density in (
        ("tri", 1.43, 13.97),
        ("quad", 1.00, 17.94),
        ("tet", 1.91, 44.00),
        ("hex", 1.04, 78.09),
    ):
        least, greatest = ((factor + e) * (density + e) for e in (-0.005, 0.005))
        assert least <= LONGEST[name] * SIZES[name] <= greatest
        others = (LONGEST[name] - 1, LONGEST[name] + 1)
        assert name == "hex" or not any(least <= blocks * SIZES[name] <= greatest for blocks in others)


def test_tetrahedra_have_the_nodes_and_neighbours_asked_for():
    pytest.importorskip("tetgen")
    along, across, _, nodes = tet.SCALES["smoke"]
    facts = datasets.entry("zhang2013/tet").facts("smoke")
    assert facts["nodes"] == nodes and facts["valence_max"] == 27
    assert facts["boundary_nodes"] == 4 * along * across + 2 * across**2 + 2
    assert facts["volume"] == pytest.approx(4, rel=1e-12)
    assert facts["dihedral_min"] > 10
    assert 3 * tet.SCALES["paper"][3] == 624_579


def test_no_other_grid_has_the_published_sizes():
    """Of a rectangle with (m + 1)(n + 1) = 160,801 nodes and (3 m + 1)(3 n + 1) = 1,442,401 pairs."""
    fits = [(m, 160_801 // (m + 1) - 1) for m in range(1, 160_801) if 160_801 % (m + 1) == 0]
    assert [(m, n) for m, n in fits if (3 * m + 1) * (3 * n + 1) == 1_442_401] == [(400, 400)]
    lines = [n for n in range(1, 200) if 3 * (n + 1) ** 3 == 499_125]
    assert lines == [54]


def test_large_meshes_have_a_hundred_million_nonzeros():
    assert 4 * (3 * quad.SCALES["large"] + 1) ** 2 > 1e8 and 9 * (3 * hexes.SCALES["large"] + 1) ** 3 > 1e8
    assert 9 * (3 * hexes.SCALES["large"] + 1) ** 3 < np.iinfo(np.int32).max
