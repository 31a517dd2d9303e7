"""The cell's rates, its currents in a heart's residual and its action potential, against NumPy and SciPy."""

import numpy as np
import pytest
import scipy.integrate
import scipy.sparse

from baselines.monodomain import ten_tusscher
from baselines.monodomain.residual import with_source
from datasets import structured
from kernels.monodomain import IonicHeart, Tissue
from kernels.monodomain.ionic import INTEGRATIONS, REST, STATES

ALONG = np.array([1.0, 0.0, 0.0])
TISSUE = Tissue(0.0126, 0.0827)


def set_to(device, array, values):
    if device.is_gpu:
        array.set(np.ascontiguousarray(values, dtype=np.float64).reshape(array.shape))
    else:
        device.to_host(array)[:] = np.ravel(values)


def states_of(heart):
    found = np.array(heart.device.to_host(heart.states)).reshape(len(STATES), -1)
    return dict(zip(STATES, found, strict=True))


def prepared(device, integration="one point"):
    """A heart of 162 elements at random potentials from rest to peak, in random states; and what it was made of."""
    points, cells = structured.kuhn(3, size=0.6)
    heart = IonicHeart(device, points, cells, np.broadcast_to(ALONG, (len(cells), 3)), TISSUE, 1e-6,
                       np.zeros(len(cells)), 0.0, integration=integration)  # fmt: skip
    random = np.random.default_rng(1)
    phi, usual = random.uniform(-85, 60, len(points)), np.array(list(STATES.values()))[:, None]
    gates = (usual <= 1) & (usual != STATES["ca"]) & (usual != STATES["ca_ss"])
    shape = len(STATES), heart.states.size // len(STATES)
    states = np.where(gates, random.uniform(0, 1, shape), usual * random.uniform(0.5, 2, shape))
    heart.load(phi)
    set_to(device, heart.states, states)
    return heart, points, cells, phi, dict(zip(STATES, states, strict=True))


@pytest.mark.parametrize("integration", ["one point", "nodes"])
def test_states_advance_by_the_models_rates(device, integration):
    heart, _, cells, phi, states = prepared(device, integration)
    heart.accept_reaction()
    _, rates = ten_tusscher.rates(phi if integration == "nodes" else phi[cells].mean(axis=1), states)
    for name, after in states_of(heart).items():
        change, rounding = (after - states[name]) / heart.dt, 1e-15 * abs(states[name]).max() / heart.dt
        assert change == pytest.approx(rates[name], rel=2e-3, abs=1e-3 * abs(rates[name]).max() + 8 * rounding), name


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_the_residual_has_the_models_currents(device, integration):
    """With the potential of the step before it, so that only currents and conduction are left."""
    heart, points, cells, phi, states = prepared(device, integration)
    heart.assembly_part()
    found = np.linalg.norm(heart.device.to_host(heart.residual)) / heart.unit

    def ions(v, part):
        return -sum(ten_tusscher.currents(v, {name: state[part] for name, state in states.items()}).values())

    nodes = integration == "nodes"
    wanted = with_source(points, cells, np.broadcast_to(ALONG, (len(cells), 3)), TISSUE, heart.dt, phi, phi,
                         lambda part, mean: 0 * mean if nodes else ions(mean, part), integration,
                         ions(phi, slice(None)) if nodes else 0.0)  # fmt: skip
    assert found == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("integration", INTEGRATIONS)
def test_mass_is_what_scikit_fem_integrates(device, integration):
    """In tangent and residual; in steps so short that all else is lost in it."""
    from skfem import Basis, BilinearForm, ElementTetP1, MeshTet

    heart, points, cells, phi, _ = prepared(device, integration)
    mesh, form = MeshTet(points.T.copy(), cells.T.copy()), BilinearForm(lambda u, v, w: u * v)
    mass = form.assemble(Basis(mesh, ElementTetP1(), intorder=1 if integration == "one point" else 2))
    if integration == "nodes":
        mass = scipy.sparse.diags(np.ravel(mass.sum(axis=1)))
    change = np.random.default_rng(2).uniform(-50, 50, len(phi))
    set_to(device, heart.phi, phi + change)
    heart.assembly_part()
    product = device.zeros(len(phi), np.float64)
    heart.matrix.multiply(device.array(change), product)
    wanted = mass @ change / heart.dt
    for found in (product, heart.residual):
        assert np.array(device.to_host(found)) == pytest.approx(wanted, abs=2e-3 * abs(wanted).max())
    diagonal = 1e-6 / np.array(device.to_host(heart._inverse))
    assert diagonal == pytest.approx(mass.diagonal(), rel=2e-3)


def test_a_cells_upstroke_is_scipys(device):
    """All of a cube excited is one cell: 2 ms of stimulus and 3 ms after it, within the first order of its steps."""
    points, cells = structured.kuhn(1, size=1.0)
    heart = IonicHeart(device, points, cells, np.broadcast_to(ALONG, (6, 3)), TISSUE, 0.05, np.full(6, 35.7), 2.0)

    def rates(t, y):
        by_time, of_states = ten_tusscher.rates(y[0], dict(zip(STATES, y[1:], strict=True)))
        return [by_time + (35.7 if t < 2 else 0), *(of_states[name] for name in STATES)]

    y = np.array([REST, *STATES.values()])
    for begin, end in ((0, 2), (2, 5)):
        y = scipy.integrate.solve_ivp(rates, (begin, end), y, "LSODA", rtol=1e-6, atol=1e-9).y[:, -1]
    heart.run(100)
    phi = np.array(device.to_host(heart.phi))
    assert np.ptp(phi) < 1e-3 and phi.mean() == pytest.approx(y[0], abs=0.2)
    for (name, found), wanted in zip(states_of(heart).items(), y[1:], strict=True):
        assert found == pytest.approx(wanted, rel=0.08, abs=2e-4), name
    activation = np.array(device.to_host(heart.activation))
    assert activation == pytest.approx(1.315, abs=0.08)


def test_at_rest_it_stays_at_rest(device):
    points, cells = structured.kuhn(2, size=1.0)
    fibres = np.broadcast_to(ALONG, (len(cells), 3))
    heart = IonicHeart(device, points, cells, fibres, TISSUE, 0.05, np.zeros(len(cells)), 0.0)
    heart.run(20)
    assert np.array(device.to_host(heart.phi)) == pytest.approx(REST, abs=0.1)
    assert (np.array(device.to_host(heart.activation)) == -1).all()
