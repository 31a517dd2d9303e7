"""The solver: solutions, convergence in n and in h, what changes neither, and the answers to what has no solution."""

import itertools

import numpy as np
import pytest

import datasets
from kernels.device.passage import Passage
from kernels.sem import diagonals
from kernels.sem.common import Common
from kernels.sem.geometry import node_coordinates
from kernels.sem.solver import Solver
from kernels.sem.stiffness import Operator
from kernels.sem.two_scale import TwoScale

from .conftest import MESHES, disturbed, grid

PRECONDITIONERS = ("two-scale", "fine-only", "jacobi", None)


def host(device, array):
    return np.array(array.get() if hasattr(array, "get") else device.to_host(array), dtype=float)


def places_of(device, solver, points, cells):
    at = np.empty((solver.nodes, 3))
    table = host(device, solver.numbering.table).astype(int)
    at[table.ravel()] = node_coordinates(points, cells, solver.order).reshape(-1, 3)
    return at


@pytest.mark.parametrize("mass", [None, 3.0])
def test_all_preconditioners_find_the_same_solution(device, mass):
    points, cells = MESHES["disturbed"]()
    kappa = np.random.default_rng(0).uniform(0.5, 2, len(cells))
    found = {}
    for preconditioner, weighted in [(name, True) for name in PRECONDITIONERS] + [("two-scale", False)]:
        solver = Solver(device, points, cells, 4, kappa=kappa, mass=mass, dirichlet=None if mass else "boundary",
                        preconditioner=preconditioner, weighted=weighted)  # fmt: skip
        b = solver.load(1.0)
        x, outcome = solver.solve(b, 1e-11)
        assert outcome.converged and solver.iteration.true_residual(b, x) < 1e-10
        found[preconditioner, weighted] = outcome.iterations, host(device, x)
    reference = found[None, True][1]
    for iterations, x in found.values():
        assert np.abs(x - reference).max() <= 1e-8 * np.abs(reference).max()
        assert iterations <= found[None, True][0]
    assert found["two-scale", True][0] <= found["two-scale", False][0]
    assert solver.work().bytes > solver.operator.least_work().bytes


def test_iterations_with_the_coarse_space_do_not_grow_with_the_mesh(device):
    """At n = 2: the local solves alone take twice as many when h is halved."""
    found = {}
    for size, preconditioner in itertools.product((3, 6, 12), ("two-scale", "fine-only")):
        points, cells = grid((size,) * 3)
        solver = Solver(device, points / size, cells, 2, preconditioner=preconditioner)
        _, outcome = solver.solve(solver.load(1.0), 1e-4)
        assert outcome.converged
        found[preconditioner, size] = outcome.iterations
    assert found["two-scale", 12] <= found["two-scale", 6] + 2 <= 12
    assert found["fine-only", 12] >= 1.5 * found["fine-only", 6] >= 1.5 * 1.4 * found["fine-only", 3]
    assert found["fine-only", 12] >= 1.7 * found["two-scale", 12]


@pytest.mark.parametrize("preconditioner", ["two-scale", "fine-only"])
def test_rotated_and_renumbered_elements_take_the_same_iterations(device, preconditioner):
    points, cells = grid((4, 3, 5), move=0.1)
    iterations = []
    for seed in (None, 1, 2):
        mesh = (points, cells) if seed is None else disturbed(points, cells, seed=seed)
        solver = Solver(device, *mesh, 3, preconditioner=preconditioner, inner_dtype="float64")
        _, outcome = solver.solve(solver.load(1.0), 1e-9)
        iterations.append(outcome.iterations)
    assert len(set(iterations)) == 1


@pytest.mark.parametrize("name", ["mesh1", "mesh2", "mesh3"])
def test_spectral_convergence_on_the_papers_meshes(device, name):
    """-Δu = f with u = cos(x) exp(y / 2) sin(z + 1), given on the boundary."""
    mesh = datasets.load(f"remacle2016/{name}-8", "smoke")
    errors = []
    for order in (1, 2, 4):
        solver = Solver(device, mesh.points, mesh.cells, order)
        x, y, z = places_of(device, solver, mesh.points, mesh.cells).T
        u = np.cos(x) * np.exp(y / 2) * np.sin(z + 1)
        lifted = np.where(host(device, solver.numbering.boundary) > 0, u, 0)
        whole = Operator(device, mesh.points, mesh.cells, order, numbering=solver.numbering)
        product = device.zeros(solver.nodes, "float64")
        whole.multiply(device.array(lifted), product)
        b = host(device, solver.load(device.xp.asarray((1 + 1 - 0.25) * u))) - host(device, product)
        found, outcome = solver.solve(device.array(np.where(lifted != 0, 0, b)), 1e-11)
        assert outcome.converged
        errors.append(np.abs(host(device, found) + lifted - u).max())
    assert errors[0] < 2e-2 and errors[1] < errors[0] / 15 and errors[2] < errors[1] / 100


@pytest.mark.parametrize("preconditioner", ["two-scale", "jacobi"])
def test_single_precision(device, preconditioner):
    points, cells = MESHES["L"]()
    made = [Solver(device, points, cells, 3, mass=5.0, dirichlet=None, dtype=dtype, preconditioner=preconditioner)
            for dtype in ("float64", "float32")]  # fmt: skip
    double, single = (host(device, solver.solve(solver.load(1.0), 1e-6)[0]) for solver in made)
    assert np.abs(single - double).max() <= 1e-5 * np.abs(double).max()
    np.testing.assert_allclose(double, 0.2, rtol=1e-5)  # u = s / c


def test_diagonal_and_mass(device):
    points, cells = MESHES["one"]()
    operator = Operator(device, points, cells, 3, kappa=1.3, mass=0.4)
    expected, y = np.empty(operator.nodes), device.zeros(operator.nodes, "float64")
    for node in range(operator.nodes):
        unit = np.zeros(operator.nodes)
        unit[node] = 1
        operator.multiply(device.array(unit), y)
        expected[node] = host(device, y)[node]
    found = host(device, diagonals.diagonal(operator, points, cells, 1.3, 0.4))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    moment = Operator(device, points, cells, 3, kappa=0.0, mass=1.0, numbering=operator.numbering)
    moment.multiply(device.array(np.ones(operator.nodes)), y)
    np.testing.assert_allclose(
        host(device, diagonals.lumped_mass(operator, points, cells)), host(device, y), rtol=1e-12
    )


@pytest.mark.usefixtures("openmp")
def test_the_coarse_part_on_the_host(device):
    points, cells = grid((12, 12, 12), move=0.1)
    found = []
    for coarse in ("device", "host"):
        solver = Solver(device, points, cells, 2, coarse=coarse)
        assert len(solver.coarse.cycle.rows) > 1
        x, outcome = solver.solve(solver.load(1.0), 1e-8)
        found.append((outcome.iterations, host(device, x)))
    assert abs(found[0][0] - found[1][0]) <= 1
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-6 * np.abs(found[0][1]).max())


@pytest.mark.usefixtures("openmp")
def test_local_solves_are_enqueued_before_the_host_waits_for_the_coarse_residual(device, monkeypatch):
    """A copy that comes when it is waited for, as in memory that is pinned."""
    points, cells = grid((5, 5, 5), move=0.1)
    order, found = [], []

    class Late(Passage):
        def bring(self, a):
            order.append("bring")
            self.values[:], self.late = np.nan, np.array(host(device, a))

        def wait(self):
            order.append("wait")
            self.values[:] = self.late

        def send(self, a):
            order.append("send")
            return super().send(a)

    for way in (Passage, Late):
        monkeypatch.setattr("kernels.sem.two_scale.passage", way)
        solver = Solver(device, points, cells, 2, coarse="host")
        r, z = solver.load(1.0), device.zeros(solver.nodes, solver.dtype)
        fine = solver.fine.apply
        monkeypatch.setattr(solver.fine, "apply", lambda r, z, fine=fine: (order.append("fine"), fine(r, z)))
        TwoScale(solver.fine, solver.coarse).apply(r, z)
        found.append(host(device, z))
    assert order == ["fine", "bring", "fine", "wait", "send"]
    np.testing.assert_allclose(*found, atol=1e-6 * np.abs(found[0]).max())


def test_how_a_solve_ends(device):
    points, cells = MESHES["disturbed"]()
    solver = Solver(device, points, cells, 3)
    b = solver.load(1.0)
    assert solver.solve(b, 1e-12, 2)[1].status == "iteration limit"
    zero, outcome = solver.solve(solver.load(0.0))
    assert outcome.converged and outcome.iterations == 0 and (host(device, zero) == 0).all()
    wrong = host(device, b)
    wrong[np.flatnonzero(wrong)[3]] = np.nan
    assert solver.solve(device.array(wrong))[1].status == "not a number"
    negative = Solver(device, points, cells, 3, kappa=-1.0, preconditioner=None)
    assert negative.solve(negative.load(1.0))[1].status == "indefinite"


def test_what_is_refused(device):
    points, cells = MESHES["one"]()
    with pytest.raises(ValueError, match="singular"):
        Solver(device, points, cells, 2, dirichlet=None)
    with pytest.raises(ValueError, match="preconditioner 'ilu' is none of two-scale"):
        Solver(device, points, cells, 2, preconditioner="ilu")
    with pytest.raises(ValueError, match="coarse 'cloud' is none of device, host"):
        Solver(device, points, cells, 2, coarse="cloud")
    with pytest.raises(ValueError, match="every vertex of the mesh is fixed"):
        Solver(device, points, cells, 3)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_what_is_built_ahead_is_used(device, preconditioner, begun_and_used):
    begun, used = begun_and_used
    points, cells = MESHES["grid"]()
    solver = Solver(device, points, cells, 2, preconditioner=preconditioner)
    solver.solve(solver.load())
    assert begun and set(begun) <= set(used) and all(used.index(each) >= when for each, when in begun.items())


def test_solvers_share_what_they_have_in_common(device):
    """They find what those find that make their own, wherever their cycles stop; another problem is refused."""
    points, cells = grid((12, 12, 12), move=0.1)
    common = Common(device, points, cells, 2)
    deep, made = common.hierarchy(device, "float32", 50), []
    common.hierarchy = lambda on, dtype, coarsest: made.append(coarsest) or deep
    for cycle in ({"coarsest": 1000}, {"steps": 1, "coarsest": 50}):
        rows, counts, found = [], [], []
        for options in ({"common": common}, {}):
            given = (common.points, common.cells) if options else (points, cells)
            solver = Solver(device, *given, 2, cycle=cycle, **options)
            x, outcome = solver.solve(solver.load(1.0), 1e-8)
            rows.append(solver.coarse.cycle.rows)
            counts.append(outcome.iterations)
            found.append(host(device, x))
        assert rows[0] == rows[1] and abs(counts[0] - counts[1]) <= 1
        np.testing.assert_allclose(*found, rtol=0, atol=1e-6 * np.abs(found[0]).max())
    assert made == [1000, 50] and len(deep.levels) > 2
    for wrong in ({"kappa": 2.0}, {"mass": 1.0}, {"dirichlet": common.fixed}):
        with pytest.raises(ValueError, match="of another problem"):
            Solver(device, common.points, common.cells, 2, common=common, **wrong)
    with pytest.raises(ValueError, match="of another problem"):
        Solver(device, points.copy(), cells, 2, common=common)
