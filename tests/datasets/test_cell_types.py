"""Triangles, quadrilaterals, tetrahedra and hexahedra: counts, sizes, shapes, checks and files, for each the same."""

import types

import numpy as np
import pytest
import scipy.sparse
import skfem

import datasets
from datasets import MeshError, connectivity, grids, recipes, shapes, structured, validation
from datasets.cells import TYPES
from datasets.mesh import Mesh

NAMES = list(TYPES)


def grid(name, turn=True):
    """A box of 3 x 4 (x 2) with inner nodes moved, turned and shifted."""
    size = (3.0, 4.0, 2.0)
    if name == "tetra":
        points, cells = structured.kuhn((3, 4, 2), size)
    elif name == "hexahedron":
        points, cells = grids.hexes((3, 4, 2), size)
    else:
        points, cells = grids.quads((3, 4), size[:2])
        if name == "triangle":
            cells = cells[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    dimension = points.shape[1]
    inner = ((points > 0) & (points < size[:dimension])).all(axis=1)
    random = np.random.default_rng(5)
    points = points + 0.2 * random.uniform(-1, 1, points.shape) * inner[:, None]
    if not turn:
        return points, cells
    rotation = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
    rotation[0] *= np.sign(np.linalg.det(rotation))
    return points @ rotation.T + 7.0, cells


def scikit_fem_mesh(name, points, cells):
    made = {"triangle": skfem.MeshTri, "quad": skfem.MeshQuad, "tetra": skfem.MeshTet, "hexahedron": skfem.MeshHex}
    if name == "hexahedron":  # its own order of nodes
        cells = cells[:, [0, 4, 3, 1, 7, 5, 2, 6]]
    return made[name](points.T.copy(), cells.T.astype(np.int64).copy())


@pytest.mark.parametrize("name", NAMES)
def test_counts_agree_with_scikit_fem_and_with_eulers_formula(name):
    points, cells = grid(name)
    facts = connectivity.facts(cells, len(points), TYPES[name])
    mesh = scikit_fem_mesh(name, points, cells)
    edges = mesh.facets if TYPES[name].dimension == 2 else mesh.edges
    assert facts["edges"] == edges.shape[1]
    assert facts["boundary_faces"] == mesh.boundary_facets().size
    assert facts["boundary_nodes"] == len(mesh.boundary_nodes())
    assert facts["euler_agrees"] and facts["nonzeros_euler"] == facts["nonzeros_full"]
    assert facts["euler_characteristic"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_nonzeros_are_those_of_the_matrix(name):
    points, cells = grid(name)
    count, width = cells.shape
    incidence = scipy.sparse.csr_array((np.ones(cells.size), (cells.ravel(), np.repeat(np.arange(count), width))))
    matrix = (incidence @ incidence.T).tocsr()
    facts = connectivity.facts(cells, len(points), TYPES[name])
    assert facts["nonzeros_full"] == matrix.nnz
    assert (facts["valence_min"], facts["valence_max"]) == tuple(np.sort(np.diff(matrix.indptr))[[0, -1]] - 1)
    pairs = connectivity.couplings(cells, len(points), TYPES[name])
    assert np.array_equal(pairs, np.argwhere(np.triu(matrix.toarray(), 1)))


@pytest.mark.parametrize("name", ["triangle", "quad", "hexahedron"])
def test_a_hole_is_no_boundary_of_its_own_kind(name):
    """With a hole through it, a plane mesh has Euler's characteristic 0, and so has a solid one."""
    points, cells = grids.hexes(3) if name == "hexahedron" else grids.quads(3)
    cells = cells[~(np.abs(points[cells].mean(axis=1)[:, :2] - 0.5) < 0.1).all(axis=1)]
    if name == "triangle":
        cells = cells[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    facts = connectivity.facts(cells, len(points), TYPES[name])
    assert facts["euler_characteristic"] == 0 and facts["euler_agrees"]


@pytest.mark.parametrize("name", NAMES)
def test_boundary_facets_are_closed_and_point_outwards(name):
    points, cells = grid(name)
    facets = connectivity.boundary_facets(cells, len(points), TYPES[name])
    corners = points[facets]
    if TYPES[name].dimension == 2:
        along = corners[:, 1] - corners[:, 0]
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        quarter = corners.shape[1] == 4
        before, after = (1, 3) if quarter else (0, 1)  # half the product of the diagonals, or of two edges
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, after] - corners[:, before])
        normals *= 0.5 if quarter else -0.5
    assert np.allclose(normals.sum(axis=0), 0, atol=1e-12)
    # The divergence theorem for x, exact where facets are flat: the box's are.
    enclosed = (normals * corners.mean(axis=1)).sum() / TYPES[name].dimension
    assert enclosed == pytest.approx(24 if TYPES[name].dimension == 3 else 12, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_sizes_agree_with_scikit_fem(name):
    points, cells = grid(name)
    element = {
        "triangle": skfem.ElementTriP1, "quad": skfem.ElementQuad1, "tetra": skfem.ElementTetP1,
        "hexahedron": skfem.ElementHex1,
    }[name]()  # fmt: skip
    basis = skfem.Basis(scikit_fem_mesh(name, points, cells), element, intorder=4)
    expected = basis.dx.sum(axis=1)
    assert shapes.sizes(points, cells, TYPES[name]) == pytest.approx(expected, rel=1e-12)
    facts = shapes.facts(points, cells, TYPES[name])
    assert facts["area" if TYPES[name].dimension == 2 else "volume"] == pytest.approx(expected.sum(), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_mirrored_elements_are_turned_and_mixed_ones_refused(name):
    points, cells = grid(name)
    kind = TYPES[name]
    mirrored = cells[:, kind.mirrored]
    assert (shapes.sizes(points, mirrored, kind) < 0).all()
    assert (shapes.relative_jacobians(points, mirrored, kind) < 0).all()
    assert (shapes.relative_jacobians(points, shapes.oriented(points, mirrored, kind), kind) > 0).all()
    turned = validation.checked(points, mirrored, "mine", name)
    assert np.array_equal(turned, cells) and np.array_equal(validation.checked(points, cells, "mine", name), cells)
    mixed = cells.copy()
    mixed[3] = mixed[3][list(kind.mirrored)]
    with pytest.raises(MeshError, match=r"mine: element 3 \(nodes .*\) is inverted"):
        validation.checked(points, mixed, "mine", name)
    given = mixed.copy()
    assert Mesh.oriented(points, mixed, cell_type=name).cells.tolist() == cells.tolist()
    assert np.array_equal(mixed, given)


def test_regular_shapes():
    triangle = np.array([[0, 0], [1, 0], [0.5, np.sqrt(3) / 2]])
    facts = shapes.facts(triangle, np.array([[0, 1, 2]]), TYPES["triangle"])
    assert facts["angle_min"] == pytest.approx(60) and facts["angle_max"] == pytest.approx(60)
    assert facts["radius_ratio_min"] == pytest.approx(1)
    assert shapes.relative_jacobians(triangle, np.array([[0, 1, 2]]), TYPES["triangle"]) == pytest.approx(1)
    # 3-4-5: inscribed radius 1, circumscribed 5/2.
    right = shapes.facts(np.array([[0.0, 0], [4, 0], [0, 3]]), np.array([[0, 1, 2]]), TYPES["triangle"])
    assert right["radius_ratio_min"] == pytest.approx(0.8) and right["angle_max"] == pytest.approx(90)
    rhombus = np.array([[0, 0], [1, 0], [1.5, np.sqrt(3) / 2], [0.5, np.sqrt(3) / 2]])
    facts = shapes.facts(rhombus, np.array([[0, 1, 2, 3]]), TYPES["quad"])
    assert (facts["angle_min"], facts["angle_max"]) == pytest.approx((60, 120))
    assert facts["scaled_jacobian_min"] == pytest.approx(np.sin(np.pi / 3))
    points, cells = grids.hexes(2, (1.0, 2.0, 5.0))
    facts = shapes.facts(points, cells, TYPES["hexahedron"])
    assert facts["scaled_jacobian_min"] == pytest.approx(1) and facts["volume"] == pytest.approx(10)


def test_blocks_join_up(monkeypatch):
    for name in NAMES:
        points, cells = grid(name)
        whole = shapes.facts(points, cells, TYPES[name])
        monkeypatch.setattr(shapes, "BLOCK", 5)
        assert shapes.facts(points, cells, TYPES[name]) == pytest.approx(whole, rel=1e-13)
        monkeypatch.undo()


@pytest.mark.parametrize("spread", [1, 40_000, 100_000_000])
@pytest.mark.parametrize("name", NAMES)
def test_facet_keys_of_meshes_too_large_for_64_bits(name, spread):
    points, cells = grid(name)
    far = cells.astype(np.int64) * spread + 17 % spread
    few = connectivity.boundary_facets(cells, len(points), TYPES[name])
    many = connectivity.boundary_facets(far, len(points) * spread, TYPES[name])
    assert np.array_equal(few * np.int64(spread) + 17 % spread, many)
    keys = connectivity.facet_keys(far, len(points) * spread, TYPES[name]).ravel()
    assert len(np.unique(keys)) == len(keys) and (~np.isin(keys ^ 1, keys)).sum() == len(few)


def broken(name, how):
    points, cells = grid(name, turn=False)
    points, cells = points.copy(), cells.copy()
    kind = TYPES[name]
    solid = kind.dimension == 3
    if how == "flat":
        first = cells[5]
        points[first[1]] = (points[first[0]] + points[first[2]]) / 2 if not solid else points[first[0]] + 0.3 * (
            points[first[3]] - points[first[0]]) + 0.3 * (points[first[4]] - points[first[0]])  # fmt: skip
        return points, cells, f" is flat at node {first[1] if not solid else first[0]}"
    if how == "twisted":
        cells[5] = cells[5][[0, 2, 1, 3, *range(4, kind.nodes)]]
        return points, cells, f"element 5 (nodes {cells[5].tolist()}) is twisted or not convex"
    if how == "repeated":
        cells[5, 0] = cells[5, 2]
        return points, cells, "element 5 has a node twice"
    if how == "unused":
        return np.concatenate((points, points[:1] - 9)), cells, f"belongs to no {kind.singular}"
    if how == "same side":
        extra = len(points) + np.arange(kind.nodes - kind.nodes // 2)
        side = list(kind.facets[0])
        element = cells[0].copy()
        moved = [i for i in range(kind.nodes) if i not in side]
        element[moved] = extra[: len(moved)]
        points = np.concatenate((points, points[cells[0][moved]] + 1e-3))
        return points, np.concatenate((cells, element[None])), ("face" if solid else "edge") + " with nodes"
    raise KeyError(how)


@pytest.mark.parametrize("how", ["flat", "twisted", "repeated", "unused", "same side"])
@pytest.mark.parametrize("name", ["quad", "hexahedron"])
def test_what_is_broken_is_named(name, how):
    points, cells, said = broken(name, how)
    with pytest.raises(MeshError) as error:
        validation.checked(points, cells, "mine", name)
    assert said in str(error.value) and str(error.value).startswith("mine: ")


def test_flat_triangles_and_overlapping_ones():
    points = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1]])
    with pytest.raises(MeshError, match=r"element 1 .* is flat: its area is .* of a regular triangle's"):
        validation.checked(points, np.array([[0, 1, 3], [0, 1, 2]]), "mine", "triangle")
    with pytest.raises(MeshError, match="same side of the edge with nodes"):
        validation.checked(points, np.array([[0, 1, 3], [0, 2, 3]]), "mine", "triangle")
    with pytest.raises(MeshError, match="the mesh has no triangles"):
        validation.checked(points, np.empty((0, 3), dtype=int), "mine", "triangle")


def test_faces_of_the_same_nodes_and_other_edges_do_not_fit():
    """A cube on a cube whose top has two of its nodes exchanged."""
    points, cells = grids.hexes((1, 1, 2))
    keys = connectivity.facet_keys(cells, len(points), TYPES["hexahedron"])
    assert len(np.intersect1d(keys[1, 0] ^ 1, keys[0, 1])) == 1
    crossed = cells.copy()
    crossed[1, :4] = crossed[1, [0, 2, 1, 3]]
    keys = connectivity.facet_keys(crossed, len(points), TYPES["hexahedron"])
    assert keys[1, 0] >> 3 == keys[0, 1] >> 3 and keys[1, 0] ^ 1 != keys[0, 1]


@pytest.fixture
def entry(request, monkeypatch):
    """A recipe of that type of element in the catalogue, as `made/grid`."""
    recipe = types.SimpleNamespace(build=lambda scale: grid(request.param))
    made = recipes.Entry("made/grid", "Grid", ("smoke",), cell_type=request.param, recipe=recipe)
    monkeypatch.setattr(recipes, "entry", lambda name: made)
    monkeypatch.setattr(datasets, "entry", lambda name: made)
    monkeypatch.setattr(recipes.recipe_keys, "key", lambda name, scale, variant: f"{request.param}-of-the-tests")
    return made


@pytest.mark.parametrize("entry", NAMES, indirect=True)
def test_a_recipe_says_its_cell_type(entry):
    mesh = datasets.load("made/grid", "smoke")
    assert mesh.cell_type == entry.cell_type and len(mesh.cells) == len(grid(entry.cell_type)[1])
    assert entry.verify("smoke") == []


@pytest.mark.parametrize(
    ("entry", "suffix"), [*((name, ".vtu") for name in NAMES), *(("quad", end) for end in (".msh", ".mesh", ".inp"))],
    indirect=["entry"],
)  # fmt: skip
def test_own_files(entry, suffix, tmp_path):
    meshio = pytest.importorskip("meshio")
    points, cells = grid(entry.cell_type)
    flat = np.pad(points, ((0, 0), (0, 3 - points.shape[1])), constant_values=2.5)
    path = tmp_path / f"mine{suffix}"
    blocks = (
        [("line", cells[:2, :2]), (entry.cell_type, cells)]
        if suffix in (".vtu", ".mesh")
        else [(entry.cell_type, cells)]
    )
    meshio.write(path, meshio.Mesh(flat, blocks))
    mesh = datasets.load("made/grid", "smoke", override=path)
    assert mesh.cell_type == entry.cell_type and mesh.points.shape == points.shape
    assert np.allclose(mesh.points, points) and np.array_equal(mesh.cells, cells)


@pytest.mark.parametrize("entry", ["quad"], indirect=True)
def test_plane_meshes_lie_in_a_plane_and_are_of_one_kind(entry, tmp_path):
    meshio = pytest.importorskip("meshio")
    points, cells = grid("quad")
    path = tmp_path / "mine.vtu"
    bent = np.column_stack([points, np.where(np.arange(len(points)) == 6, 0.5, 0.0)])
    meshio.write(path, meshio.Mesh(bent, [("quad", cells)]))
    with pytest.raises(MeshError, match=r"constant z, but node 6 has z = 0.5 and node 0 has z = 0"):
        datasets.load("made/grid", "smoke", override=path)
    flat = np.pad(points, ((0, 0), (0, 1)))
    meshio.write(path, meshio.Mesh(flat, [("quad", cells), ("triangle", cells[:3, :3])]))
    with pytest.raises(MeshError, match=r"other elements beside quadrilaterals \(12 quad, 3 triangle\)"):
        datasets.load("made/grid", "smoke", override=path)
    meshio.write(path, meshio.Mesh(flat, [("quad8", np.arange(8)[None])]))
    with pytest.raises(MeshError, match=r"quadrilaterals of higher order \(1 quad8\); only linear ones"):
        datasets.load("made/grid", "smoke", override=path)


def test_grids():
    points, cells = grids.quads((2, 1), (4.0, 3.0))
    assert points.tolist() == [[0, 0], [0, 3], [2, 0], [2, 3], [4, 0], [4, 3]]
    assert cells.tolist() == [[0, 2, 3, 1], [2, 4, 5, 3]]
    points, cells = grids.hexes(1)
    assert points[cells[0]].tolist() == [
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1],
    ]  # fmt: skip
    for wrong in (0, (1, 2, 3), (2, -1)):
        with pytest.raises(ValueError, match="cells must be one or 2 positive integers"):
            grids.quads(wrong)
    with pytest.raises(ValueError, match="too many for 32-bit"):
        grids.hexes(1300)
