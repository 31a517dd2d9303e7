"""Elasticity of every element on every back end against scikit-fem, rigid motions, patch tests and supports."""

import numpy as np
import pytest
import scipy.sparse
import skfem
from skfem.helpers import ddot, sym_grad, trace

from datasets import grids, structured
from kernels.assembly import elasticity
from kernels.assembly.elasticity.elements import ELEMENTS

NAMES = [kind.name for kind in ELEMENTS.values()]
SKFEM = {
    "triangle": (skfem.MeshTri, skfem.ElementTriP1), "quad": (skfem.MeshQuad, skfem.ElementQuad1),
    "tetra": (skfem.MeshTet, skfem.ElementTetP1), "hexahedron": (skfem.MeshHex, skfem.ElementHex1),
}  # fmt: skip


def distorted(name, counts=(4, 3, 2), shuffle=True):
    """A box with all nodes moved, nodes and elements in random order and the nodes of elements turned round."""
    if name == "tetra":
        points, cells = structured.kuhn(counts, counts)
    elif name == "hexahedron":
        points, cells = grids.hexes(counts, counts)
    else:
        points, cells = grids.quads(counts[:2], counts[:2])
        if name == "triangle":
            cells = cells[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    random = np.random.default_rng(11)
    points = points + random.uniform(-0.12, 0.12, points.shape)
    if not shuffle:
        return points, cells
    order = random.permutation(len(points))
    cells = np.argsort(order)[cells][random.permutation(len(cells))]
    turns = {"triangle": [1, 2, 0], "quad": [2, 3, 0, 1], "tetra": [1, 2, 0, 3], "hexahedron": [1, 2, 3, 0, 5, 6, 7, 4]}
    cells[::2] = cells[::2][:, turns[name]]
    return points[order], cells.astype(np.int32)


def by_scikit_fem(problem):
    """Return matrix and right-hand side, the unknowns of a node side by side."""
    mesh, element = SKFEM[problem.element.name]
    cells = problem.cells
    if problem.element.name == "hexahedron":  # its own order of nodes
        cells = cells[:, [0, 4, 3, 1, 7, 5, 2, 6]]
    basis = skfem.Basis(
        mesh(problem.points.T.copy(), cells.T.astype(np.int64).copy()), skfem.ElementVector(element()), intorder=2
    )
    first, second = problem.lame

    @skfem.BilinearForm
    def stiffness(u, v, w):
        strain = sym_grad(u)
        return first * trace(strain) * trace(sym_grad(v)) + 2 * second * ddot(strain, sym_grad(v))

    @skfem.LinearForm
    def weight(v, w):
        return sum(b * v[a] for a, b in enumerate(problem.body))

    ours = basis.nodal_dofs.T.ravel()
    return stiffness.assemble(basis)[ours][:, ours], weight.assemble(basis)[ours]


def assembled(device, problem, **options):
    assembler = elasticity.prepare(device, problem, **options)
    assembler.launch()
    return assembler.result()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_scikit_fem_assembles(name, device, assert_same_system):
    points, cells = distorted(name)
    body = (0.3, -1.7, 0.9)[: points.shape[1]]
    problem = elasticity.Elasticity(points, cells, 2.3, 0.27, None, body)
    matrix, rhs = assembled(device, problem)
    assert_same_system((matrix, rhs), by_scikit_fem(problem))
    assert matrix.shape == (points.size, points.size) and matrix.has_sorted_indices
    assert abs(matrix - matrix.T).max() <= 1e-15 * abs(matrix).max()


@pytest.mark.parametrize("name", NAMES)
def test_supports_are_unit_rows_and_the_pattern_stays(name, device):
    points, cells = distorted(name)
    body = (1.0, 2.0, 3.0)[: points.shape[1]]
    fixed = np.random.default_rng(0).random(points.shape) < 0.2
    free = ~fixed.ravel()
    expected, load = by_scikit_fem(elasticity.Elasticity(points, cells, body=body))
    matrix, rhs = assembled(device, elasticity.Elasticity(points, cells, fixed=fixed, body=body))
    whole, _ = assembled(device, elasticity.Elasticity(points, cells, body=body))
    assert np.array_equal(matrix.indptr, whole.indptr) and np.array_equal(matrix.indices, whole.indices)
    keep = scipy.sparse.diags_array(free.astype(float))
    eliminated = keep @ expected @ keep + scipy.sparse.diags_array(fixed.ravel().astype(float))
    assert abs(matrix - eliminated).max() <= 1e-12 * abs(expected).max()
    assert np.array_equal(matrix[~free].toarray(), np.eye(points.size)[~free])
    assert not rhs[~free].any() and np.allclose(rhs[free], load[free], rtol=0, atol=1e-12 * abs(load).max())


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_of_nodes_of_an_element_has_a_whole_block(name, device, pattern_by_scipy):
    """Also where entries are exactly zero, as many are on a grid of squares."""
    points, cells = distorted(name, shuffle=False)
    if name in ("quad", "hexahedron"):
        points, cells = grids.quads(3) if name == "quad" else grids.hexes(3)
    size = points.shape[1]
    matrix, _ = assembled(device, elasticity.cantilever(points, cells))
    offsets, columns = pattern_by_scipy(cells, len(points))
    nodal = scipy.sparse.csr_array((np.ones(len(columns)), columns, offsets))
    expected = scipy.sparse.kron(nodal, np.ones((size, size)), format="csr")
    expected.sort_indices()
    assert np.array_equal(matrix.indptr, expected.indptr) and np.array_equal(matrix.indices, expected.indices)


@pytest.mark.parametrize("name", NAMES)
def test_rigid_motions_cost_nothing_and_uniform_strain_is_in_balance_inside(name, device):
    points, cells = distorted(name, (4, 4, 4))
    matrix, _ = assembled(device, elasticity.Elasticity(points, cells, 1.0, 0.3))
    size = points.shape[1]
    largest = abs(matrix).max()
    spins = [np.eye(size)[:, a][:, None] * np.eye(size)[b] - np.eye(size)[:, b][:, None] * np.eye(size)[a]
             for a in range(size) for b in range(a)]  # fmt: skip
    for motion in [*(np.ones_like(points) * axis for axis in np.eye(size)), *(points @ spin for spin in spins)]:
        assert abs(matrix @ motion.ravel()).max() <= 1e-13 * largest * abs(motion).max()
    inside = ((points > 0.5) & (points < 3.5)).all(axis=1)
    assert inside.any()
    strained = points @ np.random.default_rng(2).normal(size=(size, size))
    force = (matrix @ strained.ravel()).reshape(points.shape)
    assert abs(force[inside]).max() <= 1e-13 * largest * abs(strained).max() < 1e-3 * abs(force[~inside]).max()


def test_plane_stress_of_a_bar_in_tension(device):
    """A uniform stress σ strains by σ / E along it and by -ν σ / E across; in a solid across both ways."""
    for points, cells in (grids.quads((4, 3), (2.0, 1.0)), grids.hexes((3, 2, 2), (2.0, 1.0, 1.0))):
        matrix, _ = assembled(device, elasticity.Elasticity(points, cells, 5.0, 0.3))
        strained = points * ([0.02] + [-0.3 * 0.02] * (points.shape[1] - 1))
        force = (matrix @ strained.ravel()).reshape(points.shape)
        end = points[:, 0] == 2.0
        assert force[end, 0].sum() == pytest.approx(5.0 * 0.02, rel=1e-12)  # over a cross-section of 1
        assert abs(force[:, 1:]).max() <= 1e-15 and abs(force[(points[:, 0] > 0) & ~end]).max() <= 1e-15


@pytest.mark.parametrize("name", NAMES)
def test_the_cantilever(name, device):
    points, cells = distorted(name, shuffle=False)
    points = points.copy()
    points[points[:, 0] < 0.5, 0] = 0.0
    problem = elasticity.cantilever(points, cells)
    assert np.array_equal(np.flatnonzero(problem.fixed.all(axis=1)), np.flatnonzero(points[:, 0] == 0))
    system = elasticity.system(device, problem)
    matrix, rhs = system.matrix, device.to_host(system.rhs)
    matrix = matrix.get() if hasattr(matrix, "get") else matrix
    assert system.block_size == points.shape[1] and np.linalg.eigvalsh(matrix.toarray())[0] > 0
    deflection = scipy.sparse.linalg.spsolve(matrix.tocsc(), rhs).reshape(points.shape)
    assert deflection[points[:, 0] > 3.5, -1].max() < 0 and not deflection[problem.fixed].any()


@pytest.mark.parametrize(("cells", "scale"), [(7, 1), (400, 2)])
def test_nonzeros_of_a_square_of_quadrilaterals(cells, scale, device):
    if cells == 400 and device.backend != "openmp":
        pytest.skip("once is enough: the pattern is made by the same lines")
    made = elasticity.prepare(device, elasticity.cantilever(*grids.quads(cells)))
    assert made.nonzeros == 4 * (3 * (cells + 1) - 2) ** 2
    if cells == 400:
        assert made.nonzeros == 5_769_604


@pytest.mark.slow
def test_the_published_hexahedra(device):
    if device.backend == "opencl":
        pytest.skip("once is enough: the pattern is made by the same lines")
    problem = elasticity.cantilever(*grids.hexes(54))
    assert problem.unknowns == 499_125
    assert elasticity.prepare(device, problem).nonzeros == 38_976_723


@pytest.mark.parametrize("block", [1, 32, 256])
def test_blocks_of_any_size_and_the_same_bits_every_time(block, device):
    problem = elasticity.cantilever(*distorted("hexahedron"))
    assembler = elasticity.prepare(device, problem, block=block)
    assembler.launch()
    matrix, rhs = assembler.result()
    for _ in range(2):
        assembler.launch()
    again, same_rhs = assembler.result()
    reference, _ = assembled(device, problem)
    assert np.array_equal(matrix.data, again.data) and np.array_equal(rhs, same_rhs)
    # A compiler may contract other operations in loops of another length.
    np.testing.assert_allclose(matrix.data, reference.data, rtol=0, atol=1e-15 * np.abs(reference.data).max())
    assert assembler.facts["plan_bytes"] > 0 and assembler.nonzeros == matrix.nnz


def test_a_node_of_no_element_has_its_diagonal_block(device):
    points, cells = grids.quads(2)
    points = np.vstack([points, [[5.0, 5.0]]])
    matrix, rhs = assembled(device, elasticity.Elasticity(points, cells, body=(0.0, 1.0)))
    assert matrix.shape == (20, 20) and matrix[18:].nnz == 4 and not matrix[18:].toarray().any()
    assert not rhs[18:].any()


def test_what_must_move_is_counted():
    points, cells = distorted("hexahedron")
    problem = elasticity.cantilever(points, cells)
    work = problem.least_work(1000)
    assert work.bytes == cells.nbytes + points.nbytes + problem.fixed.nbytes + 8000 + 8 * points.size


def test_what_is_refused():
    points, cells = grids.quads(2)
    with pytest.raises(ValueError, match=r"no element has 3 nodes in 3-D; there are triangle 3 in 2-D, quad"):
        elasticity.Elasticity(np.zeros((3, 3)), np.array([[0, 1, 2]]))
    for young, poisson in ((0, 0.3), (1, 1), (1, -1), (np.nan, 0.3)):
        with pytest.raises(ValueError, match="no material has"):
            elasticity.Elasticity(points, cells, young, poisson)
    solid = grids.hexes(1)
    with pytest.raises(ValueError, match=r"-1 < ν < 0.5"):
        elasticity.Elasticity(*solid, 1.0, 0.5)
    with pytest.raises(ValueError, match=r"fixed must have shape \(9, 2\)"):
        elasticity.Elasticity(points, cells, fixed=np.zeros(9, dtype=bool))
    with pytest.raises(ValueError, match="body must have 2 components"):
        elasticity.Elasticity(points, cells, body=(0, 0, 1))


def test_more_nonzeros_than_32_bits_are_refused(device, monkeypatch):
    from kernels.assembly.elasticity import blocks

    monkeypatch.setattr(blocks, "LIMIT", 100)
    with pytest.raises(ValueError, match="196 non-zeros are too many for 32-bit row offsets"):
        elasticity.prepare(device, elasticity.cantilever(*grids.quads(2)))
