"""Relaxation of the finest level by itself: the kernel that the paper merges, against its bound and against two."""

from __future__ import annotations

import numpy as np
import scipy.sparse

TOLERANCE = 1e-5  # of single precision


def measure(run, solver, max_seconds: float) -> None:
    """Time prerelaxation with its residual, in one kernel and in two, after comparing them with SciPy's.

    Nothing is timed where no level is relaxed.

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
    device, relaxation = run.device, solver.cycle.relaxations[0]
    b = run.rng.uniform(-1, 1, solver.n)
    expected = relaxed(solver.hierarchy.levels[0], b, relaxation.weights, relaxation.iterations)
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


def relaxed(level, b, weights, iterations: int):
    """Return u after Jacobi iterations from zero within patches, and b less the patches' part of A u, by SciPy.

    Parameters
    ----------
    level : kernels.amg.Level
    b : (n,) float64 array
    weights : kernels.amg.relax.Weights
    iterations : int
    """
    matrix, offsets = (part.get() if hasattr(part, "get") else part for part in (level.matrix, level.patch_offsets))
    patch = np.repeat(np.arange(level.patches), np.diff(offsets))
    entries = scipy.sparse.coo_array(matrix)
    within = patch[entries.row] == patch[entries.col]
    part = entries.data[within], (entries.row[within], entries.col[within])
    inside = scipy.sparse.csr_array(part, shape=entries.shape)
    factors, u = weights.inner / matrix.diagonal(), np.zeros(level.rows)
    for _ in range(iterations):
        u = u + factors * (b - inside @ u)
    u = weights.outer * u
    return u, b - inside @ u
