"""The spectral radius of D⁻¹A, by a few Lanczos steps on the device."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, Csr, blocks, built
from kernels.amg.checks import UnsuitableMatrix

SOURCE = Path(__file__).with_name("spectrum.c")
GPU_LANES = 4  # threads a row; a processor's row has one
MOST_BLOCKS = {True: 2048, False: 64}  # of a GPU, of a processor: each adds up the parts of all
BUILDS = [(SOURCE, BLOCK, {"LANES": lanes}) for lanes in (GPU_LANES, 1)]
STEPS = 10


def builds(device) -> list[tuple]:
    """Return what a device builds."""
    return BUILDS[:1] if device.is_gpu else BUILDS[1:]


def spectral_radius(device, matrix: Csr, diagonal, steps: int = STEPS) -> float:
    """Return an estimate from above of the largest eigenvalue of D⁻¹A, for a symmetric A with positive diagonal D.

    The largest Ritz value θ of Lanczos on D⁻¹A, in the inner product of D, is below the eigenvalue that it tends to;
    θ + ‖r‖, with the residual of its Ritz vector, is what is returned: an interval of that radius holds an eigenvalue,
    and from six steps on it was an upper bound for every matrix tried by Zhou and Li (2011).

    Parameters
    ----------
    device : kernels.device.Device
    matrix : Csr
    diagonal : (n,) float64
    steps : int

    Raises
    ------
    UnsuitableMatrix
        When the diagonal is not positive.
    """
    lanes, n = GPU_LANES if device.is_gpu else 1, matrix.rows
    kernels, grid = built(device, SOURCE, LANES=lanes), min(blocks(n, BLOCK // lanes), MOST_BLOCKS[device.is_gpu])
    vector, previous = device.empty(n, np.float64), device.empty(n, np.float64)
    norms, alphas = device.empty(grid, np.float64), device.empty(grid, np.float64)
    scalars = device.empty(2 * steps + 2, np.float64)
    kernels.begin(grid, n, grid, diagonal, vector, previous, norms)
    rows = (matrix.offsets, matrix.columns, matrix.values, diagonal)
    for step in range(steps):
        kernels.apply(grid, n, grid, step, *rows, vector, previous, scalars, norms, alphas)
        vector, previous = previous, vector
        kernels.orthogonalise(grid, n, grid, step, diagonal, previous, vector, scalars, alphas, norms)
    kernels.finish(1, grid, 2 * steps + 1, norms, scalars)
    host = np.array(device.to_host(scalars))
    if np.isnan(host[1]):
        raise UnsuitableMatrix("the diagonal of a level is not positive: the matrix is not positive definite")
    alpha, beta = host[2::2], host[3::2]
    # Steps after an invariant subspace was found, where the norm is rounding, tell nothing.
    used = steps
    for step in range(steps):
        if not beta[step] > 1e-10 * abs(alpha[: step + 1]).max():
            used = step + 1
            break
    tridiagonal = np.diag(alpha[:used]) + np.diag(beta[: used - 1], 1) + np.diag(beta[: used - 1], -1)
    values, vectors = np.linalg.eigh(tridiagonal)
    return float(values[-1] + beta[used - 1] * abs(vectors[-1, -1]))
