"""The heart's residual, tangent and local Newton method against SciPy and scikit-fem; its steps against loops."""

import dataclasses

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse

from baselines.monodomain import serial
from baselines.monodomain.system import system
from kernels import spmv
from kernels.assembly.pattern import csr_pattern
from kernels.krylov.jacobi import JacobiConjugateGradient
from kernels.monodomain import Diverged, Heart, Hybrid, Model, contributions, places
from kernels.monodomain.contributions import FACTORS, IN_MATRIX, PER_ELEMENT
from kernels.monodomain.heart import BLOCK, ELEMENTS, PROCESSOR_BLOCK, defines

DT = 0.1


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def tissue(perturbed_cube):
    """Points, cells and random fibres of a shuffled mesh, whose nodes have from one to two dozen elements."""
    points, cells = perturbed_cube(4)
    random = np.random.default_rng(1)
    order = random.permutation(len(points))
    number = np.argsort(order)
    cells = number[cells][random.permutation(len(cells))].astype(np.int32)
    return 0.3 * points[order], cells, unit(random.standard_normal((len(cells), 3)))


@pytest.fixture(scope="module")
def state(tissue):
    """A potential between slightly below 0 and above 1, and a recovery up to 2."""
    points, cells, _ = tissue
    random = np.random.default_rng(2)
    return random.uniform(-0.1, 1.1, len(points)), random.uniform(0, 2, len(cells))


def test_contributions_are_counted_into_the_places_that_sorting_finds(device, tissue):
    _, cells, _ = tissue
    pattern = csr_pattern(cells, int(cells.max()) + 1)
    for kinds in (IN_MATRIX, PER_ELEMENT):
        counted = contributions._by_counting(cells, pattern, device, kinds)
        assert np.array_equal(counted.places, contributions._by_sorting(cells, pattern, np, kinds).places)
        assert np.unique(counted.places).size == cells.shape[0] * kinds


@pytest.fixture(params=["sell", "ellwarp2"])
def heart(request, device, tissue):
    return Heart(device, *tissue, dt=DT, format=request.param)


def assembled(heart, before, recovery, phi):
    """Residual and what multiplies by the tangent, of a step from one potential to another."""
    device = heart.device
    heart.load(before, recovery)
    if device.is_gpu:
        heart.phi.set(np.asarray(phi))
    else:
        device.to_host(heart.phi)[:] = phi
    heart.assembly_part()
    residual = np.array(device.to_host(heart.residual))

    def multiply(x):
        y = device.zeros(len(x), "float64")
        heart.matrix.multiply(device.array(x), y)
        return np.array(device.to_host(y))

    return residual, multiply


def test_the_local_newton_method_finds_the_root(heart, tissue, state):
    """Against a bracketing root finder, which knows no derivative."""
    phi, before = state
    assembled(heart, phi, before, phi)
    found, m = heart.device.to_host(heart.recovery), heart.model
    for e in range(0, len(before), 7):
        mean = phi[tissue[1][e]].mean()

        def residual(r, mean=mean, e=e):
            rate = (m.gamma + m.mu1 * r / (m.mu2 + mean)) * (-r - m.c * mean * (mean - m.b - 1))
            return (r - before[e]) / DT - rate

        assert found[e] == pytest.approx(scipy.optimize.brentq(residual, -0.5, 8, xtol=1e-14), abs=1e-12)


def test_residual_is_scikit_fems_with_one_integration_point(heart, tissue, state):
    from skfem import Basis, ElementTetP0, ElementTetP1, LinearForm, MeshTet
    from skfem.helpers import dot, grad

    points, cells, fibres = tissue
    phi, before = state
    start = np.cos(points[:, 0])
    residual, _ = assembled(heart, start, before, phi)
    # With sort_t scikit-fem would renumber the nodes of elements, which changes nothing here.
    basis = Basis(MeshTet(points.T.copy(), cells.T.copy()), ElementTetP1(), intorder=1)
    constant = basis.with_element(ElementTetP0())
    recovery = np.array(heart.device.to_host(heart.recovery))
    m = heart.model

    @LinearForm
    def form(v, w):
        along = w.nx * grad(w.phi)[0] + w.ny * grad(w.phi)[1] + w.nz * grad(w.phi)[2]
        ahead = w.nx * grad(v)[0] + w.ny * grad(v)[1] + w.nz * grad(v)[2]
        source = m.c * w.phi * (w.phi - m.alpha) * (1 - w.phi) - w.r * w.phi
        flux = m.isotropic * dot(grad(w.phi), grad(v)) + m.along * along * ahead
        return ((w.phi - w.start) / DT - source) * v + flux

    fields = {name: constant.interpolate(x) for name, x in zip(("nx", "ny", "nz", "r"), (*fibres.T, recovery))}
    wanted = form.assemble(basis, phi=basis.interpolate(phi), start=basis.interpolate(start), **fields)
    assert residual == pytest.approx(wanted, abs=1e-12 * abs(wanted).max())


def test_tangent_is_the_derivative_of_the_residual(heart, tissue, state):
    """By central differences through the local Newton method, recovery and all."""
    phi, recovery = state
    start = np.cos(tissue[0][:, 1])
    direction = np.random.default_rng(3).uniform(-1, 1, len(phi))
    _, multiply = assembled(heart, start, recovery, phi)
    slope, step = multiply(direction), 1e-5
    ahead, _ = assembled(heart, start, recovery, phi + step * direction)
    behind, _ = assembled(heart, start, recovery, phi - step * direction)
    assert slope == pytest.approx((ahead - behind) / (2 * step), abs=1e-8 * abs(slope).max())


def test_tangent_is_symmetric_and_its_diagonal_is_inverted(heart, tissue, state):
    _, multiply = assembled(heart, state[0], state[1], state[0])
    matrix = np.column_stack([multiply(column) for column in np.eye(len(state[0]))])
    assert abs(matrix - matrix.T).max() <= 1e-15 * abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() > 0
    assert heart.device.to_host(heart._inverse) == pytest.approx(1 / np.diagonal(matrix), rel=1e-14)


def test_every_contribution_has_a_place_of_its_own(heart, tissue):
    places = np.array(heart.device.to_host(heart.plan.places)).ravel()
    kinds = PER_ELEMENT if heart.device.is_gpu else IN_MATRIX
    assert len(np.unique(places)) == places.size == kinds * len(tissue[1])
    assert places.min() >= 0 and places.max() < heart.plan.slices.entries
    assert 1 <= heart.plan.padding < 1.3


def test_a_processors_bodies_give_what_the_portable_ones_do(device, tissue, state):
    if device.is_gpu:
        pytest.skip("of processors, where elements write their factors alone")
    points, cells, fibres = tissue
    tissue, state = (points, cells[:-3], fibres[:-3]), (state[0], state[1][:-3])  # some are left over
    ours, portable = Heart(device, *tissue, dt=DT), Heart(device, *tissue, dt=DT)
    portable._elements = device.build(ELEMENTS, BLOCK, {"FACTORS": 1}, portable=True).elements
    portable._factors._sums = device.build(FACTORS, PROCESSOR_BLOCK, defines("float64"), portable=True).sums
    for heart in (ours, portable):
        assembled(heart, np.cos(state[0]), state[1], state[0])
    values, expected = (device.to_host(heart.matrix.arrays["values"]) for heart in (ours, portable))
    assert values == pytest.approx(expected, rel=1e-12)
    assert device.to_host(ours.residual) == pytest.approx(device.to_host(portable.residual), abs=1e-14)


def test_linear_solves_in_single_precision_end_in_the_same_steps(device, tissue, state, monkeypatch):
    """Also where there are more entries than its numbers count to."""
    found = {}
    for dtype, exact in (("float64", places.EXACT), ("float32", 100)):
        monkeypatch.setattr(places, "EXACT", exact)
        heart = Heart(device, *tissue, dt=DT, linear_dtype=dtype, linear_tolerance=1e-3)
        heart.load((tissue[0][:, 0] < 0.5).astype(float), 0.1 * state[1])
        steps = [step.newton_iterations for step in heart.run(3)]
        found[dtype] = np.array(device.to_host(heart.phi)), steps
        assert heart.matrix.dtype == heart.residual.dtype == dtype
    (exact, steps), (rounded, taken) = found.values()
    assert steps == taken and 0 < abs(exact - rounded).max() < 1e-8


def test_by_narrow_vectors(narrow, tissue, state, monkeypatch):
    """With an odd number of elements, so that the last vectors are not full."""
    (points, cells, fibres), (phi, recovery) = tissue, state
    tissue, state = (points, cells[:-3], fibres[:-3]), (phi, recovery[:-3])
    heart = Heart(narrow, *tissue, dt=DT)
    test_the_local_newton_method_finds_the_root(heart, tissue, state)
    test_residual_is_scikit_fems_with_one_integration_point(heart, tissue, state)
    test_tangent_is_the_derivative_of_the_residual(heart, tissue, state)
    test_linear_solves_in_single_precision_end_in_the_same_steps(narrow, tissue, state, monkeypatch)


def test_newtons_method_converges_quadratically(device, tissue, state):
    """With exact solves: the digits double until rounding."""
    heart = Heart(device, *tissue, dt=DT, tolerance=1e-13, linear_tolerance=1e-13)
    heart.load(0.5 + 0.5 * np.tanh(4 * (tissue[0][:, 0] - 0.6)), 0.1)
    norms = np.array(heart.step().norms)
    assert 3 <= len(norms) <= 7 and norms[-1] <= 1e-13
    ratios = norms[1:-1] / norms[:-2] ** 2
    assert (ratios < 20).all()
    assert np.log(norms[2] / norms[1]) / np.log(norms[1] / norms[0]) > 1.5


def test_steps_are_those_of_serial_loops(heart, tissue, state):
    points, _, _ = tissue
    loops = serial.Heart(system(*tissue, Model(), DT))
    phi = (points[:, 0] < 0.5).astype(float)
    heart.load(phi, 0.1 * state[1])
    loops.load(phi, 0.1 * state[1])
    for _ in range(5):
        ours, theirs = heart.step(), loops.step()
        assert ours.newton_iterations == theirs.newton_iterations > 1
        assert ours.linear_iterations == pytest.approx(theirs.linear_iterations, abs=2)
    assert heart.device.to_host(heart.phi) == pytest.approx(loops.phi, abs=1e-8)
    assert heart.device.to_host(heart.recovery) == pytest.approx(loops.recovery, abs=1e-8)
    assert heart.time == pytest.approx(5 * DT)


def test_parts_apart_make_the_same_step(heart, tissue, state):
    start = heart.state(np.cos(tissue[0][:, 2]), state[1])
    heart.restore(start)
    together = heart.step()
    phi = np.array(heart.device.to_host(heart.phi))
    heart.restore(start)
    apart, seconds = heart.timed_step()
    assert apart == together and (heart.device.to_host(heart.phi) == phi).all()
    assert set(seconds) == {"assembly", "solver", "update", "control"} and min(seconds.values()) >= 0
    assert seconds["assembly"] > 0 and seconds["solver"] > 0


def test_formats_give_the_same_heart_or_say_why_not(device, tissue):
    phi = (tissue[0][:, 0] < 0.5).astype(float)
    found, refused = {}, []
    for name in spmv.FORMATS:
        try:
            heart = Heart(device, *tissue, dt=DT, format=name)
        except spmv.Unsuitable:
            refused.append(name)
            continue
        heart.load(phi)
        heart.run(2)
        found[name] = np.array(device.to_host(heart.phi))
    assert {"sell", "ellwarp", "ellwarp2", "csr_vector", "csr_merge", "ellpack"} <= set(found)
    for name, values in found.items():
        assert values == pytest.approx(found["sell"], abs=1e-8), name
    assert "hyb" in refused  # two arrays of values


def test_the_solver_alone_on_the_device(device, tissue):
    phi = (tissue[0][:, 0] < 0.5).astype(float)
    one = system(*tissue, Model(), DT)
    mixed, loops = serial.Heart(one, solver=Hybrid(device, format="ellwarp")), serial.Heart(one)
    for heart in (mixed, loops):
        heart.load(phi)
        heart.run(2)
    assert mixed.phi == pytest.approx(loops.phi, abs=1e-8)


def test_a_heart_at_rest_stays_at_rest(device, tissue):
    heart = Heart(device, *tissue, dt=DT)
    step = heart.step()
    assert step.newton_iterations == 0 and step.linear_iterations == 0
    assert not np.array(device.to_host(heart.phi)).any() and (device.to_host(heart.activation) == -1).all()


def test_without_reaction_the_mean_potential_is_conserved(device, tissue):
    """Ends are insulated, whatever way the fibres go."""
    points, cells, fibres = tissue
    model = dataclasses.replace(Model(), c=0.0, gamma=0.0, mu1=0.0)
    heart = Heart(device, points, cells, fibres, model, DT, tolerance=1e-12, linear_tolerance=1e-12)
    phi = np.random.default_rng(5).uniform(0, 1, len(points))
    edges = points[cells[:, 1:]] - points[cells[:, :1]]
    weights = np.bincount(cells.ravel(), np.repeat(np.linalg.det(edges) / 24, 4), len(points))
    heart.load(phi)
    heart.run(5)
    after = np.array(device.to_host(heart.phi))
    assert weights @ after == pytest.approx(weights @ phi, rel=1e-10)
    assert after.std() < 0.7 * phi.std()


def test_what_cannot_be_is_refused(device, tissue):
    points, cells, fibres = tissue
    with pytest.raises(ValueError, match="inverted"):
        Heart(device, points, cells[:, [1, 0, 2, 3]], fibres)
    with pytest.raises(ValueError, match="not positive"):
        Heart(device, points, cells, fibres, dt=0.0)


@pytest.mark.parametrize("elements", [5, 384])
def test_what_has_no_solution_says_so(device, tissue, elements):
    """Also where so few elements are left over by vectors."""
    points, cells, fibres = tissue
    nodes, cells = np.unique(cells[:elements], return_inverse=True)
    heart = Heart(device, points[nodes], cells.reshape(-1, 4).astype(np.int32), fibres[:elements], dt=DT)
    heart.load(np.where(np.arange(heart.nodes) == 3, np.nan, 0.0))
    with pytest.raises(Diverged, match="integration point"):
        heart.step()
    heart.load(np.zeros(heart.nodes))  # and the next start is a clean one
    assert heart.step().newton_iterations == 0


def test_an_iteration_on_a_processor_has_no_launch_of_its_own(device, tissue, monkeypatch):
    if device.backend != "openmp":
        pytest.skip("of processors: CUDA replays graphs, or solves in one kernel")
    monkeypatch.setattr(JacobiConjugateGradient, "iterate", lambda *_: pytest.fail("an iteration was launched"))
    for form in ("sell", "ellwarp"):
        heart = Heart(device, *tissue, dt=DT, format=form)
        heart.load(np.linspace(0, 1, heart.nodes))
        assert sum(step.linear_iterations for step in heart.run(2)) > 10 and heart.solver.loop == "kernel"
