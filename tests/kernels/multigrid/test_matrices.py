"""Matrices, transfer and approximate inverses against scikit-fem, polynomials and dense least squares."""

import numpy as np
import pytest
import scipy.sparse
import skfem
from skfem.models.poisson import laplace, unit_load

from kernels import multigrid
from kernels.multigrid import elements, spai, transfer

from .conftest import grids, on, orders, problem

# Mesh and element of scikit-fem: curved ones for Q2, whose mesh has the same nodes.
ELEMENTS = {("square", 1): (skfem.MeshQuad, skfem.ElementQuad1), ("circle", 1): (skfem.MeshQuad, skfem.ElementQuad1),
            ("circle", 2): (skfem.MeshQuad2, skfem.ElementQuad2), ("blood", 2): (skfem.MeshQuad2, skfem.ElementQuad2),
            ("cube", 1): (skfem.MeshHex, skfem.ElementHex1)}  # fmt: skip


def by_scikit_fem(space, mesh_type, element):
    """Matrix and load of scikit-fem without boundary conditions, in our numbers."""
    degree, dimension = space.degree, space.points.shape[1]

    def lexicographic(places):  # our local number of scikit-fem's local places, its columns
        return (np.round(degree * places).astype(int).T * (degree + 1) ** np.arange(dimension)).sum(axis=1)

    mesh = mesh_type(space.points.T.copy(), space.nodes[:, lexicographic(mesh_type.elem.doflocs.T)].T.copy())
    points, weights = elements.gauss(degree + 1, dimension)
    basis = skfem.Basis(mesh, element(), quadrature=(points.T, weights))
    ours = np.zeros(basis.N, int)
    ours[basis.element_dofs.T] = space.nodes[:, lexicographic(element.doflocs.T)]
    rank = np.argsort(ours)
    return laplace.assemble(basis).tocsr()[rank][:, rank], unit_load.assemble(basis)[rank]


@pytest.mark.parametrize(("name", "degree"), list(ELEMENTS))
def test_matrix_and_load_are_those_of_scikit_fem(name, degree, pattern_by_scipy):
    space = problem(name, 2).space(2, degree)
    matrix, load = by_scikit_fem(space, *ELEMENTS[name, degree])
    found = multigrid.poisson(space, 1.0)
    free, fixed = np.flatnonzero(~space.boundary), np.flatnonzero(space.boundary)
    assert abs(found.matrix[free] - matrix[free]).max() < 1e-12 * abs(matrix).max()
    assert np.abs(found.rhs[free] - load[free]).max() < 1e-12 * np.abs(load).max()
    unit = scipy.sparse.eye_array(len(load)).tocsr()[fixed]
    assert (found.matrix[fixed] != unit).nnz == 0 and (found.rhs[fixed] == 0).all()
    offsets, columns = pattern_by_scipy(space.nodes, len(load))
    for row in free:  # what shares an element is coupled, be it by zero
        assert np.array_equal(found.matrix[[row]].indices, columns[offsets[row] : offsets[row + 1]])


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("name", ["circle", "cube"])
def test_compiled_assembly_is_that_of_numpy(name, degree, device):
    if device.backend != "openmp":
        pytest.skip("for the C back end, which sets up for processors")
    space = problem(name, 2).space(2, degree)
    ours, theirs = (multigrid.poisson(space, 1.5, lambda x: x[:, 0], device=where) for where in (device, None))
    assert np.array_equal(ours.matrix.indptr, theirs.matrix.indptr)
    assert np.array_equal(ours.matrix.indices, theirs.matrix.indices)
    assert np.allclose(ours.matrix.data, theirs.matrix.data, rtol=0, atol=1e-14 * abs(theirs.matrix).max())
    assert np.allclose(ours.rhs, theirs.rhs, rtol=0, atol=1e-15 * abs(theirs.rhs).max())


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("name", ["circle", "blood", "cube"])
def test_compiled_prolongation_is_that_of_numpy(name, degree, device):
    if device.backend != "openmp":
        pytest.skip("for the C back end, which sets up for processors")
    spaces = [problem(name, 3).space(level, degree) for level in (2, 3)]
    ours, theirs = (transfer.prolongation(*spaces, device=where) for where in (device, None))
    assert ours.shape == theirs.shape
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part))
        assert getattr(ours, part).dtype == getattr(theirs, part).dtype


@pytest.mark.parametrize("numbering", ["cm", "xyz", "sto", "hie"])
@pytest.mark.parametrize(("name", "degree"), [("circle", 1), ("circle", 2), ("cube", 2)])
def test_compiled_permutations_are_those_of_dense_matrices(name, degree, numbering, device):
    if device.backend != "openmp":
        pytest.skip("for the C back end, which sets up for processors")
    old, new = grids(name, degree, 2, with_direct=True), orders(name, degree, 2, numbering)
    found = multigrid.renumbered(old, new, device=device)
    for grid, given, order, below in zip(found, old, new, (None, new[0]), strict=True):
        pairs = [(grid.matrix, given.matrix.toarray()[np.ix_(order, order)])]
        if below is not None:
            pairs.append((grid.prolongator, given.prolongator.toarray()[np.ix_(order, below)]))
        for matrix, dense in pairs:
            assert np.array_equal(matrix.toarray(), dense) and matrix.shape == dense.shape
            assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
            steps = np.diff(matrix.indices) > 0
            steps[matrix.indptr[1:-1][(matrix.indptr[1:-1] > 0) & (matrix.indptr[1:-1] < matrix.nnz)] - 1] = True
            assert steps.all()  # sorted within each row
        lengths = np.diff(given.matrix.indptr)[order]  # zeros stay stored
        assert np.array_equal(np.diff(grid.matrix.indptr), lengths)


def test_levels_that_keep_their_numbers_are_not_copied():
    old = grids("circle", 1, 2)
    same = [np.arange(len(grid.rhs), dtype=np.int32) for grid in old]
    assert all(one is other for one, other in zip(multigrid.renumbered(old, same), old, strict=True))
    same[1] = same[1][::-1].copy()
    turned = multigrid.renumbered(old, same)
    assert np.array_equal(turned[1].rhs, old[1].rhs[::-1]) and np.array_equal(turned[0].rhs, old[0].rhs)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("name", ["square", "cube"])
def test_prolongation_reproduces_functions_of_the_coarse_space(name, degree):
    """Any coarse function stays the same one: compared at random points of random elements, both evaluated there."""
    found = problem(name, 3)
    coarse, fine = found.space(2, degree), found.space(3, degree)
    interior = np.random.default_rng(1).standard_normal(len(coarse.points)) * ~coarse.boundary
    prolongator = transfer.prolongation(coarse, fine)
    dimension = coarse.points.shape[1]
    values = prolongator @ interior
    random = np.random.default_rng(2)
    children = 2**dimension
    for element in random.integers(0, len(coarse.nodes), 20):
        local = random.uniform(0, 1, dimension)
        bits = (local > 0.5).astype(int)
        child = children * element + int((bits << np.arange(dimension)).sum())
        above = elements.values(degree, local[None])[0] @ interior[coarse.nodes[element]]
        below = elements.values(degree, (2 * local - bits)[None])[0] @ values[fine.nodes[child]]
        assert below == pytest.approx(above, abs=1e-13)
    widest = np.diff(prolongator.indptr).max()
    assert widest <= (degree + 1) ** dimension and (prolongator.data != 0).all()
    assert np.diff(prolongator.indptr)[fine.boundary].max() == 0


def test_rows_of_the_paper_s_example():
    """Section 2.3.1: identity, halves for midpoints of edges, quarters in the middle of elements; vertices first."""
    found = problem("square", 3)
    coarse, fine = found.space(2, 1), found.space(3, 1)
    matrix = transfer.prolongation(coarse, fine).toarray()
    free = np.flatnonzero(~coarse.boundary)
    assert np.array_equal(matrix[: len(coarse.points)][np.ix_(free, free)], np.eye(len(free)))
    inner = matrix[matrix.sum(axis=1) > 1 - 1e-12]
    assert {tuple(sorted(row[row > 0])) for row in inner} == {(1.0,), (0.5, 0.5), (0.25,) * 4}


@pytest.mark.parametrize(("name", "degree"), [("circle", 1), ("blood", 1), ("circle", 2)])
def test_approximate_inverse_is_the_least_squares_one(device, name, degree, monkeypatch):
    monkeypatch.setattr(spai, "CHUNK" if device.xp is np else "GPU_CHUNK", 3000)  # several parts a length of rows
    matrix = grids(name, degree, 3 if name == "circle" else 2)[-1].matrix
    inverse = spai.approximate_inverse(device, on(device, grids(name, degree, 3 if name == "circle" else 2))[-1].matrix)
    inverse = inverse.get() if hasattr(inverse, "get") else inverse
    assert np.array_equal(inverse.indices, matrix.indices) and np.array_equal(inverse.indptr, matrix.indptr)
    dense = matrix.toarray()
    for row in np.random.default_rng(0).integers(0, len(dense), 30):
        pattern = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        unit = np.zeros(len(dense))
        unit[row] = 1
        expected = np.linalg.lstsq(dense[pattern].T, unit, rcond=None)[0]
        assert np.allclose(inverse[[row]].toarray()[0, pattern], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("numbering", ["2lv", "sto"])
@pytest.mark.parametrize(("name", "degree"), [("circle", 1), ("circle", 2), ("cube", 2)])
def test_transfer_without_a_matrix_is_the_matrix(device, name, degree, numbering):
    level = 3 if name == "circle" else 2
    grid, below = (grids(name, degree, level, numbering, with_direct=True)[i] for i in (-1, -2))
    random = np.random.default_rng(0)
    coarse, fine = (random.standard_normal(g.matrix.shape[0]) for g in (below, grid))
    x = device.array(fine.copy())
    multigrid.solver.DirectTransfer(device, grid.direct, len(coarse), False).multiply(device.array(coarse), x, 1.0, 1.0)
    assert np.allclose(device.to_host(x), fine + grid.prolongator @ coarse, atol=1e-14)
    c = device.array(np.full(len(coarse), np.nan))
    restrict = multigrid.solver.DirectTransfer(device, grid.direct, len(coarse), True)
    restrict.multiply(device.array(fine), c)
    assert np.allclose(device.to_host(c), grid.prolongator.T @ fine, atol=1e-13)
    with pytest.raises(ValueError, match="no factors"):
        restrict.multiply(device.array(fine), c, 2.0)


@pytest.mark.cuda
def test_set_up_on_the_device_is_that_of_the_host(device):
    if device.backend != "cuda":
        pytest.skip("the set-up of other back ends is NumPy's")
    import datasets
    from datasets.geveler2011 import hierarchy, number

    xp = device.xp
    for name in ("circle", "blood"):
        found = hierarchy(datasets.load(f"geveler2011/{name}", "smoke"), 3, xp)
        for degree in (1, 2):
            spaces = [found.space(i, degree) for i in (1, 2, 3)]
            made = multigrid.grids(spaces, found.source, found.dirichlet, xp, device.sparse)
            for ours, theirs in zip(made, grids(name, degree, 3), strict=True):
                assert abs(ours.matrix.get() - theirs.matrix).max() < 1e-12 * abs(theirs.matrix).max()
                assert np.allclose(ours.rhs.get(), theirs.rhs, atol=1e-14)
                if theirs.prolongator is not None:
                    assert abs(ours.prolongator.get() - theirs.prolongator).max() < 1e-14
            for numbering in ("xyz", "hie"):
                host = number(numbering, problem(name, 3).space(3, degree))
                assert np.array_equal(number(numbering, spaces[2], xp=xp).get(), host)
