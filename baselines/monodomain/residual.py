"""Whether a step of the heart is right: the residual of its result, without a matrix and without Newton's method."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

CHUNK = 1 << 17  # elements at a time, but on large meshes as many as a quarter of the nodes: sums are as long as these
# Of the mass of an element, over its volume.
MASSES = {"one point": np.full((4, 4), 1 / 16), "full mass": (1 + np.eye(4)) / 20, "nodes": np.eye(4) / 4}


def residual(points, cells, fibres, model, dt: float, before, recovery_before, phi) -> float:
    """Return ‖R(φ)‖ of a step of backward Euler, over the norm that a change of φ by one everywhere makes.

    With one integration point and linear elements R comes from gradients and means alone; the recovery variable is the
    root of a quadratic equation, taken in closed form.

    Parameters
    ----------
    points, cells, fibres, model, dt
        As of `kernels.monodomain.Heart`.
    before, recovery_before : (nodes,) array, (elements,) array or float
        Where the step starts.
    phi : (nodes,) array
        Where it ends.
    """
    recovery_before = np.broadcast_to(np.float64(recovery_before), (len(cells),))

    def source(part, mean):
        r = _recovered(mean, recovery_before[part], model, dt)
        return model.c * mean * (mean - model.alpha) * (1 - mean) - r * mean

    return with_source(points, cells, fibres, model, dt, before, phi, source)


def with_source(points, cells, fibres, model, dt: float, before, phi, source, mass="one point", at_nodes=0.0) -> float:
    """Return the same for any reaction: ``source(part, mean)`` gives it at a slice of elements by their potentials.

    The mass is one of `MASSES`, and ``at_nodes`` what else comes from the nodes, by their volumes.
    """
    nodes = len(points)
    total, lumped = np.zeros(nodes), np.zeros(nodes)

    def of(part):
        corner = cells[part]
        x, p = points[corner], phi[corner]
        edges = x[:, 1:] - x[:, :1]
        inverse = np.linalg.inv(edges)  # its columns are the gradients of the last three shape functions
        volume = np.abs(np.linalg.det(edges)) / 6
        gradient = np.einsum("eij,ej->ei", inverse, p[:, 1:] - p[:, :1])
        n = fibres[part]
        flux = model.isotropic * gradient + model.along * (n * gradient).sum(axis=1, keepdims=True) * n
        load = (p - before[corner]) @ MASSES[mass] / dt - source(part, p.mean(axis=1))[:, None] / 4
        flow = np.einsum("ei,eij->ej", flux, inverse)
        return corner.ravel(), volume[:, None] * (load + np.column_stack([-flow.sum(axis=1), flow])), volume

    def add(corner, parts, volume):
        nonlocal total, lumped
        total += np.bincount(corner, parts.ravel(), nodes)
        lumped += np.bincount(corner, np.repeat(volume / 4, 4), nodes)

    size = max(CHUNK, nodes // 4)
    first, *others = [slice(begin, begin + size) for begin in range(0, len(cells), size)]
    add(*of(first))  # by this thread, so that what runs is noted of its cell
    with ThreadPoolExecutor() as pool:
        for found in pool.map(of, others):
            add(*found)
    total -= lumped * at_nodes
    return float(np.linalg.norm(total) / np.linalg.norm(lumped) * dt)


def _recovered(phi, before, model, dt):
    """Return the root r of (r - before) / dt + (γ + μ₁ r / (μ₂ + φ)) (r + c φ (φ - b - 1)) = 0 on the stable branch."""
    weight, pull = model.mu1 / (model.mu2 + phi), model.c * phi * (phi - model.b - 1)
    linear = 1 / dt + model.gamma + weight * pull
    constant = model.gamma * pull - before / dt
    root = np.sqrt(linear**2 - 4 * weight * constant)
    # The root that 1 / dt makes, written so that nothing cancels.
    return np.where(linear >= 0, -2 * constant / (linear + root), (root - linear) / (2 * weight))
