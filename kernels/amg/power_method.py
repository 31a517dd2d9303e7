"""The largest eigenvalue of B⁻¹A of a relaxation, by the power method with its own kernels alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.amg.arrays import BLOCK, blocks
from kernels.amg.patch_matrix import REAL

SOURCE = Path(__file__).with_name("power_method.c")
MOST_BLOCKS = 1024
STEPS = 12


def builds(dtype: str, result: str) -> list[tuple]:
    """Return what is built for vectors of `dtype` and a relaxation that writes `result`."""
    return [(SOURCE, BLOCK, {"real": REAL[dtype], "result_real": REAL[result]})]


BUILDS = [*builds("float32", "float32"), *builds("float32", "float64"), *builds("float64", "float64")]


def estimate(device, n: int, relax: Callable, dtype: str, result: str, steps: int, found, place: int) -> None:
    """Enqueue an estimate from below of the largest eigenvalue of B⁻¹A.

    Parameters
    ----------
    device : kernels.device.Device
    n : int
        Rows.
    relax : callable
        ``relax(rest, u, moved)`` enqueues moved = u - B⁻¹A u for a `rest` of zeros, which it may change.
    dtype, result : {'float32', 'float64'}
        Of `rest` and `u`, and of `moved`.
    steps : int
    found : (k,) float64
    place : int
        Where in `found` it is left.
    """
    [build] = builds(dtype, result)
    kernels, grid = device.build(*build), min(blocks(n), MOST_BLOCKS)
    vector, rest, moved = device.empty(n, dtype), device.empty(n, dtype), device.empty(n, result)
    parts, before = device.empty(grid, np.float64), device.empty(grid, np.float64)
    kernels.start(grid, n, grid, vector, rest, parts)
    for _ in range(steps):
        parts, before = before, parts
        relax(rest, vector, moved)
        kernels.subtract(grid, n, grid, moved, vector, rest, parts)
    kernels.growth(1, grid, parts, before, found, place)
