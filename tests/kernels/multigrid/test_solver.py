"""Solutions against a direct solver; rates that depend on neither numbering, nor format, nor back end, nor level."""

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from datasets.geveler2011 import NUMBERINGS
from kernels import multigrid, spmv
from kernels.krylov.graph import missing
from kernels.multigrid import elements, smoothers, tiles
from kernels.multigrid.level import CoarsestSolver, Level
from kernels.spmv import sbell16

from .conftest import grids, on, orders, problem

PAPER = {"circle": {"steps": 4, "damping": 0.7}, "blood": {"steps": 64, "damping": 0.5}}


def solved(device, levels, tolerance=1e-8, **options):
    solver = multigrid.Multigrid(device, on(device, levels), **options)
    outcome = solver.solve(tolerance)
    return outcome, np.array(device.to_host(solver.solution)), solver


@pytest.mark.parametrize(("name", "degree", "level"), [
    ("circle", 1, 5), ("circle", 2, 4), ("blood", 2, 2), ("cube", 1, 3), ("cube", 2, 3),
])  # fmt: skip
def test_solution_is_that_of_a_direct_solver(device, name, degree, level):
    """The very same solver in two and three dimensions, Q1 and Q2."""
    levels = grids(name, degree, level)
    outcome, u, _ = solved(device, levels, 1e-10, **PAPER.get(name, PAPER["circle"]))
    assert outcome.converged and outcome.history.shape == (outcome.cycles + 1,)
    expected = spsolve(levels[-1].matrix.tocsc(), levels[-1].rhs)
    assert np.abs(u - expected).max() < 1e-8 * np.abs(expected).max()
    true = np.linalg.norm(levels[-1].rhs - levels[-1].matrix @ u)
    assert true <= 1.001e-10 * outcome.history[0] + 1e-14
    if name == "blood":  # Laplace's equation with 1 on the boundary
        assert np.abs(u - 1).max() < 1e-8


@pytest.mark.parametrize("degree", [1, 2])
def test_numberings_and_formats_change_nothing_but_rounding(device, degree):
    level = 5 - degree
    first, u, _ = solved(device, grids("circle", degree, level), **PAPER["circle"])
    for numbering in NUMBERINGS[1:]:
        found, v, _ = solved(device, grids("circle", degree, level, numbering), **PAPER["circle"])
        assert found.cycles == first.cycles
        assert np.allclose(found.history, first.history, rtol=1e-6)
        assert np.abs(v - u[orders("circle", degree, level, numbering)[-1]]).max() < 1e-13
    for name in ("ellpack_r", "sell", "sell16", "csr_vector", "hyb"):
        for fuse in (True, False):
            found, v, solver = solved(device, grids("circle", degree, level), format=name, fuse=fuse, **PAPER["circle"])
            assert np.allclose(found.history, first.history, rtol=1e-6) and np.abs(u - v).max() < 1e-13
            assert solver.levels[-1].operator.is_fused == (fuse and name in ("ellpack_r", "sell", "sell16"))


def test_slices_that_span_much_have_columns_of_their_own_in_fused_products(device, monkeypatch):
    monkeypatch.setattr(sbell16, "PADDED", 300)
    levels = grids("circle", 1, 5, "hie")
    first, u, _ = solved(device, levels, format="sell", **PAPER["circle"])
    found, v, solver = solved(device, levels, format="sell16", **PAPER["circle"])
    matrix = solver.levels[-1].operator.matrix
    assert matrix.is_far and 0 < matrix.arrays["far"].size < matrix.stored and solver.levels[-1].operator.is_fused
    assert np.allclose(found.history, first.history, rtol=1e-6) and np.abs(u - v).max() < 1e-13


def test_short_columns_by_narrow_vectors(narrow, monkeypatch):
    levels = grids("circle", 1, 5, "hie")
    _, u, _ = solved(narrow, levels, format="sell", **PAPER["circle"])
    found, v, _ = solved(narrow, levels, format="sell16", **PAPER["circle"])
    assert found.converged and np.abs(u - v).max() < 1e-13
    test_slices_that_span_much_have_columns_of_their_own_in_fused_products(narrow, monkeypatch)


def test_numberings_are_five_different_ones():
    found = [tuple(orders("circle", 1, 4, numbering)[-1]) for numbering in NUMBERINGS]
    assert len(set(found)) == 5 and all(sorted(order) == list(range(576)) for order in found)


def test_transfer_without_matrices_gives_the_same_cycles(device):
    levels = grids("circle", 2, 4, with_direct=True)
    if device.backend == "cuda":
        pytest.skip("the places' arrays are moved by the set-up on the device alone")
    outcome, u, _ = solved(device, levels, **PAPER["circle"])
    direct, v, _ = solved(device, levels, transfer="direct", **PAPER["circle"])
    assert np.allclose(direct.history, outcome.history, rtol=1e-6) and np.abs(u - v).max() < 1e-13


@pytest.mark.parametrize(("name", "degree", "levels", "least", "most"), [
    ("circle", 1, (5, 7), 0.1, 0.25), ("circle", 2, (4, 6), 0.15, 0.35), ("blood", 1, (2, 4), 0.0, 0.6),
])  # fmt: skip
def test_rate_does_not_depend_on_the_level(name, degree, levels, least, most):
    device = openmp_or_opencl()
    cycles = []
    for level in range(levels[0], levels[1] + 1):
        outcome, _, _ = solved(device, grids(name, degree, level), format="sell", **PAPER[name])
        assert outcome.converged and least < outcome.rate < most
        cycles.append(outcome.cycles)
    if name == "circle":  # BLOOD's first levels see little of the walls
        assert max(cycles) - min(cycles) <= 3


def openmp_or_opencl():
    from kernels.device import Unavailable, open_device

    for backend in ("openmp", "opencl"):
        try:
            return open_device(backend)
        except Unavailable:
            continue
    pytest.skip("no back end on the processor")


@pytest.mark.parametrize("smoother", ["chebyshev", "spai"])
def test_stronger_smoothers_need_fewer_steps(device, smoother):
    """BLOOD takes Jacobi 64 steps; a quarter of them must do no worse, with what the paper announces."""
    levels = grids("blood", 1, 3)
    jacobi, u, _ = solved(device, levels, format="sell", **PAPER["blood"])
    strong, v, _ = solved(device, levels, format="sell", smoother=smoother, steps=16)
    assert strong.converged and strong.cycles <= jacobi.cycles
    assert np.abs(u - v).max() < 1e-6
    found, _, _ = solved(device, grids("circle", 2, 5), smoother=smoother, steps=2 if smoother == "spai" else 4)
    assert found.converged and found.rate < 0.12


@pytest.mark.parametrize(("smoother", "steps"), [("jacobi", 4), ("jacobi", 3), ("chebyshev", 4), ("chebyshev", 1)])
@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_small_levels_in_one_launch_change_nothing_but_rounding(device, smoother, steps, precision):
    settings = {"smoother": smoother, "steps": steps, "precision": precision, "format": "sell"}
    levels = grids("circle", 2, 4)
    by_launches, u, _ = solved(device, levels, small=0, **settings)
    for unknowns, index in ((len(levels[1].rhs), 1), (len(levels[-1].rhs), len(levels) - 2)):
        at_once, v, solver = solved(device, levels, small=unknowns, **settings)
        assert solver._small_index == index
        assert np.allclose(at_once.history, by_launches.history, rtol=1e-6 if precision == "float64" else 1e-2)
        assert np.abs(u - v).max() < 1e-7


@pytest.mark.parametrize(("smoother", "steps"), [("jacobi", 4), ("chebyshev", 4), ("chebyshev", 13), ("jacobi", 6)])
@pytest.mark.parametrize("precision", ["float64", "mixed"])
def test_steps_by_tiles_change_nothing_but_rounding(device, smoother, steps, precision):
    settings = {"smoother": smoother, "steps": steps, "precision": precision, "format": "sell"}
    levels = grids("circle", 1, 5, "sto")
    by_launches, u, _ = solved(device, levels, **settings)
    at_once, v, solver = solved(device, levels, small=100, tiled=10**6, **settings)
    assert max(solver._tiles) == len(levels) - 1 and solver._tiles[len(levels) - 1].tiles > 4
    assert np.allclose(at_once.history, by_launches.history, rtol=1e-6 if precision == "float64" else 1e-2)
    assert np.abs(u - v).max() < 1e-7


def test_tiles_of_a_level_are_looked_for_once_for_all_hierarchies_that_have_it(monkeypatch):
    device, looked = openmp_or_opencl(), []
    monkeypatch.setattr(tiles, "_last", {})
    monkeypatch.setattr(
        tiles, "_tiles", lambda *given, was=tiles._tiles: looked.append(len(given[0].data)) or was(*given)
    )
    settings = {"tiled": 10**6, "format": "sell", **PAPER["circle"]}
    _, _, coarse = solved(device, grids("circle", 1, 4, "sto"), **settings)
    before = list(looked)
    for precision in ("float64", "mixed"):
        _, u, fine = solved(device, grids("circle", 1, 5, "sto"), precision=precision, **settings)
        assert sorted(fine._tiles) == [1, 2, 3, 4] and sorted(coarse._tiles) == [1, 2, 3]
    assert looked[: len(before)] == before and {*looked[len(before) :]} == {grids("circle", 1, 5, "sto")[-1].matrix.nnz}
    monkeypatch.setattr(tiles, "_last", {})
    _, v, _ = solved(device, grids("circle", 1, 5, "sto"), precision="mixed", **settings)
    assert (u == v).all()


def test_a_level_without_tiles_is_refused_again_and_the_last_levels_alone_are_kept(monkeypatch):
    monkeypatch.setattr(tiles, "_last", {})
    monkeypatch.setattr(tiles, "MOST", 40)
    monkeypatch.setattr(tiles, "LAST", 2)
    matrices = [(grid.matrix, grid.prolongator) for grid in grids("circle", 1, 5)[2:]]
    for matrix, prolongator in (*matrices[-1:], *matrices):
        with pytest.raises(tiles.Unsuitable, match="has more than 40 with its halo"):
            tiles._known(matrix, prolongator, 64, 5)
    assert len(tiles._last) == 2


def test_rows_that_are_long_are_not_read_twice():
    _, _, solver = solved(openmp_or_opencl(), grids("circle", 2, 4), tiled=10**6, **PAPER["circle"])
    assert max(solver._tiles, default=0) < 3 == len(solver.levels) - 1, "coarse ones have short rows at the boundary"


@pytest.mark.parametrize("smoother", ["jacobi", "chebyshev", "spai"])
def test_corrections_in_single_precision_take_as_many_cycles(device, smoother):
    levels = grids("circle", 1, 6)
    double, _, plain = solved(device, levels, format="sell", smoother=smoother)
    mixed, v, solver = solved(device, levels, 1e-12, format="sell", smoother=smoother, precision="mixed")
    assert np.allclose(mixed.history[: double.cycles + 1], double.history, rtol=1e-2)
    assert mixed.converged and mixed.history[-1] <= 1e-12 * mixed.history[0], "single precision alone never does"
    assert {level.x.dtype for level in solver.levels} == {np.dtype("float32")} and v.dtype == np.float64
    assert solver.cycle_work().bytes < 0.75 * plain.cycle_work().bytes


def test_chebyshev_s_polynomial_is_the_least_one():
    """Its error polynomial, evaluated by the recurrence, is T_k((θ - λ) / δ) / T_k(θ / δ)."""
    smoother = smoothers.Chebyshev.__new__(smoothers.Chebyshev)
    smoother.largest, smoother.reach = 2.0, 8.0
    eigenvalues = np.linspace(0.01, 2.0, 50)
    for steps in (1, 2, 5):
        error, move = np.ones(50), np.zeros(50)
        for now, before in smoother.coefficients(steps):
            move = now * -eigenvalues * error + before * move
            error = error + move
        theta, delta = (2 + 0.25) / 2, (2 - 0.25) / 2
        top = np.polynomial.chebyshev.Chebyshev([0] * steps + [1])
        assert np.allclose(error, top((theta - eigenvalues) / delta) / top(theta / delta), atol=1e-12)


def test_coarsest_level_is_solved_by_two_digits(device):
    (grid,) = on(device, grids("blood", 2, 1)[:1])
    level = Level(device, grid, lambda csr: spmv.pack("ellpack_r", device, csr))
    host = grids("blood", 2, 1)[0].matrix
    b = np.random.default_rng(0).standard_normal(level.n) * (np.diff(host.indptr) > 1)
    level.b[...] = device.array(b) if device.backend == "cuda" else b
    solver = CoarsestSolver(device, level, grid, 1e-2)
    solver.enqueue()
    assert np.linalg.norm(b - host @ device.to_host(level.x)) <= 1e-2 * np.linalg.norm(b)
    assert 3 < solver.iterations < 200
    assert 0 < level.n == 1001
    tight = CoarsestSolver(device, level, grid, 1e-10)
    tight.enqueue()
    assert np.linalg.norm(b - host @ device.to_host(level.x)) <= 2e-10 * np.linalg.norm(b)
    assert tight.iterations > solver.iterations


@pytest.mark.parametrize(("name", "degree"), [("circle", 1), ("circle", 2), ("cube", 1), ("cube", 2)])
def test_error_in_l2_falls_by_the_elements_order(name, degree):
    """-Δu = f with u = sin(2x) exp(y), on the curved ring as well: order 2 for Q1, 3 for Q2."""
    device = openmp_or_opencl()

    def u(points):
        return np.sin(2 * points[..., 0]) * np.exp(points[..., 1])

    errors = []
    top = 4 if name == "cube" else 5
    found = problem(name, top)
    for level in (top - 1, top):
        spaces = [found.space(i, degree) for i in range(1, level + 1)]
        levels = multigrid.grids(spaces, lambda x: 3 * u(x), u)  # -Δu = 4 u - u
        outcome, v, _ = solved(device, levels, 1e-10, steps=4, damping=0.7)
        assert outcome.converged
        points, weights = elements.gauss(4, spaces[-1].points.shape[1])
        shape, slopes = elements.values(degree, points), elements.gradients(degree, points)
        corners, local, total = spaces[-1].points[spaces[-1].nodes], v[spaces[-1].nodes], 0.0
        for q, weight in enumerate(weights):
            size = np.abs(np.linalg.det(np.swapaxes(corners, 1, 2) @ slopes[q]))
            total += weight * (size * (local @ shape[q] - u(shape[q] @ corners)) ** 2).sum()
        errors.append(np.sqrt(total))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(degree + 1, abs=0.15)


def test_zero_right_hand_side_and_cycle_limit(device):
    levels = grids("circle", 1, 4)
    nothing = [multigrid.Grid(g.matrix, g.prolongator, 0 * g.rhs, 0 * g.start) for g in levels]
    outcome, u, _ = solved(device, nothing)
    assert (outcome.status, outcome.cycles, outcome.rate) == ("converged", 0, 0.0) and (u == 0).all()
    solver = multigrid.Multigrid(device, on(device, levels))
    outcome = solver.solve(1e-8, max_cycles=3)
    assert (outcome.status, outcome.cycles) == ("cycle limit", 3)
    again = solver.solve(1e-8)  # the same object, another limit
    assert again.converged and np.allclose(again.history[:4], outcome.history, rtol=1e-12)
    bad = [multigrid.Grid(g.matrix, g.prolongator, g.rhs * np.nan, g.start) for g in levels]
    assert solved(device, bad)[0].status == "not a number"


def test_settings_that_cannot_be(device):
    levels = on(device, grids("circle", 1, 3))
    for options in ({"smoother": "ilu"}, {"transfer": "magic"}, {"steps": 0}, {"format": "dense"},
                    {"precision": "half"}, {"precision": "mixed", "transfer": "direct"}):  # fmt: skip
        with pytest.raises(ValueError):
            multigrid.Multigrid(device, levels, **options)
    with pytest.raises(ValueError, match="two levels"):
        multigrid.Multigrid(device, levels[:1])


def test_work_counts_what_is_moved(device):
    """Jacobi: on the finest level 2 k - 1 relaxations, one for restriction and one for the test read the matrix."""
    levels = grids("circle", 1, 5)
    solver = multigrid.Multigrid(device, on(device, levels), steps=4, damping=0.7)
    n, nonzeros = len(levels[-1].rhs), levels[-1].matrix.nnz
    product = 12 * nonzeros + 4 * n + 16 * n
    least = 9 * product
    assert least < solver.cycle_work().bytes < 1.9 * least


@pytest.mark.cuda
@pytest.mark.parametrize("smoother", ["jacobi", "chebyshev", "spai"])
def test_a_graph_repeats_the_very_cycles(device, smoother):
    if device.backend != "cuda":
        pytest.skip("only CUDA has graphs")
    if why := missing():
        pytest.skip(why)
    levels = grids("circle", 2, 4)
    by_host, u, _ = solved(device, levels, smoother=smoother, steps=3, graph=False)
    by_graph, v, solver = solved(device, levels, smoother=smoother, steps=3)
    assert solver._loop is not None
    assert np.array_equal(by_graph.history, by_host.history) and np.array_equal(u, v)
    assert np.array_equal(solver.solve().history, by_host.history)
