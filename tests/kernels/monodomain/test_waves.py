"""Waves of excitation: their speed against theory, their arrival under refinement, and across the ventricles."""

import dataclasses

import numpy as np
import pytest

from kernels.device import sanitized
from kernels.monodomain import Heart, Model

ALONG = np.array([1.0, 0.0, 0.0])


def bar(spacing, length=6.0):
    """A bar of 2 x 2 cubes across, whose first half centimetre is excited: points, cells, potential."""
    from datasets import structured

    points, cells = structured.kuhn((round(length / spacing), 2, 2), size=(length, 2 * spacing, 2 * spacing))
    return points, cells, (points[:, 0] < 0.51).astype(float)


def speed(device, model, spacing, dt, direction):
    """Of the wave between 3 and 5 cm, in centimetres a unit of time."""
    points, cells, phi = bar(spacing)
    heart = Heart(device, points, cells, np.broadcast_to(direction, (len(cells), 3)), model, dt)
    heart.load(phi)
    while True:
        heart.step()
        arrival = np.array(device.to_host(heart.activation))
        at = [arrival[np.isclose(points[:, 0], x)] for x in (3.0, 5.0)]
        if (at[1] > 0).all():
            return 2.0 / (at[1].mean() - at[0].mean())
        assert heart.time < 60


@pytest.fixture(scope="module")
def quick(device):
    if device.backend == "opencl" and not device.is_gpu:
        pytest.skip("the same kernels are followed on OpenMP, sooner")
    if sanitized.wanted():
        pytest.skip("the same kernels thousands of times: other tests show their races")
    return device


def test_a_wave_without_recovery_has_the_speed_of_theory(quick):
    """(1 - 2 alpha) sqrt(c d / 2), with d of the direction: backward Euler is of first order, and faster."""
    model = dataclasses.replace(Model(), gamma=0.0, mu1=0.0)
    total = model.isotropic + model.along
    theory = (1 - 2 * model.alpha) * np.sqrt(model.c * total / 2)
    coarse, fine = (speed(quick, model, 0.125, dt, ALONG) / theory for dt in (0.1, 0.05))
    assert 1.01 < fine < coarse < 1.15
    assert abs(2 * fine - coarse - 1) < 0.01  # the first order taken out
    across = speed(quick, model, 0.125, 0.1, ALONG[[1, 0, 2]])
    assert across / (coarse * theory) == pytest.approx(np.sqrt(model.isotropic / total), rel=0.03)


def test_activation_converges_under_refinement(quick):
    """With recovery, space and all: halving the spacing divides what changes by two at least."""
    found = [speed(quick, Model(), spacing, 0.1, ALONG) for spacing in (0.25, 0.125, 0.0625)]
    first, second = abs(np.diff(found))
    assert second < 0.5 * first and second < 0.02 * found[-1]


def test_a_wave_crosses_the_ventricles(quick):
    import datasets
    from datasets import heart_fibres

    pytest.importorskip("tetgen")
    mesh = datasets.load("wong2015/heart_3k", "smoke")
    fibres = heart_fibres.of_mesh("wong2015/heart_3k", "smoke", mesh.points[mesh.cells].mean(axis=1))
    heart = Heart(quick, mesh.points, mesh.cells, fibres, dt=0.2, format="ellwarp")
    excited = mesh.points[:, 2] < -5
    heart.load(excited.astype(float))
    heart.run(80)
    arrival = np.array(quick.to_host(heart.activation))
    assert (arrival[excited] == 0).all() and (arrival >= 0).all()
    # Farther from the apex it comes later, at a speed between those across and along the fibres.
    height = mesh.points[:, 2]
    assert np.corrcoef(height, arrival)[0, 1] > 0.95
    assert 0.3 < np.polyfit(arrival[~excited], height[~excited], 1)[0] < 1.0
