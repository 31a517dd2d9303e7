"""The coarse space against the paper's formula with masses, its matrix, and the K-cycle against direct solves."""

import itertools

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from baselines.sem.sums import Sums
from kernels.sem import gather, kcycle
from kernels.sem.aggregates import hierarchy
from kernels.sem.coarse import CoarseSpace, matrix
from kernels.sem.geometry import node_coordinates
from kernels.sem.kcycle import EXACT, NEAR_EXACT, KCycle
from kernels.sem.solver import Solver
from kernels.sem.stiffness import Operator

from .conftest import MESHES, disturbed, grid


def host(device, array):
    return np.array(array.get() if hasattr(array, "get") else device.to_host(array))


def sparse(matrix):
    return matrix.get() if hasattr(matrix, "get") else matrix


@pytest.mark.parametrize("order", [1, 2, 5])
def test_restriction_is_the_papers_with_masses(device, mesh, order):
    points, cells = mesh
    operator = Operator(device, points, cells, order)
    space = CoarseSpace(operator, None, "float64")
    table, vertices = host(device, operator.numbering.table), host(device, space.vertices)
    sums = Sums(points, cells, order)
    local_mass = np.ascontiguousarray(sums.metric(cells)[1].T)
    mass = np.bincount(table.ravel(), weights=local_mass.ravel())
    rising = (1 + sums.t) / 2
    one = np.stack([1 - rising, rising])
    b = np.einsum("Kk,Jj,Ii->KJIkji", one, one, one).reshape(8, -1)
    r = np.random.default_rng(order).normal(size=operator.nodes)
    expected = np.bincount(vertices.ravel(), weights=((r / mass)[table] * local_mass @ b.T).ravel())
    coarse = device.zeros(space.unknowns, "float64")
    space.restrict(device.array(r), coarse)
    np.testing.assert_allclose(host(device, coarse), expected, atol=1e-12 * np.abs(expected).max())


def test_a_restriction_sets_nothing_up(device, monkeypatch):
    """On CUDA it goes beside other work, in a stream with memory of its own."""
    operator = Operator(device, *grid((3, 3, 3)), 2)
    space = CoarseSpace(operator, None, "float64")
    monkeypatch.setattr(gather, "places_of", None)
    space.restrict(device.zeros(operator.nodes, "float64"), device.empty(space.unknowns, "float64"))


def test_prolongation_keeps_linear_functions_and_is_the_transpose(device):
    points, cells = MESHES["disturbed"]()
    operator = Operator(device, points, cells, 4, dirichlet="boundary")
    free, inner = CoarseSpace(operator, None, "float64"), CoarseSpace(operator, operator.numbering.boundary, "float64")
    table = host(device, operator.numbering.table)
    at = np.empty((operator.nodes, 3))
    at[table.ravel()] = node_coordinates(points, cells, 4).reshape(-1, 3)
    n, q = 4, 5
    corners = table[:, [n * (a + q * b + q * q * c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]]
    values = np.empty(free.unknowns)
    values[host(device, free.vertices).ravel()] = (at[corners] @ [2.0, -1.0, 3.0] + 5).ravel()
    z = device.zeros(operator.nodes, "float64")
    free.prolong_add(device.array(values), z)
    np.testing.assert_allclose(host(device, z), at @ [2.0, -1.0, 3.0] + 5, atol=1e-12)
    random = np.random.default_rng(0)
    x, y = random.normal(size=inner.unknowns), random.normal(size=operator.nodes)
    down, up = device.zeros(inner.unknowns, "float64"), device.zeros(operator.nodes, "float64")
    inner.restrict(device.array(y), down)
    inner.prolong_add(device.array(x), up)
    assert np.isclose(x @ host(device, down), y @ host(device, up), rtol=1e-12)
    assert (host(device, up)[host(device, operator.numbering.boundary)] == 0).all()


def test_matrix_is_the_operator_of_order_one(device, mesh):
    points, cells = mesh
    kappa, mass = np.random.default_rng(0).uniform(0.5, 2, (2, len(cells)))
    operator = Operator(device, points, cells, 1, kappa=kappa, mass=mass)
    space = CoarseSpace(operator, None, "float64")
    found = sparse(matrix(device, points, cells, space.vertices, space.unknowns, kappa, mass))
    x, y = np.random.default_rng(1).normal(size=space.unknowns), device.zeros(operator.nodes, "float64")
    operator.multiply(device.array(x), y)  # at order 1 unknowns are nodes, in one order
    np.testing.assert_allclose(found @ x, host(device, y), atol=1e-12 * np.abs(host(device, y)).max())


def poisson(device, shape, move=0.0, mass=0.0):
    points, cells = disturbed(*grid(shape, move=move))
    operator = Operator(device, points, cells, 1)
    space = CoarseSpace(operator, operator.numbering.boundary)
    return matrix(device, points, cells, space.vertices, space.unknowns, mass=mass)


@pytest.mark.parametrize("move", [0.0, 0.2])
def test_aggregates_are_small_and_coarse_matrices_galerkins(device, move):
    levels = hierarchy(device, poisson(device, (9, 9, 9), move), coarsest=60)
    assert len(levels) == 3 and levels[-1].matrix.shape[0] <= 60
    for level, coarser in itertools.pairwise(levels):
        labels, fine = host(device, level.labels), sparse(level.matrix)
        sizes = np.bincount(labels, minlength=level.aggregates)
        assert 1 <= sizes.min() and sizes.max() <= 8 and sizes.mean() > 5
        tentative = scipy.sparse.csr_matrix((np.ones(len(labels)), (np.arange(len(labels)), labels)))
        expected = tentative.T @ fine @ tentative
        assert abs(sparse(coarser.matrix) - expected).max() <= 1e-12 * abs(expected).max()
        coo = fine.tocoo()
        together = labels[coo.row] == labels[coo.col]
        inside = scipy.sparse.csr_matrix((together[together], (coo.row[together], coo.col[together])), fine.shape)
        assert scipy.sparse.csgraph.connected_components(inside)[0] == level.aggregates


@pytest.mark.parametrize(("dtype", "move"), [("float64", 0.0), ("float64", 0.2), ("float32", 0.2)])
def test_kcycle_against_direct_solves(device, dtype, move):
    a = poisson(device, (10, 10, 10), move)
    cycle, a = KCycle(device, a, dtype, coarsest=20), sparse(a)
    assert len(cycle.rows) == 3 and cycle.operator_complexity < 1.6
    direct = scipy.sparse.linalg.splu(a.tocsc())

    def applied(r):
        z = device.zeros(len(r), dtype)
        cycle.apply(device.array(r, dtype), z)
        return host(device, z).astype(float)

    random = np.random.default_rng(3)
    for r in (np.ones(a.shape[0]), *random.normal(size=(3, a.shape[0]))):
        z, x = applied(r), direct.solve(r)
        error, size = z - x, x @ r
        assert error @ (a @ error) <= 0.35**2 * size and z @ r > 0
        np.testing.assert_allclose(applied(8 * r), 8 * z, rtol=1e-4 if dtype == "float32" else 1e-10, atol=1e-6)
    x, y = random.normal(size=(2, a.shape[0]))  # no linear map, but nearly
    px, py = applied(x), applied(y)
    assert abs(y @ px - x @ py) <= 0.02 * np.sqrt((x @ px) * (y @ py))
    assert (applied(np.zeros(a.shape[0])) == 0).all()


def test_a_cycle_alone(device):
    """Worse than two steps over cycles, at about half of their work; and a preconditioner by itself."""
    a = poisson(device, (10, 10, 10), 0.1)
    one, two = (KCycle(device, a, "float64", coarsest=20, steps=steps, corrections=1) for steps in (1, 2))
    direct, r = scipy.sparse.linalg.splu(sparse(a).tocsc()), np.random.default_rng(3).normal(size=a.shape[0])
    errors = []
    for cycle in (one, two):
        z = device.zeros(len(r), "float64")
        cycle.apply(device.array(r), z)
        error = host(device, z) - direct.solve(r)
        errors.append(np.sqrt(error @ (sparse(a) @ error) / (r @ direct.solve(r))))
    assert errors[1] < errors[0] < 0.7 and 0.3 < one.work().bytes / two.work().bytes < 0.6
    points, cells = grid((12, 12, 12))
    counts = [Solver(device, points / 12, cells, 2, cycle={"steps": steps, "coarsest": 100}) for steps in (1, 2)]
    counts = [solver.solve(solver.load(1.0), 1e-6)[1].iterations for solver in counts]
    assert counts[1] <= counts[0] < 1.6 * counts[1]


def test_corrections_come_to_an_exact_solve(device):
    """Each leaves a third of the error at most; their work is told."""
    a = poisson(device, (10, 10, 10), 0.2)
    cycles = [KCycle(device, a, "float64", coarsest=20, corrections=count) for count in (1, 2, EXACT)]
    r = np.random.default_rng(3).normal(size=a.shape[0])
    x, errors = scipy.sparse.linalg.spsolve(sparse(a).tocsc(), r), []
    for cycle in cycles:
        z = device.zeros(len(r), "float64")
        for _ in range(2):  # a second time from what the first has left in z
            cycle.apply(device.array(r), z)
        error = host(device, z) - x
        errors.append(np.sqrt(error @ (sparse(a) @ error) / (r @ x)))
    assert errors[0] < 0.35 and errors[1] < errors[0] / 3 and errors[2] < 1e-4
    assert 2 < cycles[1].work().bytes / cycles[0].work().bytes < 2.2
    points, cells = grid((13, 13, 13), move=0.2)
    counts = []
    for corrections in (1, NEAR_EXACT, EXACT):
        cycle = {"corrections": corrections, "coarsest": 50}
        solver = Solver(device, points / 13, cells, 2, weighted=False, cycle=cycle)
        counts.append(solver.solve(solver.load(1.0), 1e-6)[1].iterations)
    assert counts[2] <= counts[1] <= counts[2] + 1 and counts[1] < counts[0]


def test_small_levels_go_by_one_thread_of_a_processor_and_large_ones_by_all(openmp, monkeypatch):
    """One block is the caller's own; how rows are shared out changes the result by rounding alone."""
    if openmp.compute_units == 1:
        pytest.skip("there is one thread")

    def noting(launch, grids):
        def noted(grid, rows, *rest):
            grids.setdefault(rows, set()).add(grid)
            launch(grid, rows, *rest)

        return noted

    a, found = poisson(openmp, (10, 10, 10), 0.1), []
    r = np.random.default_rng(3).normal(size=a.shape[0])
    for alone in (kcycle.ALONE, 0):
        with monkeypatch.context() as patch:
            patch.setattr(kcycle, "ALONE", alone)
            cycle, grids, z = KCycle(openmp, a, "float64", coarsest=20), {}, openmp.zeros(len(r), "float64")
            for name in ("before", "after", "first_product", "residual", "second_product", "combine"):
                patch.setattr(cycle._kernels, name, noting(getattr(cycle._kernels, name), grids))
            cycle.apply(r, z)
        found.append((z, *(grids[rows] for rows in cycle.rows[:-1])))
    (z, large, small), (expected, _, shared) = found
    assert 100 < cycle.rows[1] < 700 < cycle.rows[0]
    assert small == {1} and min(large) > 1 and min(shared) > 1
    np.testing.assert_allclose(z, expected, atol=1e-12 * np.abs(expected).max())


def test_a_small_system_is_solved_directly(device):
    a = poisson(device, (5, 5, 5), 0.1, mass=2.0)
    cycle, r = KCycle(device, a, "float64"), np.random.default_rng(0).normal(size=a.shape[0])
    z = device.zeros(len(r), "float64")
    cycle.apply(device.array(r), z)
    np.testing.assert_allclose(sparse(a) @ host(device, z), r, atol=1e-11)


def test_unknowns_without_couplings_are_refused(device):
    with pytest.raises(ValueError, match="do not aggregate"):
        KCycle(device, device.sparse.csr_matrix(device.sparse.identity(9000)))
