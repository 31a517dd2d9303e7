"""Copy, triad and read on all of the host's cores, by Numba: the ceilings that host baselines are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit, prange

from kernels.device import cpu
from kernels.stream.probes import sizes

LIBRARIES = ("numba",)


class Probe(NamedTuple):
    """A function to time, and what it moves and computes."""

    name: str
    kind: str
    size_bytes: int
    function: object
    bytes: float
    flops: float
    precision: str


@njit(parallel=True, fastmath=True, cache=True)
def _copy(x, y):
    for i in prange(x.size):
        y[i] = x[i]


@njit(parallel=True, fastmath=True, cache=True)
def _triad(x, y, z):
    for i in prange(x.size):
        z[i] = x[i] + 3.0 * y[i]


@njit(parallel=True, fastmath=True, cache=True)
def _read(x):
    total = 0.0
    for i in prange(x.size):
        total += x[i]
    return total


@njit(parallel=True, fastmath=True, cache=True)
def _chains(x, factor, shift, rounds):
    # Each lane carries its own chain; twelve vectors of eight lanes hide the latency of a multiply-add.
    for block in prange(x.size // 96):
        lane = x[96 * block : 96 * (block + 1)].copy()
        for _ in range(rounds):
            for i in range(96):
                lane[i] = lane[i] * factor + shift
        x[96 * block : 96 * (block + 1)] = lane


def _multiply_add(x, rounds):
    # Constants of the array's own type: a literal would make single precision double.
    _chains(x, x.dtype.type(0.999), x.dtype.type(0.001), rounds)


def probes() -> Iterator[Probe]:
    """Yield the host's probes: bandwidths in float64 by size, and multiply-adds in both precisions."""
    for size in sizes(cpu.memory_bytes(), cpu.cache_bytes(), is_gpu=False):
        x, y, z = (np.full(size // 8, value) for value in (1.0, 2.0, 0.0))
        label = f"{size >> 10} KiB"
        yield Probe(f"read {label}", "read", size, lambda x=x: _read(x), size, 0, "float64")
        yield Probe(f"copy {label}", "copy", size, lambda x=x, z=z: _copy(x, z), 2 * size, 0, "float64")
        yield Probe(f"triad {label}", "triad", size, lambda x=x, y=y, z=z: _triad(x, y, z), 3 * size, 0, "float64")
    rounds = 2000
    for precision in ("float64", "float32"):
        x = np.ones(96 * 256, dtype=precision)
        flops = 2.0 * rounds * x.size
        yield Probe(f"fma {precision}", "flops", 0, lambda x=x: _multiply_add(x, rounds), 0, flops, precision)
