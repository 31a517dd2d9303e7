"""The spectral radius of D⁻¹A, by a few Lanczos steps on the device."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kernels.amg.primitives import Csr, blocks

SOURCE = Path(__file__).with_name("spectrum.c")
BLOCK = 256
BUILDS = [(SOURCE, BLOCK, {})]
STEPS = 10


def spectral_radius(device, matrix: Csr, diagonal, steps: int = STEPS) -> float:
    """Return an estimate from above of the largest eigenvalue of D⁻¹A, for a symmetric A with positive diagonal D.

    The largest Ritz value θ of Lanczos on D^-1/2 A D^-1/2 is below the eigenvalue that it tends to; θ + ‖r‖, with the
    residual of its Ritz vector, is what is returned: an interval of that radius holds an eigenvalue, and from six steps
    on it was an upper bound for every matrix tried by Zhou and Li (2011).

    Parameters
    ----------
    device : kernels.device.Device
    matrix : Csr
    diagonal : (n,) float64
    steps : int
    """
    kernels, n = device.build(SOURCE, block=BLOCK), matrix.rows
    grid = blocks(n)
    scale, vector, previous, result = (device.empty(n, np.float64) for _ in range(4))
    parts, scalars = device.empty(grid, np.float64), device.zeros(2 * steps + 2, np.float64)
    kernels.begin(grid, n, diagonal, scale, vector, previous, parts)
    kernels.finish(1, grid, 1, 1, parts, scalars)
    for step in range(steps):
        kernels.apply(
            grid,
            n,
            step,
            matrix.offsets,
            matrix.columns,
            matrix.values,
            scale,
            vector,
            previous,
            result,
            scalars,
            parts,
        )
        kernels.finish(1, grid, 2 * step + 2, 0, parts, scalars)
        kernels.orthogonalise(grid, n, step, vector, result, scalars, parts)
        kernels.finish(1, grid, 2 * step + 3, 1, parts, scalars)
        previous, vector, result = vector, result, previous
    host = np.array(device.to_host(scalars))
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
