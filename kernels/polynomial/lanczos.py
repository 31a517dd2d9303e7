"""Bounds of a symmetric matrix's spectrum by a few steps of the Lanczos method on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.linalg import eigh_tridiagonal

SOURCE = Path(__file__).with_name("lanczos.c")
BLOCK, CHUNK = 256, 4096
DEFINES = {"real": "double", "CHUNK": CHUNK}
BUILDS = [(SOURCE, BLOCK, DEFINES)]
STEPS = 20
MARGIN = 1.01  # over the safeguarded bound


@dataclass(frozen=True)
class Bounds:
    """Bounds of a spectrum from Lanczos steps.

    Attributes
    ----------
    lower, upper : float
        Safeguarded: the Ritz values at both ends, moved outwards by their residual norms; `lower` is at least 0.
    norm : float
        ‖f‖, the length of the last step's remainder: the largest Ritz value and this bound the spectrum above after
        any number of steps, if less narrowly (the paper's [26]).
    smallest_ritz, largest_ritz : float
        Within the spectrum; the smallest of few steps is far above the smallest eigenvalue.
    steps : int
        Taken; fewer than asked for when the Krylov space was exhausted.
    """

    lower: float
    upper: float
    smallest_ritz: float
    largest_ritz: float
    steps: int
    norm: float = 0.0

    @property
    def safeguarded(self) -> Bounds:
        """The same with the upper end of the paper's [26]."""
        return replace(self, upper=self.largest_ritz + self.norm)


def bounds(
    device, multiply: Callable, n: int, steps: int = STEPS, seed: int = 0, row_sum: float | None = None
) -> Bounds:
    """Return bounds of the spectrum of a symmetric positive definite matrix.

    A Ritz value θ of k steps with the eigenvector's last component y has an eigenvalue within |β_k y|; adding this to
    the largest bounds the spectrum above for a start with a part in every eigenvector (Zhou and Li, Bounding the
    spectrum of large Hermitian matrices, 2011; the paper's [26] adds the larger ‖f‖ = β_k).

    Parameters
    ----------
    device : kernels.device.Device
    multiply : callable
        ``multiply(x, y)`` enqueues y = A x for float64 device arrays.
    n : int
        Rows.
    steps, seed : int
        Lanczos steps, and which random vector they start from.
    row_sum : float, optional
        The largest sum of absolute values of a row, which no eigenvalue exceeds (Gershgorin).

    Raises
    ------
    ValueError
        When the matrix has no rows, is not positive definite as far as seen, or holds what is no number.
    """
    if n < 1:
        raise ValueError("a matrix without rows has no spectrum")
    kernels = device.build(SOURCE, block=BLOCK, defines=DEFINES)
    blocks = -(-n // CHUNK)
    before, now, product = (device.zeros(n, "float64") for _ in range(3))
    parts = device.zeros(blocks, "float64")

    def total() -> float:
        return float(device.to_host(parts).sum())

    kernels.fill_random(blocks, n, seed, now)
    kernels.subtract_and_dot(blocks, n, 0.0, now, now, now, parts)
    kernels.scale(blocks, n, 1 / math.sqrt(total()), now, now)
    diagonal, beside = [], [0.0]
    for _ in range(min(steps, n)):
        multiply(now, product)
        kernels.subtract_and_dot(blocks, n, beside[-1], before, now, product, parts)
        diagonal.append(total())
        kernels.subtract_and_dot(blocks, n, diagonal[-1], now, product, product, parts)
        beside.append(math.sqrt(total()))
        if not math.isfinite(beside[-1]):
            raise ValueError("the matrix holds what is no number")
        if beside[-1] <= 1e-12 * max(map(abs, diagonal)):
            break
        kernels.scale(blocks, n, 1 / beside[-1], product, before)
        before, now = now, before
    values, vectors = eigh_tridiagonal(np.array(diagonal), np.array(beside[1:-1]))
    gaps = np.abs(beside[-1] * vectors[-1])
    if not values[0] > 0:
        raise ValueError(f"the matrix is not positive definite: a Ritz value is {values[0]:.3g}")
    upper = MARGIN * float(np.max(values + gaps))
    if row_sum is not None:
        upper = min(upper, float(row_sum))
    lower = max(0.0, float(np.min(values - gaps)) / MARGIN)
    return Bounds(lower, max(upper, float(values[-1])), float(values[0]), float(values[-1]), len(diagonal),
                  beside[-1])  # fmt: skip
