"""Relaxation of the finest level by itself: the merged kernel, the same as two, and the boundary's product."""

from __future__ import annotations

import numpy as np
import scipy.sparse

TOLERANCE = 1e-5  # of single precision


def measure(run, solver, max_seconds: float) -> None:
    """Time prerelaxation with its residual, in one kernel and in two, and the product with the boundary.

    All are compared with SciPy's. Nothing is timed where no level is relaxed.

    Parameters
    ----------
    run : repro.run.context.Run
    solver : kernels.amg.Solver
        With relaxation on patches.
    max_seconds : float
        Of sampling.
    """
    if not solver.cycle.relaxations:
        return
    device, relaxation, level = run.device, solver.cycle.relaxations[0], solver.hierarchy.levels[0]
    b = run.rng.uniform(-1, 1, solver.n)
    expected = relaxed(level, b, relaxation.weights, relaxation.iterations)
    given = device.array(b)
    found = [device.array(np.full(solver.n, np.nan, relaxation.matrix.dtype)) for _ in expected]

    def error():
        gaps = [np.array(device.to_host(array)) - wanted for array, wanted in zip(found, expected, strict=True)]
        return float(np.max([np.linalg.norm(gaps[0]) / np.linalg.norm(expected[0]),
                             np.linalg.norm(gaps[1]) / np.linalg.norm(b)]))  # fmt: skip

    for metric, relax in (("prerelaxation", relaxation.prerelax), ("prerelaxation_apart", relaxation.prerelax_apart)):
        run.time(
            metric, lambda relax=relax: relax(given, *found), check=error, tolerance=TOLERANCE,
            work=relaxation.prerelax_work(), cold=run.scale != "smoke", max_seconds=max_seconds,
        )  # fmt: skip
    outside = split(level)[1] @ expected[0]

    def error_of_boundary():
        device.fill(found[1], 0)
        relaxation.compensate(*found)
        return float(np.linalg.norm(np.array(device.to_host(found[1])) + outside) / np.linalg.norm(b))

    run.time(
        "boundary", lambda: relaxation.compensate(*found), check=error_of_boundary, tolerance=TOLERANCE,
        work=relaxation.compensate_work(), cold=run.scale != "smoke", max_seconds=max_seconds,
    )  # fmt: skip


def relaxed(level, b, weights, iterations: int):
    """Return u after Jacobi iterations from zero within patches, and b less the patches' part of A u, by SciPy.

    Parameters
    ----------
    level : kernels.amg.Level
    b : (n,) float64 array
    weights : kernels.amg.relax.Weights
    iterations : int
    """
    inside, _ = split(level)
    factors, u = weights.inner / inside.diagonal(), np.zeros(level.rows)
    for _ in range(iterations):
        u = u + factors * (b - inside @ u)
    u = weights.outer * u
    return u, b - inside @ u


def split(level):
    """Return the part of a level's matrix within patches, with the diagonal, and the rest, by SciPy."""
    matrix, offsets = (part.get() if hasattr(part, "get") else part for part in (level.matrix, level.patch_offsets))
    patch = np.repeat(np.arange(level.patches), np.diff(offsets))
    entries = scipy.sparse.coo_array(matrix)
    within = patch[entries.row] == patch[entries.col]
    return tuple(
        scipy.sparse.csr_array((entries.data[those], (entries.row[those], entries.col[those])), shape=entries.shape)
        for those in (within, ~within)
    )
