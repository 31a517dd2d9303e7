"""The matrices and hearts of wong2015: published rows, non-zeros and row lengths, and what is known of their make."""

import csv
from pathlib import Path

import numpy as np
import pytest

import datasets
from datasets.wong2015 import _irregular, _lengths, _nets, _nodes, cantilever, economics, epidemiology, qcd
from experiments.wong2015 import fidelity

TABLE = Path(__file__).resolve().parents[2] / "published" / "wong2015" / "table2.csv"
GROUPS = {
    "circuit": "Hamm", "economics": "Williams", "epidemiology": "Williams", "accelerator": "Williams",
    "cantilever": "Williams", "harbor": "Bova", "ship": "DNVS", "spheres": "Williams", "protein": "Williams",
    "qcd": "QCD", "webbase": "Williams", "wind-tunnel": "Boeing",
}  # fmt: skip
SYMMETRIC = set(GROUPS) - {"economics", "epidemiology", "qcd", "webbase"}
COUNTS = ("rows", "nonzeros", "row_length_min", "row_length_max")


def published(case):
    with TABLE.open() as file:
        return {
            row["metric"]: int(row["printed"].replace(",", "")) for row in csv.DictReader(file) if row["case"] == case
        }


def entry(case):
    return datasets.entry(f"wong2015/{case.replace('-', '_')}")


def test_every_matrix_of_the_table_is_there():
    with TABLE.open() as file:
        cases = {row["case"] for row in csv.DictReader(file)}
    names = {dataset.name for dataset in datasets.catalogue()}
    assert {f"wong2015/{case.replace('-', '_')}" for case in cases} <= names


@pytest.mark.parametrize("case", GROUPS)
def test_recipes_state_what_is_published(case):
    matrix, counts = entry(case), published(case)
    assert matrix.recipe.COUNTS == {fact: counts[fact] for fact in COUNTS}
    assert matrix.recipe.COLLECTION.startswith(f"{GROUPS[case]}/")
    assert matrix.address == f"https://sparse.tamu.edu/MM/{matrix.recipe.COLLECTION}.tar.gz"
    assert matrix.title.endswith("(stand-in)") and matrix.recipe.COLLECTION in matrix.stand_in_for


@pytest.mark.slow
@pytest.mark.parametrize("case", GROUPS)
def test_stand_ins_are_of_the_published_size(case):
    counts, csr = published(case), entry(case).recipe.build("paper")
    lengths = np.diff(csr.indptr)
    full = lengths[lengths > 0]
    assert csr.shape[0] - len(full) == fidelity.known(case).get("empty_rows", 0)
    found = csr.shape[0], csr.nnz, full.min(), full.max(), np.ceil(csr.nnz / csr.shape[0])
    assert found == (*(counts[fact] for fact in COUNTS), counts["row_length_mean"])
    assert csr.shape[0] == csr.shape[1] and csr.has_sorted_indices and csr.has_canonical_format
    assert fidelity.verdict(case, fidelity.facts(csr)) == entry(case).fidelity
    block = getattr(entry(case).recipe, "BLOCK", 1)
    if block > 1 and case != "harbor":
        assert fill(csr, block) > (0.85 if case == "cantilever" else 0.97)


def fill(csr, block):
    whole = csr[: csr.shape[0] // block * block, : csr.shape[1] // block * block]
    return whole.nnz / (block**2 * whole.tobsr((block, block)).indices.size)


@pytest.mark.parametrize("case", GROUPS)
def test_stand_ins_are_deterministic_and_well_made(case):
    matrix = datasets.load(entry(case).name, "smoke")
    facts, again = matrix.facts(), entry(case).recipe.build("smoke")
    assert np.array_equal(again.indptr, matrix.csr.indptr) and np.array_equal(again.indices, matrix.csr.indices)
    assert np.array_equal(again.data, matrix.csr.data)
    lengths = matrix.row_lengths
    assert lengths[lengths > 0].min() == published(case)["row_length_min"]
    assert facts["row_length_max"] == published(case)["row_length_max"]
    assert bool(facts["empty_rows"]) == (case == "accelerator") and facts["pattern_symmetric"] == (case in SYMMETRIC)
    if case == "epidemiology":
        return  # a generator of a Markov chain, whose rows add up to nought
    # Positive diagonals outweigh the rest of their rows, so that systems with the matrix can be solved.
    dense, diagonal = abs(matrix.csr), matrix.csr.diagonal()
    rest = np.asarray(dense.sum(axis=1)).ravel() - diagonal
    assert (diagonal[diagonal != 0] > rest[diagonal != 0]).all()
    if case in SYMMETRIC:
        assert abs(matrix.csr - matrix.csr.T).max() == 0


@pytest.mark.parametrize(("case", "block"), [("ship", 6), ("wind-tunnel", 6), ("protein", 3), ("spheres", 3)])
def test_blocks_are_found(case, block):
    facts = datasets.load(entry(case).name, "smoke").facts()
    assert facts["block"] == block and facts["block_fill"] > 0.97


def test_the_epidemic_is_marcas():
    """From the first state, by hand: east, then back by north-west and on to the east, levels one after another."""
    csr = epidemiology.build("smoke")
    wide, high = epidemiology.SCALES["smoke"]
    assert abs(csr.sum(axis=1)).max() == 0
    grid = (wide - 1) * high + wide * (high - 1) + (wide - 1) * (high - 1)  # east, south, north-west
    assert csr.nnz == grid + wide * high
    states = [(0, 0), (1, 0), (2, 0), (0, 1), (3, 0), (1, 1)]
    for row, (u, v) in enumerate(states):
        rates = {(u, v - 1): v, (u + 1, v): 2025, (u - 1, v + 1): u}
        rates = {state: rate for state, rate in rates.items() if rate and state in states}
        found = {states[column]: csr[row, column] for column in csr[row].indices if column < len(states)}
        assert {state: rate for state, rate in found.items() if state != (u, v)} == rates
        assert found[u, v] == -(v + 2025 + u)


def test_the_cantilever_is_a_brick_fixed_at_one_end():
    csr = cantilever.build("smoke")
    (wide, deep, tall), _ = cantilever.SCALES["smoke"]
    lengths = np.diff(csr.indptr)
    fixed = 3 * wide * deep
    assert len(lengths) == fixed * tall
    assert (lengths[:fixed] == 1).all() and (lengths[fixed:] > 1).all()
    rows, columns = csr.nonzero()
    node, other = (np.stack(np.unravel_index(index // 3, (tall, wide, deep))) for index in (rows, columns))
    assert abs(node - other).max() == 1


def test_the_lattice_hops_as_wilson_has_it():
    """The structure is 1 -+ gamma's in Dirac's representation, multiplied out with full matrices of colours."""
    pauli = [np.array(m) for m in ([[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]])]
    zero = np.zeros((2, 2))
    gammas = [np.diag([1, 1, -1, -1]), *(np.block([[zero, -1j * s], [1j * s, zero]]) for s in pauli)]
    edge, csr = 4, qcd.build("smoke")
    site = np.array([1, 0, 3, 2])
    row = np.zeros((edge**4, 4, 4))
    for axis, gamma in enumerate(gammas):
        for step in (1, -1):
            other = site.copy()
            other[axis] = (other[axis] + step) % edge
            row[np.ravel_multi_index(other, (edge,) * 4)] += abs(np.eye(4) + step * gamma)
    here = np.ravel_multi_index(site, (edge,) * 4)
    for spin in range(4):
        wanted = np.repeat(row[:, spin, :].ravel() != 0, 3)
        for colour in range(3):
            assert np.array_equal(csr[12 * here + 3 * spin + colour].toarray().ravel() != 0, wanted)


def test_row_lengths_follow_a_power_law():
    lengths = _irregular.row_lengths(10_000, 31_000, 1, 470, 0.0)
    assert lengths.sum() == 31_000 and lengths[0] == 1 and lengths[-1] == 470
    count = np.bincount(lengths)
    assert count[1] > count[2] > count[4] > count[8] > 0
    slopes = np.log(count[[1, 4]] / count[[2, 8]]) / np.log(2)
    assert slopes[0] == pytest.approx(slopes[1], rel=0.15)


def test_a_circuit_has_the_lengths_it_is_given_and_neighbours_alike():
    lengths = _lengths.lognormal(4096, 24_576, 1, 200, 4.5)
    alike, mixed = (_nets.matrix(lengths, stretch=64, own=own, near=0.8, band=60, seed=1) for own in (0.1, 100.0))
    for csr in (alike, mixed):
        assert np.array_equal(np.sort(np.diff(csr.indptr)), lengths) and abs(csr - csr.T).max() == 0
    widest = [np.diff(csr.indptr).reshape(-1, 32).max(axis=1).sum() for csr in (alike, mixed)]
    assert widest[0] < 0.6 * widest[1]


def test_every_period_of_the_economy_has_the_same_equations():
    csr = economics.build("smoke")
    lengths = np.diff(csr.indptr).reshape(-1, economics.EQUATIONS)
    assert (lengths[1:-1] == lengths[1]).all() and (lengths[0] <= lengths[1]).all()
    assert csr.nnz == 8 * economics.ENTRIES - economics.BEFORE - economics.AFTER


def test_keys_follow_the_package_that_draws_the_numbers(monkeypatch):
    from datasets import recipe_keys

    before = {case: entry(case).key("paper") for case in ("webbase", "ship")}
    monkeypatch.setattr(recipe_keys, "_version", lambda package: "9.9")
    assert entry("webbase").key("paper") != before["webbase"] and entry("ship").key("paper") == before["ship"]


def test_what_cannot_be_made_is_refused():
    with pytest.raises(datasets.MatrixError, match="no row of 8 entries"):
        _nodes.matrix(np.full(60, 3), (5, 4, 3), 3000, 8, 81)
    with pytest.raises(datasets.MatrixError, match="non-zeros, 20,000 are wanted"):
        _nodes.matrix(np.full(60, 1), (5, 4, 3), 20_000, 4, 40)
    with pytest.raises(datasets.MatrixError, match="cannot hold 500 non-zeros"):
        _irregular.row_lengths(10, 500, 1, 40, 0.0)


def test_a_matrix_of_ones_own_joins_them(tmp_path):
    from repro import Skip

    own = datasets.entry("wong2015/own")
    assert own.scales == () and own.key("paper") == datasets.key("wong2015/own", "small")
    with pytest.raises(Skip, match=r"no matrix of your own is given .*--matrix wong2015/own=FILE"):
        datasets.load("wong2015/own", "paper")
    path = tmp_path / "mine.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 1 4\n")
    matrix = datasets.load("wong2015/own", "paper", path)
    assert matrix.title == "mine.mtx (own matrix for Own)" and matrix.nonzeros == 2


# Published elements in thousands, and what stands in for the nodes of the largest, whose matrix is not in the table.
HEARTS = {"3k": (3129, 11), "5k": (4563, 16), "30k": (28_639, 123), "50k": (50_000, 218)}


@pytest.mark.slow
@pytest.mark.parametrize("size", ["3k", "5k"])  # `repro data verify` holds the others to expected.toml
def test_hearts_are_near_the_published_size(size):
    pytest.importorskip("tetgen")
    nodes, elements = HEARTS[size]
    mesh = datasets.load(f"wong2015/heart_{size}", "paper")
    facts = mesh.facts()
    assert facts["nodes"] == pytest.approx(nodes, rel=0.03)
    assert facts["elements"] == pytest.approx(1000 * elements, rel=0.15)
    assert facts["euler_agrees"] and facts["euler_characteristic"] == 1 and facts["dihedral_min"] > 8
    assert "(stand-in)" in mesh.title
    if size != "50k":
        table = published(f"heart-{size}")
        assert (table["rows"], facts["nonzeros_full"]) == (nodes, pytest.approx(table["nonzeros"], rel=0.08))


def test_fibres_lie_in_the_wall_and_turn_through_it():
    pytest.importorskip("tetgen")
    from datasets import heart_fibres

    turn = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    # Across the free wall of the left ventricle, at the height where its ellipsoids are widest.
    for share, angle in ((0.02, -60), (0.5, 0), (0.98, 60)):
        radius = 3.1 + share * (1.8 - 3.1)
        ring = np.stack((-abs(radius * np.cos(turn)), radius * np.sin(turn), 0.2 + 0 * turn), axis=1)
        directions = heart_fibres.fibres(ring)
        assert np.allclose(np.linalg.norm(directions, axis=1), 1)
        radial = ring * [1, 1, 0] / radius
        assert abs((directions * radial).sum(axis=1)).max() < 0.1
        assert np.degrees(np.arcsin(directions[:, 2])) == pytest.approx(angle, abs=8)
    mesh = datasets.load("wong2015/heart_3k", "smoke")
    along = heart_fibres.of_mesh("wong2015/heart_3k", "smoke", mesh.points)
    assert along.shape == mesh.points.shape and np.allclose(np.linalg.norm(along, axis=1), 1)
    assert np.abs(np.degrees(np.arcsin(along[:, 2]))).max() > 50
    centre = heart_fibres.fibres(np.array([[0.0, 0.0, 0.0], [2.4, 0.3, 6.3]]))
    assert np.isfinite(centre).all() and np.allclose(np.linalg.norm(centre, axis=1), 1)
