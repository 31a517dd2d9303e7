"""The heat equation against exact decay of modes, an independent stepping with a dense matrix, and conservation."""

import numpy as np
import pytest

from kernels.sem.geometry import node_coordinates
from kernels.sem.heat import Heat, Source
from kernels.sem.schwarz import by_atomics

from .conftest import MESHES, disturbed, grid
from .test_stiffness import dense

NONE = Source(0.0, 1.0, lambda time: (0.0, 0.0, 0.0))
MOVING = Source(0.8, 0.7, lambda time: (0.5 + 4 * time, 1.0 - time, 0.4))


def places(heat):
    return np.array(heat.device.to_host(heat.places), dtype="float64").reshape(3, -1)


def run(heat, steps):
    for _ in range(steps):
        assert heat.advance().converged
    return np.array(heat.device.to_host(heat.temperature), dtype="float64")


def test_first_order_in_time_on_a_decaying_mode(device):
    """cos(π x / 3) on an insulated box decays as exp(-κ (π/3)² t); spectral in space, first order in time."""
    points, cells = disturbed(*grid((3, 1, 1)))
    kappa, end, errors = 0.5, 1.0, []
    for steps in (4, 8, 16):
        heat = Heat(
            device, points, cells, 5, NONE, kappa=kappa, step=end / steps, tolerance=1e-12, dtype="float64",
            geometry="stored", preconditioner="jacobi",
        )  # fmt: skip
        start = np.cos(np.pi * places(heat)[0] / 3)
        heat.reset(start)
        exact = start * np.exp(-kappa * (np.pi / 3) ** 2 * end)
        errors.append(np.abs(run(heat, steps) - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 0.01 and (np.abs(orders - 1) < 0.1).all()


@pytest.mark.parametrize("remembered", [3, None])
def test_equals_steps_with_a_dense_matrix(device, remembered):
    points, cells = MESHES["L"]()
    order, kappa, step = 3, 0.3, 0.05
    heat = Heat(
        device, points, cells, order, MOVING, kappa=kappa, step=step, tolerance=1e-12, dtype="float64",
        preconditioner="jacobi", remembered=remembered,
    )  # fmt: skip
    table = np.array(device.to_host(heat.solver.numbering.table))
    ones = np.ones(len(cells))
    stiffness = dense(points, cells, order, kappa * ones, 0 * ones, table, heat.nodes)
    mass = dense(points, cells, order, 0 * ones, ones, table, heat.nodes)
    at = np.empty((heat.nodes, 3))
    at[table.ravel()] = node_coordinates(points, cells, order).reshape(-1, 3)
    u, matrix = np.zeros(heat.nodes), stiffness + mass / step
    for k in range(1, 6):
        gap = at - [0.5 + 4 * k * step, 1.0 - k * step, 0.4]
        u = np.linalg.solve(matrix, mass @ (u / step + 0.8 * np.exp(-(gap**2).sum(axis=1) / 0.49)))
    ours = run(heat, 5)
    assert np.abs(ours - u).max() < 1e-10 * np.abs(u).max()


@pytest.mark.parametrize(("dtype", "solved", "tolerance"), [("float64", 1e-9, 1e-9), ("float32", 1e-6, 1e-4)])
def test_heat_is_what_the_source_supplied(device, dtype, solved, tolerance):
    """No flux crosses the boundary, so the heat is the sum of the steps' supplies; cold spots do not appear."""
    heat = Heat(device, *MESHES["disturbed"](), 4, MOVING, dtype=dtype, tolerance=solved, preconditioner="jacobi")
    u = run(heat, 4)
    supplied = sum(heat.step * heat.heat_supplied(k * heat.step) for k in range(1, 5))
    assert heat.heat() == pytest.approx(supplied, rel=tolerance)
    assert heat.time == pytest.approx(0.16) and u.min() > -1e-3 * u.max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_guess_from_the_steps_before_saves_iterations_and_changes_nothing(device, dtype):
    tolerance, taken, found = (1e-9 if dtype == "float64" else 1e-5), [], []
    for remembered in (0, 1, 2, 3):
        source = Source(0.8, 0.7, lambda time: (0.5 + time, 1.0 - time / 4, 0.4))
        heat = Heat(
            device, *MESHES["disturbed"](), 4, source, dtype=dtype, tolerance=tolerance, preconditioner="jacobi",
            step=0.02, remembered=remembered,
        )  # fmt: skip
        taken.append(sum(heat.advance().iterations for _ in range(10)))
        found.append(np.array(device.to_host(heat.temperature), dtype="float64"))
    assert taken == sorted(taken, reverse=True) and taken[3] < 0.7 * taken[0], taken
    assert max(np.abs(u - found[0]).max() for u in found[1:]) < 20 * tolerance * np.abs(found[0]).max()


def test_a_guess_that_leads_astray_is_dropped(device):
    """The source is gone at once, so that little changes where much had changed: the solve is that without a guess."""
    source = Source(0.8, 0.3, lambda time: (0.2 if time < 0.14 else 50.0, 0.5, 0.5))
    settings = {"preconditioner": "jacobi", "dtype": "float64", "tolerance": 1e-10}
    made = [Heat(device, *MESHES["grid"](), 4, source, remembered=k, **settings) for k in (0, 3)]
    iterations = [[heat.advance().iterations for _ in range(4)] for heat in made]
    assert iterations[1][2] < iterations[0][2] and iterations[1][3] == iterations[0][3], iterations
    u = [np.array(device.to_host(heat.temperature), dtype="float64") for heat in made]
    assert np.abs(u[1] - u[0]).max() < 1e-4 * np.abs(u[0]).max()
    with pytest.raises(ValueError, match="4 changes remembered"):
        Heat(device, *MESHES["grid"](), 2, source, remembered=4)


def test_again_from_the_start(device):
    heat = Heat(device, *MESHES["grid"](), 2, MOVING, preconditioner="jacobi")
    first = run(heat, 2)
    heat.reset()
    assert heat.time == 0 and heat.heat() == 0
    again = run(heat, 2)
    # Atomics add in any order: then as far as single precision goes.
    slack = 1e-6 * np.abs(first).max() if by_atomics(device) else 0.0
    np.testing.assert_allclose(again, first, rtol=0, atol=slack)
